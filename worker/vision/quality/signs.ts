import { bothSides } from '../body/keypoints.ts'
import { deltaE } from '../raster/colour.ts'
import { fillHoles } from '../raster/components.ts'
import { gaussianBlur } from '../raster/filter.ts'
import { countSet, intersect, subset, union, without } from '../raster/mask.ts'
import { close, erode, open } from '../raster/morphology.ts'
import { channelOf, type Mask, type Plane, type Point, type Size } from '../raster/plane.ts'
import { between, distance, dot, norm, subtract } from '../raster/vector.ts'
import { boundarySigns } from './boundary.ts'
import type { Evidence } from './evidence.ts'
import { meanOf } from './mean.ts'
import { detailOf, findPrint } from './product.ts'

/** Signs of damage, each at least 0; 0 means none. */
export const SIGNS = [
  'unexplained',
  'holes',
  'leftover',
  'stubs',
  'blur',
  'cast',
  'tint',
  'ridge',
  'step',
  'ragged',
  'length',
  'unequal',
  'onArms',
  'print',
  'flat',
] as const
export type Signs = Readonly<Record<(typeof SIGNS)[number], number>>

export function findSigns(evidence: Evidence): Signs {
  return {
    unexplained: unexplainedSign(evidence),
    holes: holesSign(evidence),
    leftover: leftoverSign(evidence),
    ragged: raggedSign(evidence),
    ...limbSigns(evidence),
    cast: castSign(evidence),
    tint: tintSign(evidence),
    ...boundarySigns(evidence),
    blur: blurSign(evidence),
    length: lengthSign(evidence),
    print: printSign(evidence),
    flat: flatSign(evidence),
  }
}

// Changed pixels that are neither garment, nor skin, nor background.
function unexplainedSign({ scene, changed, garment, skin, background, toProduct }: Evidence): number {
  const unexplained = subset(
    without(erode(changed, 2), garment, skin, background),
    (i) => deltaE(scene.after, i, scene.before) > 5 && toProduct(i) > 14,
  )
  return countSet(unexplained) / Math.max(1, countSet(changed))
}

function holesSign({ scene: { keypoints }, changed, garment, skin, background, arms }: Evidence): number {
  const closed = close(garment, 0.04 * keypoints.unit)
  const filled = fillHoles(closed)
  // Stripes in the background's colour are not holes.
  const deep = erode(filled, 0.06 * keypoints.unit)
  const through = open(intersect(deep, background), 0.035 * keypoints.unit)
  const inFront = intersect(skin, union(...arms))
  const holes = union(without(filled, closed), intersect(filled, through))
  return countSet(without(intersect(holes, changed), inFront)) / keypoints.unit ** 2
}

function leftoverSign({ scene: { keypoints }, old, head, body }: Evidence): number {
  return countSet(without(intersect(old, body), head)) / keypoints.unit ** 2
}

// Length of the outline of connected regions over the square root of their area; 3.5 for a circle.
function raggedSign({ scene: { keypoints }, garment }: Evidence): number {
  const smooth = close(garment, 0.02 * keypoints.unit)
  const area = countSet(smooth)
  if (area === 0) return 4
  const outline = area - countSet(erode(smooth, 1))
  return outline / Math.sqrt(area) / 10
}

const STEPS = 14

function limbSigns({ scene: { keypoints }, garment, skin, background, old, changed }: Evidence) {
  const { shoulder, elbow, wrist, hip, knee, ankle } = keypoints.joints
  const nowhere = without(background, skin, garment)
  const strange = without(changed, garment, skin, background)
  const [left, right] = bothSides((side) => {
    const arm = alongLimb(changed, [shoulder[side], elbow[side], wrist[side]])
    const leg = alongLimb(changed, [hip[side], knee[side], ankle[side]])
    return {
      isWhole: arm.length === STEPS,
      garment: shareOf(garment, arm),
      background: shareOf(nowhere, arm) + shareOf(nowhere, leg),
      other: shareOf(strange, arm) + shareOf(old, arm),
    }
  })
  return {
    stubs: left.background + right.background,
    unequal: left.isWhole && right.isWhole ? Math.abs(left.garment - right.garment) : 0,
    onArms: left.other + right.other,
  }
}

/** Pixels on a limb's bones, as far as they are in the image. */
function alongLimb(size: Size, [root, joint, end]: readonly [Point, Point, Point]): number[] {
  const upper = distance(root, joint)
  const lower = distance(joint, end)
  return Array.from({ length: STEPS }, (_, k) => {
    const way = ((k + 1) / (STEPS + 1)) * (upper + lower)
    return way < upper ? between(root, joint, way / upper) : between(joint, end, (way - upper) / Math.max(1, lower))
  }).flatMap((point) => indexOf(size, point) ?? [])
}

function shareOf({ data }: Mask, pixels: readonly number[]): number {
  return pixels.filter((i) => data[i] === 1).length / Math.max(1, pixels.length)
}

function indexOf({ width, height }: Size, { x, y }: Point): number | null {
  const [column, row] = [Math.round(x), Math.round(y)]
  return column >= 0 && row >= 0 && column < width && row < height ? row * width + column : null
}

// Difference between the garment's mean colour and its product's.
function castSign({ scene, product, changed, body, garment, skin, background, arms }: Evidence): number {
  const core = without(intersect(erode(changed, 0.07 * scene.keypoints.unit), body), skin, background, ...arms)
  const mean = meanOf(scene.after, countSet(core) > 30 ? core : garment)
  return mean ? differ(mean, product.mean) / 10 : 1
}

/** Difference between the colour of changed arms and that of the face. Skin in a wrong colour is still nearer to skin than most cloth. */
export function tintSign({ scene, changed, body, background, arms, skinColour, toProduct }: Evidence): number {
  if (skinColour === null) return 0
  const { keypoints, after } = scene
  const isFleshy = (i: number) =>
    norm(after.data[3 * i + 1] - skinColour[1], after.data[3 * i + 2] - skinColour[2]) < 25 &&
    Math.abs(after.data[3 * i] - skinColour[0]) < 35
  const onArms = without(intersect(changed, body, union(...arms)), background)
  const bare = subset(onArms, (i) => toProduct(i) > 16 && isFleshy(i))
  const tint = meanOf(after, bare)
  const share = Math.min(1, countSet(bare) / (0.1 * keypoints.unit ** 2))
  return tint ? (share * Math.max(0, differ(tint, skinColour) - 6)) / 10 : 0
}

function differ(a: readonly number[], b: readonly number[]): number {
  return norm(a[1] - b[1], a[2] - b[2]) + 0.3 * Math.abs(a[0] - b[0])
}

// The share of differences between neighbours that remains after another blur (Crété et al. 2007), minus that of the photo.
function blurSign({ scene, garment, body }: Evidence): number {
  const inside = erode(garment, 2)
  const left = (mask: Mask, lightness: Plane) => {
    const blurred = gaussianBlur(lightness, 1.2)
    let [all, rest] = [0, 0]
    for (let i = 1; i < mask.data.length; i++) {
      if (!mask.data[i] || !mask.data[i - 1] || i < mask.width) continue
      for (const j of [i - 1, i - mask.width]) {
        all += Math.abs(lightness.data[i] - lightness.data[j])
        rest += Math.min(Math.abs(lightness.data[i] - lightness.data[j]), Math.abs(blurred.data[i] - blurred.data[j]))
      }
    }
    return all > 0 ? rest / all : 1
  }
  const before = left(erode(body, 2), channelOf(scene.before, 0))
  return Math.max(0, left(inside, channelOf(scene.after, 0)) - before + 0.1)
}

// Difference between the aspect of the garment in the result and that of its product.
function lengthSign({ scene: { keypoints }, garment, product }: Evidence): number {
  const { shoulders, down, right } = keypoints
  const [along, across]: [number[], number[]] = [[], []]
  for (let i = 0; i < garment.data.length; i++) {
    if (!garment.data[i]) continue
    const point = subtract({ x: i % garment.width, y: Math.floor(i / garment.width) }, shoulders)
    along.push(dot(point, down))
    across.push(dot(point, right))
  }
  if (along.length < 30) return 2
  const extent = (values: number[]) => {
    const sorted = Float64Array.from(values).sort()
    return sorted[Math.floor(0.99 * (sorted.length - 1))] - sorted[Math.floor(0.01 * (sorted.length - 1))]
  }
  return Math.abs(Math.log(extent(along) / Math.max(1, extent(across)) / product.ratio))
}

// Horizontal shift of a print's centre of gravity, in half widths of the garment.
function printSign({ scene: { keypoints, after }, garment, arms, product }: Evidence): number {
  if (product.print === null) return 0
  const { shoulders, down, right, trunk, unit } = keypoints
  const torso = subset(without(garment, ...arms), (i) => {
    const point = subtract({ x: i % garment.width, y: Math.floor(i / garment.width) }, shoulders)
    const along = dot(point, down) / trunk
    return along > 0.1 && along < 1 && Math.abs(dot(point, right)) < 0.5 * unit
  })
  const found = findPrint(after, torso, product.palette)
  return found === null ? 0 : Math.abs(found - product.print)
}

// Loss of pattern and print compared with the product photo; folds only add to it.
function flatSign({ scene: { keypoints, after }, garment, body, arms, product }: Evidence): number {
  const torso = without(intersect(erode(close(garment, 0.05 * keypoints.unit), 2), body), ...arms)
  return Math.max(0, Math.log((product.detail + 1) / (detailOf(after, torso) + 1)))
}
