import { bothSides } from '../body/keypoints.ts'
import { deltaE } from '../raster/colour.ts'
import { countSet, subset } from '../raster/mask.ts'
import { open } from '../raster/morphology.ts'
import type { Mask, Point } from '../raster/plane.ts'
import { resample } from '../raster/polyline.ts'
import { dot, subtract } from '../raster/vector.ts'
import type { Evidence } from './evidence.ts'
import { tintSign } from './signs.ts'

/** Faults that no result may show, whatever its quality is otherwise. */
export type Fault = 'a limb is missing' | 'skin has another colour than the face' | 'skin shows through the garment'

/** The gravest fault of a result, or null. Limits were chosen by eye on results with real photos; see scripts/photos/SCALE.md. */
export function findFault(evidence: Evidence): Fault | null {
  if (missingLimb(evidence) > MAX_MISSING) return 'a limb is missing'
  if (tintSign(evidence) > MAX_TINT) return 'skin has another colour than the face'
  if (skinThroughGarment(evidence) > MAX_SKIN_THROUGH) return 'skin shows through the garment'
  return null
}

// Min share of a limb's length that is missing in one piece. Shorter gaps are beside a bone that the pose model placed imprecisely.
const MAX_MISSING = 0.1
// See the sign `tint`: 16 in tint and lightness between the face and all bare skin of the arms.
const MAX_TINT = 1
// Area in squared body units.
const MAX_SKIN_THROUGH = 0.03

const STEPS = 40
// Max ΔE from the background, and its ratio to the distance from the product's colours: a white sleeve also resembles a white wall.
const LIKE_BACKGROUND = 6
const NEARER = 0.5
// Min ΔE from the photo of a limb: pale skin differs little from a white wall.
const VANISHED = 8
// Min ΔE from the photo, and from the product's colours.
const REPLACED = 12
const UNLIKE_PRODUCT = 16

/** Longest part of an arm or leg that was replaced by background, over the length of the limb. */
function missingLimb({ scene, body, changed, skin, toProduct, toBackground }: Evidence): number {
  const { keypoints, before, after } = scene
  const { shoulder, elbow, wrist, hip, knee, ankle } = keypoints.joints
  const isMissing = (i: number) =>
    body.data[i] === 1 &&
    changed.data[i] === 1 &&
    !skin.data[i] &&
    toBackground(i) < Math.min(LIKE_BACKGROUND, NEARER * toProduct(i)) &&
    deltaE(after, i, before) > VANISHED
  const limbs = bothSides((side) => [
    [shoulder[side], elbow[side], wrist[side]],
    [hip[side], knee[side], ankle[side]],
  ]).flat()
  return Math.max(...limbs.map((limb) => longestRun(resample(limb, STEPS), body, isMissing)))
}

function longestRun(points: readonly Point[], { width, height }: Mask, isMissing: (i: number) => boolean): number {
  let longest = 0
  let run = 0
  for (const { x, y } of points) {
    const [column, row] = [Math.round(x), Math.round(y)]
    const isInside = column >= 0 && row >= 0 && column < width && row < height
    run = isInside && isMissing(row * width + column) ? run + 1 : 0
    longest = Math.max(longest, run)
  }
  return longest / points.length
}

// Body coordinates of the trunk below the neckline, and half its width in body units.
const TRUNK = { from: 0.3, to: 1, half: 0.4 } as const
// Min half width of an opening in body units.
const OPENING = 0.03

/** Area in squared body units of new skin on the trunk with the garment above and below: an arm where none is, or a hole. */
function skinThroughGarment({ scene, changed, garment, skin, toProduct }: Evidence): number {
  const { keypoints, before, after } = scene
  const { shoulders, down, right, trunk, unit } = keypoints
  const { width, height } = garment
  const isNew = subset(skin, (i) => {
    if (!changed.data[i] || toProduct(i) < UNLIKE_PRODUCT || deltaE(after, i, before) < REPLACED) return false
    const point = subtract({ x: i % width, y: Math.floor(i / width) }, shoulders)
    const along = dot(point, down) / trunk
    return along > TRUNK.from && along < TRUNK.to && Math.abs(dot(point, right)) < TRUNK.half * unit
  })
  const first = new Int32Array(width).fill(height)
  const last = new Int32Array(width).fill(-1)
  for (let i = 0; i < garment.data.length; i++) {
    if (!garment.data[i]) continue
    const [x, y] = [i % width, Math.floor(i / width)]
    if (y < first[x]) first[x] = y
    last[x] = y
  }
  const inside = subset(isNew, (i) => {
    const [x, y] = [i % width, Math.floor(i / width)]
    return y > first[x] && y < last[x]
  })
  return countSet(open(inside, OPENING * unit)) / unit ** 2
}
