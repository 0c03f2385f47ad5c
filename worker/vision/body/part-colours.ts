import type { Person } from '../person/person.ts'
import {
  type ColourModel,
  countOf,
  createCosts,
  filterSamples,
  learnColours,
  type Samples,
  samplesOf,
} from '../raster/colour-model.ts'
import { union, without } from '../raster/mask.ts'
import type { Colours, Mask, Plane, Point, Size } from '../raster/plane.ts'
import { fillCapsules, fillPolygon } from '../raster/polygon.ts'
import { between, distance, move, norm, perpendicular, scale, subtract, unit } from '../raster/vector.ts'
import type { BodyFrame } from './body-frame.ts'
import { axisAt, bothSides } from './keypoints.ts'
import { WAIST_EXPECTED, WAISTLINE } from './tuning.ts'

export interface PartColours {
  readonly skin: ColourModel
  readonly top: ColourModel
  readonly lower: ColourModel
  readonly hair: ColourModel
  readonly hasFace: boolean
  /** True if hair and top have almost the same colour. */
  readonly hairLikeTop: boolean
  /** The middle of the torso without the forearms in front of it. */
  readonly chest: Mask
  /** Forearms and hands, whatever covers them. */
  readonly forearms: Mask
  /** Region where hair is expected: above the eyes. */
  readonly crown: Mask
  /** Body coordinate F at which the lower garment begins, or null if it cannot be separated from the top. */
  readonly waistline: number | null
}

/** Learns the colours of skin, top, lower garment and hair from the regions of the body where each is expected. */
export function learnPartColours(
  lab: Colours,
  { person, body, along, across }: { person: Person; body: BodyFrame; along: Plane; across: Plane },
): PartColours {
  const samples = (region: Mask): Samples => samplesOf(lab, region, person.mask)
  const face = samples(faceRegion(lab, person, body))
  const hasFace = countOf(face) > 80 && person.landmarks.nose.visibility > 0.5
  const skin = learnSkin(hasFace ? face : null, samples(bareRegion(lab, body)))
  const forearms = forearmRegion(lab, body)
  const torso = (range: readonly [number, number]) => without(torsoRegion(lab, body, range), forearms)
  const clothes = (region: Mask, count: number) =>
    learnColours(withoutColours(samples(region), { colours: skin, likeness: 14, minShare: 0.35 }), count)
  const thighs = torso([1.1, 1.45])
  const belowHems = torso(WAISTLINE.thighs)
  const waistline = findWaistline(
    { lab, along, across },
    {
      mask: person.mask,
      hidden: forearms,
      skin,
      top: clothes(torso([0.16, WAISTLINE.from]), 4),
      lower: clothes(belowHems, 3),
    },
  )
  const chest = torso([0.16, Math.min(waistline ?? WAIST_EXPECTED, WAIST_EXPECTED)])
  const crown = crownRegion(lab, person, body)
  const top = clothes(chest, 4)
  const hair = learnColours(withoutColours(samples(crown), { colours: skin, likeness: 12, minShare: 0 }), 2)
  return {
    skin,
    top,
    // A top can hang over the thighs.
    lower: learnColours(withoutColours(samples(thighs), { colours: top, likeness: 11, minShare: 0.3 }), 3),
    hair,
    hairLikeTop: areAlike(hair, top),
    hasFace,
    chest,
    forearms,
    crown,
    waistline,
  }
}

const ALIKE = 14
// Hair beside the neck is in its own shade: lightness is less reliable than hue.
const LIGHTNESS = 0.5

// True if the main colour of each model is also a colour of the other model.
function areAlike(a: ColourModel, b: ColourModel): boolean {
  const apart = (p: ColourModel[0], q: ColourModel[0]) =>
    norm(LIGHTNESS * (p.mean[0] - q.mean[0]), p.mean[1] - q.mean[1], p.mean[2] - q.mean[2])
  const isIn = (model: ColourModel, other: ColourModel) => {
    const main = model.toSorted((p, q) => q.share - p.share)[0]
    return main !== undefined && other.some((cluster) => apart(main, cluster) < ALIKE)
  }
  return isIn(a, b) && isIn(b, a)
}

/** Width of the eye region in px, the unit of the head: eye distance or half the ear distance. */
function eyeWidth({ landmarks }: Person, body: BodyFrame): number {
  return Math.max(
    distance(landmarks.leftEye, landmarks.rightEye),
    0.12 * body.unit,
    0.5 * distance(landmarks.leftEar, landmarks.rightEar),
  )
}

// Colours of the face, and colours of hands, forearms and neck with the hue of the face at any lightness. Without a face
// only sufficiently reddish and yellowish colours count.
function learnSkin(face: Samples | null, bare: Samples): ColourModel {
  if (face === null)
    return learnColours(
      filterSamples(bare, (l, a, b) => l > 15 && a > 4 && b > 5),
      2,
    )
  const model = learnColours(nearestToMedian(face, 0.75), 2)
  if (model.length === 0) return model
  const [l0, a0, b0] = [0, 1, 2].map((c) => model.reduce((sum, { mean }) => sum + mean[c], 0) / model.length)
  const alike = filterSamples(bare, (l, a, b) => norm(a - a0, b - b0) < 9 && Math.abs(l - l0) < 32)
  return countOf(alike) > 60 ? [...model, ...learnColours(alike, 2)] : model
}

function nearestToMedian(samples: Samples, share: number): Samples {
  const [l0, a0, b0] = medianColour(samples)
  const away = (l: number, a: number, b: number) => Math.abs(l - l0) + Math.abs(a - a0) + Math.abs(b - b0)
  const distances = Float64Array.from({ length: countOf(samples) }, (_, i) =>
    away(samples[3 * i], samples[3 * i + 1], samples[3 * i + 2]),
  ).sort()
  const limit = distances[Math.floor(share * (distances.length - 1))]
  return filterSamples(samples, (l, a, b) => away(l, a, b) <= limit)
}

/** Median of each Lab channel. */
export function medianColour(samples: Samples): [number, number, number] {
  const median = (channel: number) => {
    const values = Float64Array.from({ length: countOf(samples) }, (_, i) => samples[3 * i + channel]).sort()
    return values[values.length >> 1]
  }
  return [median(0), median(1), median(2)]
}

// Drops samples that resemble `colours`, unless fewer than the share `minShare` of the samples would remain.
function withoutColours(
  samples: Samples,
  { colours, likeness, minShare }: { colours: ColourModel; likeness: number; minShare: number },
): Samples {
  if (colours.length === 0) return samples
  const costs = createCosts([colours])
  const cost = new Float64Array(1)
  const others = filterSamples(samples, (l, a, b) => {
    costs({ l, a, b }, cost)
    return cost[0] > likeness
  })
  return countOf(others) > minShare * countOf(samples) ? others : samples
}

function faceRegion(size: Size, person: Person, body: BodyFrame): Mask {
  const width = eyeWidth(person, body)
  const { nose } = person.landmarks
  const ellipse = Array.from({ length: 48 }, (_, i) => {
    const angle = (i * Math.PI) / 24
    return { x: nose.x + 0.62 * width * Math.cos(angle), y: nose.y + 0.75 * width * Math.sin(angle) }
  })
  return fillPolygon(size, ellipse)
}

// Bones of forearms and hands, and the throat: bare for most people.
function bareRegion(size: Size, body: BodyFrame): Mask {
  const { elbow, wrist, knuckles } = body.joints
  const radius = Math.max(2, 0.05 * body.unit)
  const throat = move(body.shoulders, body.down, -0.22 * body.unit)
  const bones = bothSides((side) => [between(elbow[side], wrist[side], 0.15), wrist[side], knuckles[side]])
  const neck = fillCapsules(size, [throat, throat], [0.07 * body.unit, 0.07 * body.unit])
  return union(neck, ...bones.map((chain) => fillCapsules(size, chain, [radius, radius, radius])))
}

function forearmRegion(size: Size, body: BodyFrame): Mask {
  const { elbow, wrist, knuckles } = body.joints
  const [left, right] = bothSides((side) => {
    const radius = Math.max(1, body.armRadius[side])
    const fingers = between(wrist[side], knuckles[side], 1.8)
    return fillCapsules(size, [elbow[side], wrist[side], fingers], [radius, radius, radius])
  })
  return union(left, right)
}

function torsoRegion(size: Size, body: BodyFrame, [from, to]: readonly [number, number]): Mask {
  return stripRegion(size, { from: axisAt(body, from), to: axisAt(body, to), halfWidth: 0.3 * body.unit })
}

function crownRegion(size: Size, person: Person, body: BodyFrame): Mask {
  const { leftEye, rightEye, mouthLeft, mouthRight } = person.landmarks
  const eyes = between(leftEye, rightEye, 0.5)
  const up = unit(subtract(eyes, between(mouthLeft, mouthRight, 0.5)))
  const width = eyeWidth(person, body)
  return stripRegion(size, {
    from: move(eyes, up, 1.6 * width),
    to: move(eyes, up, 0.75 * width),
    halfWidth: 0.8 * width,
  })
}

function stripRegion(size: Size, { from, to, halfWidth }: { from: Point; to: Point; halfWidth: number }): Mask {
  const across = scale(perpendicular(unit(subtract(to, from))), halfWidth)
  return fillPolygon(size, [move(from, across, -1), move(from, across, 1), move(to, across, 1), move(to, across, -1)])
}

/**
 * Body coordinate F at which the lower garment begins in the middle of the torso, from `WAISTLINE.from` on: the row that best separates the
 * colours of the chest from those of the thighs. Null if both have the same colours, or no row separates them clearly.
 */
function findWaistline(
  { lab, along, across }: { lab: Colours; along: Plane; across: Plane },
  {
    mask,
    hidden,
    top,
    lower,
    skin,
  }: { mask: Plane; hidden: Mask; top: ColourModel; lower: ColourModel; skin: ColourModel },
): number | null {
  if (top.length === 0 || lower.length === 0) return null
  const costs = createCosts([skin, top, lower])
  const cost = new Float64Array(3)
  const sums = new Float64Array(WAISTLINE.rows)
  const counts = new Float64Array(WAISTLINE.rows)
  for (let i = 0; i < mask.data.length; i++) {
    const row = Math.floor((along.data[i] - WAISTLINE.from) / WAISTLINE.step)
    if (row < 0 || row >= WAISTLINE.rows || Math.abs(across.data[i]) > WAISTLINE.across) continue
    if (mask.data[i] < 0.8 || hidden.data[i]) continue
    costs({ l: lab.data[i * 3], a: lab.data[i * 3 + 1], b: lab.data[i * 3 + 2] }, cost)
    if (cost[0] < Math.min(cost[1], cost[2])) continue
    counts[row]++
    // Pixels that resemble neither, such as a band along the hem, are inconclusive.
    const [asTop, asLower] = [Math.min(cost[1], WAISTLINE.strange), Math.min(cost[2], WAISTLINE.strange)]
    sums[row] += Math.min(Math.max((asLower - asTop) / WAISTLINE.sure, -1), 1)
  }
  return findBestSplit(sums, counts)
}

// Bare rows are inconclusive: below a crop top, the last bare row is that of the waistband.
function findBestSplit(sums: Float64Array, counts: Float64Array): number | null {
  const rowOf = (values: Float64Array, from: number, to: number) => values.subarray(from, to).reduce((a, b) => a + b, 0)
  const total = rowOf(sums, 0, sums.length)
  let above = 0
  let best = { row: 0, gain: Number.NEGATIVE_INFINITY }
  for (let row = 0; row <= sums.length; row++) {
    const gain = above - (total - above)
    if (gain >= best.gain) best = { row, gain }
    above += sums[row] ?? 0
  }
  const clear = (from: number, to: number) => rowOf(sums, from, to) / Math.max(1, rowOf(counts, from, to))
  const [asTop, asLower] = [clear(0, best.row), -clear(best.row, sums.length)]
  const isClear = Math.min(asTop, asLower) > WAISTLINE.clear.each && asTop + asLower > WAISTLINE.clear.both
  return isClear ? WAISTLINE.from + WAISTLINE.step * best.row : null
}
