import type { Session } from '../../inference/session.ts'
import { type Colours, createPlane, type Plane, type Point, type Size } from '../raster/plane.ts'
import type { Pyramid } from '../raster/pyramid.ts'
import { reduceByFactor } from '../raster/reduce.ts'
import { warpAffinePlane } from '../raster/sample.ts'
import { clamp } from '../raster/statistics.ts'
import { between, distance } from '../raster/vector.ts'
import { agree } from './agree.ts'
import type { Box, LandmarkName, Person } from './person.ts'
import { viewRegion } from './region.ts'

/** What a pixel shows, in the order of the model. Legs include bare feet; what no other label names is an accessory. */
export const LABELS = [
  'background',
  'hair',
  'face',
  'neck',
  'arms',
  'legs',
  'top',
  'outer',
  'bottom',
  'skirt',
  'dress',
  'shoes',
  'accessory',
] as const

export type Label = (typeof LABELS)[number]

/** How likely each cell of a grid shows each label. */
export interface PersonLabels {
  /** The rectangle around the person that the grid divides evenly, in px of the bitmap; it may exceed the bitmap. */
  readonly box: Box
  /** 0 to 1, 64 × 96 cells; the sum of all labels is 1. */
  readonly shares: Readonly<Record<Label, Plane>>
}

// Labels that are mistaken for each other. Others have colours in common with them: other skin with light clothes, hair with dark ones.
const AGREEING: readonly Label[] = ['legs', 'top', 'outer', 'bottom', 'skirt', 'dress', 'shoes', 'accessory']

const CROP = { width: 256, height: 384 }
const GRID = { width: 64, height: 96 }

/** Labels the person and what the person wears. `scripts/train-parser` made the model; its `guides.py` draws the same maps. */
export async function parsePerson(pyramid: Pyramid, person: Person, session: Session): Promise<PersonLabels> {
  const box = boxAround(person, pyramid.size)
  const maps = drawGuides(person, { box, size: pyramid.size })
  const guides = new Float32Array(maps.length * GRID.width * GRID.height)
  for (const [k, { data }] of maps.entries()) guides.set(data, k * data.length)
  const image = drawCrop(pyramid, box)
  const { labels } = await session.run({
    image: { shape: [1, 3, CROP.height, CROP.width], data: image },
    guides: { shape: [1, maps.length, GRID.height, GRID.width], data: guides },
  })
  const shares = sharesOf(labels.data)
  const agreed = agree(
    AGREEING.map((label) => shares[label]),
    coloursOf(image),
  )
  return { box, shares: { ...shares, ...Object.fromEntries(AGREEING.map((label, k) => [label, agreed[k]])) } }
}

// Around the person's mask and visible landmarks, with a margin.
const MARGIN = 0.06
const VISIBLE = 0.5

function boxAround({ box, landmarks }: Person, size: Size): Box {
  const seen = Object.values(landmarks).filter(({ visibility }) => visibility > VISIBLE)
  const span = (from: number, length: number, points: readonly number[], limit: number) => {
    const inside = points.map((value) => clamp(value, 0, limit - 1))
    return [Math.min(from, ...inside), Math.max(from + length - 1, ...inside)]
  }
  const [left, right] = span(
    box.x,
    box.width,
    seen.map(({ x }) => x),
    size.width,
  )
  const [top, bottom] = span(
    box.y,
    box.height,
    seen.map(({ y }) => y),
    size.height,
  )
  const margin = MARGIN * Math.max(right - left, bottom - top)
  const [width, height] = [right - left + 2 * margin, bottom - top + 2 * margin]
  const wide = Math.max(width, (height * CROP.width) / CROP.height)
  const high = Math.max(height, (width * CROP.height) / CROP.width)
  return { x: (left + right - wide) / 2, y: (top + bottom - high) / 2, width: wide, height: high }
}

// Grey beyond the photo, as in training.
const BEYOND = 127 / 255

function drawCrop(pyramid: Pyramid, box: Box): Float32Array {
  const side = CROP.height
  const centre = { x: box.x + box.width / 2, y: box.y + box.height / 2 }
  const view = viewRegion(
    pyramid,
    { centre, side: box.height, angle: 0 },
    { size: side, border: 'replicate', range: [0, 1] },
  )
  const plane = CROP.width * CROP.height
  const image = new Float32Array(3 * plane)
  const scale = box.height / side
  const { width, height } = pyramid.size
  for (let row = 0, to = 0; row < CROP.height; row++) {
    const y = box.y + (row + 0.5) * scale
    for (let column = 0; column < CROP.width; column++, to++) {
      const x = box.x + (column + 0.5) * scale
      const inside = x >= -0.5 && y >= -0.5 && x <= width - 0.5 && y <= height - 0.5
      const from = 3 * (row * side + column + (side - CROP.width) / 2)
      for (let c = 0; c < 3; c++) image[c * plane + to] = inside ? view[from + c] : BEYOND
    }
  }
  return image
}

const SIDES = ['left', 'right'] as const
const SHOULDERS = ['leftShoulder', 'rightShoulder'] as const
const HIPS = ['leftHip', 'rightHip'] as const

// Each map of a point is drawn at the mean of these landmarks.
const POINTS: readonly (readonly LandmarkName[])[] = [
  ['nose'],
  ['leftEye', 'rightEye'],
  ['leftEar'],
  ['rightEar'],
  ['mouthLeft', 'mouthRight'],
  ...(['Shoulder', 'Elbow', 'Wrist', 'Hip', 'Knee', 'Ankle', 'FootIndex'] as const).flatMap((name) =>
    SIDES.map((side) => [`${side}${name}`] as const),
  ),
]

const ARM = ['Shoulder', 'Elbow', 'Wrist'] as const
const LEG = ['Hip', 'Knee', 'Ankle'] as const
const LIMBS: readonly (readonly [LandmarkName, LandmarkName])[] = [
  ...[ARM, LEG].flatMap(([first, second, third]) =>
    SIDES.flatMap((side) => [
      [`${side}${first}`, `${side}${second}`] as const,
      [`${side}${second}`, `${side}${third}`] as const,
    ]),
  ),
  ...(
    [
      ['Wrist', 'Index'],
      ['Ankle', 'FootIndex'],
    ] as const
  ).flatMap(([from, to]) => SIDES.map((side) => [`${side}${from}`, `${side}${to}`] as const)),
]

// Width of a point or a limb in distances from the hips to the shoulders: about 3 % of the height of the body.
const SPREAD = 0.11

/** The person's mask, the inside of the photo, points, limbs, and the height above the hips: one map of the grid each. */
function drawGuides({ mask, landmarks }: Person, { box, size }: { box: Box; size: Size }): Plane[] {
  const cell = box.width / GRID.width
  const toBitmap = [cell, 0, box.x + 0.5 * cell - 0.5, 0, cell, box.y + 0.5 * cell - 0.5] as const
  const place = (name: LandmarkName): Spot => {
    const { x, y, visibility } = landmarks[name]
    return { x: (x + 0.5 - box.x) / cell - 0.5, y: (y + 0.5 - box.y) / cell - 0.5, seen: visibility }
  }
  const middle = ([first, second = first]: readonly LandmarkName[]): Spot => {
    const [a, b] = [place(first), place(second)]
    return { ...between(a, b, 0.5), seen: (a.seen + b.seen) / 2 }
  }
  const [shoulders, hips] = [middle(SHOULDERS), middle(HIPS)]
  const sharpness = 1 / (2 * (SPREAD * distance(shoulders, hips)) ** 2)
  return [
    warpAffinePlane(mask, toBitmap, GRID),
    drawInside({ left: toBitmap[2], top: toBitmap[5], cell }, size),
    ...POINTS.map((names) => drawPoint(middle(names), sharpness)),
    ...LIMBS.map(([from, to]) => drawLimb(place(from), place(to), sharpness)),
    drawHeight(hips, shoulders),
  ]
}

/** A landmark in cells of the grid, and its visibility. */
interface Spot extends Point {
  readonly seen: number
}

function drawInside({ left, top, cell }: { left: number; top: number; cell: number }, { width, height }: Size): Plane {
  const within = (at: number, length: number) => at >= -0.5 && at <= length - 0.5
  return drawCells((x, y) => (within(left + x * cell, width) && within(top + y * cell, height) ? 1 : 0))
}

function drawPoint({ x, y, seen }: Spot, sharpness: number): Plane {
  const bell = (length: number, centre: number) =>
    Float32Array.from({ length }, (_, i) => Math.exp(-sharpness * (i - centre) ** 2))
  const [across, down] = [bell(GRID.width, x), bell(GRID.height, y)]
  return drawCells((column, row) => seen * across[column] * down[row])
}

function drawLimb(start: Spot, end: Spot, sharpness: number): Plane {
  const share = shareOfWay(start, end)
  return drawCells((x, y) => {
    const way = clamp(share(x, y), 0, 1)
    const dx = x - start.x - way * (end.x - start.x)
    const dy = y - start.y - way * (end.y - start.y)
    return (start.seen * (1 - way) + end.seen * way) * Math.exp(-sharpness * (dx * dx + dy * dy))
  })
}

// In distances from the hips to the shoulders, limited and scaled to −1 to 1.
function drawHeight(hips: Spot, shoulders: Spot): Plane {
  const share = shareOfWay(hips, shoulders)
  return drawCells((x, y) => clamp(share(x, y), -2.5, 2.5) / 2.5)
}

// 0 at the start, 1 at the end, of the projection of a cell on the line between them.
function shareOfWay(start: Point, end: Point): (x: number, y: number) => number {
  const [x, y] = [end.x - start.x, end.y - start.y]
  const length = Math.max(1e-6, x * x + y * y)
  return (column, row) => ((column - start.x) * x + (row - start.y) * y) / length
}

function drawCells(valueAt: (column: number, row: number) => number): Plane {
  const plane = createPlane(GRID)
  for (let row = 0, i = 0; row < GRID.height; row++)
    for (let column = 0; column < GRID.width; column++, i++) plane.data[i] = valueAt(column, row)
  return plane
}

function coloursOf(image: Float32Array): Colours {
  const data = new Float32Array(3 * GRID.width * GRID.height)
  for (let c = 0; c < 3; c++) {
    const channel = { ...CROP, data: image.subarray((c * image.length) / 3, ((c + 1) * image.length) / 3) }
    for (const [i, value] of reduceByFactor(channel, CROP.width / GRID.width).data.entries()) data[3 * i + c] = value
  }
  return { ...GRID, channels: 3, data }
}

function sharesOf(logits: Float32Array): Record<Label, Plane> {
  const count = GRID.width * GRID.height
  const shares = new Float32Array(logits.length)
  for (let i = 0; i < count; i++) {
    let highest = Number.NEGATIVE_INFINITY
    for (let at = i; at < logits.length; at += count) highest = Math.max(highest, logits[at])
    let sum = 0
    for (let at = i; at < logits.length; at += count) sum += shares[at] = Math.exp(logits[at] - highest)
    for (let at = i; at < logits.length; at += count) shares[at] /= sum
  }
  const planes = LABELS.map((label, k) => [label, { ...GRID, data: shares.subarray(k * count, (k + 1) * count) }])
  return Object.fromEntries(planes)
}
