import type { ArmProfile } from '../../body/arm-profile.ts'
import { type BodyFrame, halfWidthAt } from '../../body/body-frame.ts'
import { axisAt, type Sides } from '../../body/keypoints.ts'
import { connectedComponents, fillHoles, keepComponents } from '../../raster/components.ts'
import { fillSmoothly } from '../../raster/fill.ts'
import { gaussianBlurColours } from '../../raster/filter.ts'
import { countSet, union, withLabel, without } from '../../raster/mask.ts'
import { dilate } from '../../raster/morphology.ts'
import { type Colours, createMask, type Mask, maskToPlane, type Point } from '../../raster/plane.ts'
import { dot, move, subtract } from '../../raster/vector.ts'
import { type Choice, COVERED, GARMENT, HIDDEN, HIDING, INSIDE, rejected } from './worn-choice.ts'
import { assertUsableSleeves, cutLegs, cutSleeves } from './worn-limbs.ts'

/** A photo of a person who wears a garment. */
export interface WearerPhoto {
  /** sRGB in 0 to 255. */
  readonly colours: Colours
  /** GARMENT, HIDING, INSIDE or 0. */
  readonly seen: Mask
  readonly body: BodyFrame
  readonly arms: Sides<ArmProfile>
}

/** A garment, and the colours of its pixels. */
interface Painted {
  readonly colours: Colours
  readonly garment: Mask
}

// Smaller pieces, over the largest one, are noise of the parser.
const MIN_PIECE = 0.1
/** Max F of the visible upper edge of a lower garment. */
const MAX_WAIST = 1.15

/**
 * The whole garment: what is hidden takes the mirrored pixels of the other half or the cloth below it, and slits part sleeves from the
 * trunk and legs from each other.
 * @throws DrapeError RESULT_REJECTED if too much is hidden
 */
export function completeGarment(photo: WearerPhoto, { category, labels }: Choice): Painted {
  const { body, seen } = photo
  const own = keepComponents(
    withLabel(seen, seen.data, GARMENT),
    ({ area }, all) => area > MIN_PIECE * Math.max(...all.map((each) => each.area)),
  )
  if (category === 'bottoms') {
    if (upperEdge(own, body) > MAX_WAIST) throw rejected(COVERED)
    const { colours, garment } = complete(photo, own, { isCovered: lowerRegion(body), ...LIMITS.lower })
    return { colours, garment: labels.includes('bottom') ? cutLegs(garment, body) : garment }
  }
  assertUsableSleeves(photo, seen)
  const whole = addLining(complete(photo, own, { isCovered: upperRegion(own, body), ...LIMITS.upper }), seen)
  return { ...whole, garment: cutSleeves(whole.garment, seen, photo) }
}

// Max shares of the garment that are hidden, and hidden on both sides below the chest, where there is no cloth below arms and bags.
const LIMITS = {
  upper: { hidden: 0.22, lost: 0.03 },
  lower: { hidden: 0.44, lost: 0.44 },
} as const
/** F of the chest. */
const CHEST = 0.45
/** Whether a garment covers a point in body coordinates: x in px from the axis, y as F. */
type Region = (at: Point) => boolean

function complete(
  { colours, seen, body }: WearerPhoto,
  own: Mask,
  limits: { isCovered: Region; hidden: number; lost: number },
): Painted {
  const holes = fillHoles(own)
  const mirrored = createMask(own)
  const unknown = createMask(own)
  const { place, mirror } = coordinatesOf(body, seen)
  let hidden = 0
  let lost = 0
  for (let i = 0; i < own.data.length; i++) {
    if (own.data[i] || seen.data[i] === INSIDE || (!holes.data[i] && seen.data[i] !== HIDING)) continue
    const at = place(i)
    const from = mirror(i)
    const isMirrored = from >= 0 && own.data[from] === 1
    // Where the other side shows something else, the garment ends.
    const isGarment = limits.isCovered(at) && (from < 0 || isMirrored || seen.data[from] === HIDING)
    if (!isGarment && !holes.data[i]) continue
    if (isMirrored) mirrored.data[i] = 1
    else unknown.data[i] = 1
    if (!holes.data[i]) hidden++
    if (!holes.data[i] && !isMirrored && at.y > CHEST) lost++
  }
  const garment = union(own, mirrored, unknown)
  const whole = countSet(garment)
  if (hidden > limits.hidden * whole || lost > limits.lost * whole) throw rejected(HIDDEN)
  const half = paintMirrored(colours, { own, mirrored, mirror })
  return { colours: paintUnknown(half, { known: union(own, mirrored), unknown, unit: body.unit }), garment }
}

function coordinatesOf({ shoulders, down, right, trunk }: BodyFrame, { width, height }: Mask) {
  const positionOf = (i: number) => ({ x: i % width, y: Math.floor(i / width) })
  return {
    place: (i: number): Point => {
      const offset = subtract(positionOf(i), shoulders)
      return { x: dot(offset, right), y: dot(offset, down) / trunk }
    },
    /** The pixel on the other side of the axis; −1 outside of the photo. */
    mirror: (i: number): number => {
      const at = positionOf(i)
      const { x, y } = move(at, right, -2 * dot(subtract(at, shoulders), right))
      const [column, row] = [Math.round(x), Math.round(y)]
      return column < 0 || row < 0 || column >= width || row >= height ? -1 : row * width + column
    },
  }
}

// Half width of a neckline and height of the neck corners above the shoulder tips, in body units; F of the chest, where the trunk begins.
const NECK = { half: 0.24, above: 0.13, trunk: 0.15 } as const

/** Below the neckline, an ellipse, and the line from the neck corner to the shoulder tip; above the hem; within the trunk. */
function upperRegion(own: Mask, body: BodyFrame): Region {
  const { shoulders, down, right, trunk, unit, shoulderTip } = body
  const tips = shoulderTip.map((tip) => {
    const offset = subtract(tip, shoulders)
    return { x: Math.abs(dot(offset, right)), y: dot(offset, down) }
  })
  const hem = lowerEdge(own, body)
  const bottom = upperEdge(own, body) * trunk
  const half = NECK.half * unit
  return ({ x, y: F }) => {
    const side = x < 0 ? 0 : 1
    const far = Math.abs(x)
    if (F > NECK.trunk) return F < hem && far < halfWidthAt(body, F, side)
    const tip = tips[side]
    const corner = tip.y - NECK.above * unit
    if (far < half) return F * trunk > corner + (bottom - corner) * Math.sqrt(1 - (far / half) ** 2)
    return far < tip.x && F * trunk > tip.y - (tip.y - corner) * ((tip.x - far) / Math.max(1, tip.x - half))
  }
}

// F between which hands and the hem of a top can hide trousers and skirts.
const HANDS = { from: 0.85, to: 1.5 } as const

function lowerRegion(body: BodyFrame): Region {
  return ({ x, y: F }) => F > HANDS.from && F < HANDS.to && Math.abs(x) < halfWidthAt(body, F, x < 0 ? 0 : 1)
}

/** F at which the garment begins and ends in the middle. */
function upperEdge(own: Mask, body: BodyFrame): number {
  let F = -0.3
  while (F < 1.5 && coverAt(own, body, { F, across: 0.06 }) < 0.4) F += 0.01
  return F
}

function lowerEdge(own: Mask, body: BodyFrame): number {
  let F = 3
  while (F > 0.2 && coverAt(own, body, { F, across: 0.3 }) < 0.3) F -= 0.01
  return F
}

// Share of samples across the axis, up to `across` body units to each side, that the mask covers.
function coverAt({ width, height, data }: Mask, body: BodyFrame, { F, across }: { F: number; across: number }): number {
  const samples = 13
  let covered = 0
  for (let k = 0; k < samples; k++) {
    const { x, y } = move(axisAt(body, F), body.right, across * body.unit * ((2 * k) / (samples - 1) - 1))
    const [column, row] = [Math.round(x), Math.round(y)]
    if (column >= 0 && row >= 0 && column < width && row < height) covered += data[row * width + column]
  }
  return covered / samples
}

/** Paints mirrored pixels in the light of their own side. */
function paintMirrored(
  colours: Colours,
  { own, mirrored, mirror }: { own: Mask; mirrored: Mask; mirror: (i: number) => number },
): Colours {
  if (!mirrored.data.includes(1)) return colours
  const data = colours.data.slice()
  const difference = { ...colours, data: new Float32Array(data.length) }
  const both = createMask(own)
  for (let i = 0; i < own.data.length; i++) {
    const from = own.data[i] ? mirror(i) : -1
    if (from < 0 || !own.data[from]) continue
    both.data[i] = 1
    for (let c = 0; c < 3; c++) difference.data[3 * i + c] = data[3 * i + c] - data[3 * from + c]
  }
  const light = fillSmoothly(difference, maskToPlane(both)).data
  for (let i = 0; i < own.data.length; i++) {
    if (!mirrored.data[i]) continue
    const from = 3 * mirror(i)
    for (let c = 0; c < 3; c++) data[3 * i + c] = colours.data[from + c] + light[3 * i + c]
  }
  return { ...colours, data }
}

// Size in body units of the details that are copied as texture, and of the edge that what hides the garment shades.
const TEXTURE = 0.06

/** Paints pixels that are hidden on both sides: the colours around them, with the texture of the cloth below them, upside down. */
function paintUnknown(
  colours: Colours,
  { known, unknown, unit }: { known: Mask; unknown: Mask; unit: number },
): Colours {
  if (!unknown.data.includes(1)) return colours
  const data = colours.data.slice()
  const clean = without(known, dilate(unknown, TEXTURE * unit))
  const filled = fillSmoothly(colours, maskToPlane(clean)).data
  const smooth = gaussianBlurColours({ ...colours, data: filled }, TEXTURE * unit).data
  const { labels, components } = connectedComponents(unknown)
  for (let i = 0; i < unknown.data.length; i++) {
    if (!unknown.data[i]) continue
    const { bottom } = components[labels[i] - 1]
    const from = i + unknown.width * (2 * (bottom - Math.floor(i / unknown.width)) - 1)
    const hasTexture = clean.data[from] === 1
    for (let c = 0; c < 3; c++)
      data[3 * i + c] = filled[3 * i + c] + (hasTexture ? filled[3 * from + c] - smooth[3 * from + c] : 0)
  }
  return { ...colours, data }
}

// Brightness of the inside of the back over that of the front.
const SHADOW = 0.45

/** Shows the inside of the back where another garment, and what hangs on it, is visible in the opening. */
function addLining({ colours, garment }: Painted, seen: Mask): Painted {
  if (!seen.data.includes(INSIDE)) return { colours, garment }
  const { width, height } = garment
  const opening = createMask(garment)
  for (let y = 0; y < height; y++) {
    const row = garment.data.subarray(y * width, (y + 1) * width)
    const last = y * width + row.lastIndexOf(1)
    for (let i = y * width + Math.max(0, row.indexOf(1)); i < last; i++)
      if (seen.data[i] === INSIDE) opening.data[i] = 1
  }
  const lined = fillHoles(union(garment, opening))
  const data = colours.data.slice()
  const cloth = fillSmoothly(colours, maskToPlane(garment)).data
  for (let i = 0; i < lined.data.length; i++)
    if (lined.data[i] && !garment.data[i]) for (let c = 0; c < 3; c++) data[3 * i + c] = SHADOW * cloth[3 * i + c]
  return { colours: { ...colours, data }, garment: lined }
}
