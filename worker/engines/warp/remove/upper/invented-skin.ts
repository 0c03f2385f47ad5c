import { type ArmField, armMask } from '../../../../vision/body/arm-field.ts'
import { distanceTo } from '../../../../vision/raster/distance.ts'
import { fillSmoothly } from '../../../../vision/raster/fill.ts'
import { gaussianBlur, gaussianBlurColours } from '../../../../vision/raster/filter.ts'
import {
  countSet,
  intersect,
  invert,
  subset,
  threshold,
  union,
  without,
  withValue,
} from '../../../../vision/raster/mask.ts'
import { erode } from '../../../../vision/raster/morphology.ts'
import { type Colours, createMask, createPlane, type Mask, type Plane } from '../../../../vision/raster/plane.ts'
import { interpolate } from '../../../../vision/raster/polyline.ts'
import { reduceByFactor, reduceMasked } from '../../../../vision/raster/reduce.ts'
import { medianOf } from '../../../../vision/raster/statistics.ts'
import { norm } from '../../../../vision/raster/vector.ts'
import type { FittingRegions } from '../../fit/upper/fitting.ts'
import {
  ARMPIT,
  CHEST_TONE,
  COLLARBONE,
  FACE_TONE,
  LIMB_ROUND,
  MEETING,
  NECK_SHADE,
  SKIN_SEEN,
  TONES,
} from '../tuning.ts'

export interface InventedSkin {
  /** CIE Lab of the downscaled bitmap. */
  readonly tones: Colours
  /** True if neither arms nor neck show skin. */
  readonly fromFace: boolean
}

/**
 * Skin of the body without the worn garment, in the bitmap downscaled by `factor`: tones of visible skin of the same limb,
 * smoothly extrapolated, darker towards a limb's edges. Null if the photo shows no
 * skin. `bare` is the body without the old garment.
 */
export function inventSkin(
  fitting: FittingRegions,
  { old, bare, factor }: { old: Mask; bare: Mask; factor: number },
): InventedSkin | null {
  const { body, parts } = fitting
  if (!parts.skinColour) return null
  const clean = cleanSkin(fitting, old)
  const base = blendLimbs(fitting, { clean, factor })
  meetRealSkin(base, reduceMasked(parts.lab, clean, factor), body.unit / factor)
  shadeLimbs(base, fitting, { bare, factor })
  return { tones: base, fromFace: countSet(clean) < SKIN_SEEN.body * body.unit ** 2 }
}

// Skin far enough from every border that no other colour mixes in, with the hue of the face.
function cleanSkin({ person, parts, regions }: FittingRegions, old: Mask): Mask {
  const { lab, skin } = parts
  const face = intersect(regions.head, skin)
  const tone = parts.hasFace ? [0, 1, 2].map((channel) => medianOf(lab, face, channel)) : null
  const bare = withValue(without(skin, regions.head, old), person.mask, { over: 0.9 })
  if (!tone) return erode(bare, FACE_TONE.inside)
  const sure = subset(bare, (i) => {
    const k = i * 3
    return (
      norm(lab.data[k + 1] - tone[1], lab.data[k + 2] - tone[2]) < FACE_TONE.tint &&
      Math.abs(lab.data[k] - tone[0]) < FACE_TONE.lightness
    )
  })
  return erode(sure, FACE_TONE.inside)
}

// Every limb has its own tone: arms are often darker than the neck, and one arm is often in shade.
function blendLimbs(fitting: FittingRegions, { clean, factor }: { clean: Mask; factor: number }): Colours {
  const { body, parts, regions } = fitting
  const { along, across, lab } = parts
  const [arms, hands] = [false, true].map((isHand) =>
    regions.arms.map((arm, side) =>
      armMask(arm, (way) => (way > arm.wrist === isHand ? 1.2 * body.armRadius[side as 0 | 1] : 0)),
    ),
  )
  const chest = withValue(withValue(clean, across, { over: -0.3, under: 0.3 }), along, { over: -0.42, under: 0.45 })
  const minSamples = SKIN_SEEN.tone * body.unit ** 2
  const middles = [...arms, chest, ...hands].map((region) =>
    middleTones(lab, clean, { region, minSamples, dark: region === chest ? TONES.shade : TONES.dark }),
  )
  const all = union(createMask(clean), ...middles.filter((middle) => middle !== null))
  const seen = parts.hasFace ? intersect(parts.skin, regions.head) : parts.skin
  const any = countSet(all) >= 1.5 * minSamples ? all : seen
  const carryOn = (mask: Mask) => {
    const { colours, weight } = reduceMasked(lab, mask, factor)
    return fillSmoothly(colours, weight)
  }
  const base = carryOn(middles[2] ?? any)
  if (middles[2]) {
    const shade = parts.hasFace ? medianOf(lab, seen, 0) - medianOf(lab, middles[2], 0) : 0
    const lift = Math.min(NECK_SHADE, Math.max(0, shade))
    for (let i = 0; i < base.data.length; i++) base.data[i] += CHEST_TONE[i % 3] + (i % 3 === 0 ? lift : 0)
  }
  for (const side of [0, 1] as const) {
    const [arm, hand, share] = [middles[side], middles[3 + side], limbShare(fitting, side, factor)]
    // A hand is redder than its arm, and the neck is in other light: the arm is between them.
    if (!arm && hand) for (let i = 0; i < share.data.length; i++) share.data[i] /= 2
    const own = arm ?? hand ?? middles[1 - side]
    if (own) mixInto(base, carryOn(own), share)
  }
  return gaussianBlurColours(base, (0.03 * body.unit) / factor)
}

// Excludes the darkest tones (cast shadows) and the highlights.
function middleTones(
  lab: Colours,
  clean: Mask,
  { region, minSamples, dark }: { region: Mask; minSamples: number; dark: number },
): Mask | null {
  const inside = intersect(clean, region)
  const tones: number[] = []
  for (let i = 0; i < inside.data.length; i++) if (inside.data[i]) tones.push(lab.data[i * 3])
  if (tones.length < minSamples) return null
  const sorted = Float32Array.from(tones).sort()
  const low = sorted[Math.floor(dark * (sorted.length - 1))]
  const high = sorted[Math.floor(TONES.light * (sorted.length - 1))]
  return subset(inside, (i) => lab.data[i * 3] >= low && lab.data[i * 3] <= high)
}

function limbShare({ body, parts, regions }: FittingRegions, side: 0 | 1, factor: number): Plane {
  const arm = regions.arms[side]
  const near = armMask(arm, (way) => (way > arm.bareEnd ? 0 : 1.3 * arm.bareRadius))
  const limb = withValue(near, parts.along, { over: -0.08 })
  return gaussianBlur(reduceByFactor(limb, factor), (0.04 * body.unit) / factor)
}

function mixInto(base: Colours, other: Colours, share: Plane): void {
  for (let i = 0, k = 0; i < share.data.length; i++, k += 3) {
    for (let c = k; c < k + 3; c++) base.data[c] += (other.data[c] - base.data[c]) * share.data[i]
  }
}

// Where invented skin meets real skin it adopts the difference, which fades with the distance, so that no border is visible.
function meetRealSkin(base: Colours, { colours, weight }: { colours: Colours; weight: Plane }, unit: number): void {
  const rest: Colours = { ...base, data: colours.data.map((value, i) => value - base.data[i]) }
  const carried = fillSmoothly(rest, weight)
  const far = distanceTo(threshold(weight, 0.5))
  for (let i = 0, k = 0; i < far.data.length; i++, k += 3) {
    const share = Math.exp(-far.data[i] / (MEETING.fading * unit))
    for (let c = k; c < k + 3; c++)
      base.data[c] += Math.min(MEETING.max, Math.max(-MEETING.max, carried.data[c])) * share
  }
}

function shadeLimbs(
  base: Colours,
  { body, parts, regions }: FittingRegions,
  { bare, factor }: { bare: Mask; factor: number },
): void {
  const light = createPlane(parts.along)
  const toEdge = distanceTo(invert(bare))
  const [left, right] = regions.arms
  for (let i = 0; i < light.data.length; i++) {
    if (!regions.limbs.data[i] || parts.along.data[i] <= -0.02) {
      if (regions.shoulders.data[i])
        light.data[i] = -LIMB_ROUND.edge * Math.max(0, 1 - toEdge.data[i] / left.bareRadius) ** LIMB_ROUND.power
      continue
    }
    const rimOfLeft = rimOf(left, i)
    const rimOfRight = rimOf(right, i)
    const arm = rimOfLeft <= rimOfRight ? left : right
    // Above the armpit an arm has no inner edge. The bones are not always in the middle of the visible arm.
    const apart = Math.min(1, Math.max(0, (parts.along.data[i] - ARMPIT[0]) / (ARMPIT[1] - ARMPIT[0])))
    const rim = Math.max(apart * Math.min(1.1, rimOfLeft, rimOfRight), 1 - toEdge.data[i] / arm.bareRadius)
    light.data[i] =
      LIMB_ROUND.middle -
      LIMB_ROUND.edge * rim ** LIMB_ROUND.power -
      LIMB_ROUND.below * rim * downwards(arm.distance, i)
  }
  const smooth = gaussianBlur(reduceByFactor(light, factor), (0.01 * body.unit) / factor)
  for (let i = 0; i < smooth.data.length; i++) base.data[i * 3] += smooth.data[i]
}

/**
 * L by which the collarbones make bare skin lighter or darker: without them a chest is a flat surface. 0 if the photo shows the skin around
 * them, with its own.
 */
export function collarbones({ along, across, skin }: FittingRegions['parts']): Plane {
  const { inner, rise, from, until, ridgeBelow, hollowAbove, crease, ridge, hollow, notch, seen } = COLLARBONE
  const light = createPlane(along)
  let [around, visible] = [0, 0]
  for (let i = 0; i < light.data.length; i++) {
    const beside = Math.abs(across.data[i])
    const below = along.data[i] - inner + rise * (beside - from)
    if (beside > until || Math.abs(below) > 0.2) continue
    const bone = bump(below, crease) + bump(below - ridgeBelow, ridge) + bump(below + hollowAbove, hollow)
    const fading = Math.min(1, beside / from) * Math.min(1, (until - beside) / (0.5 * until))
    light.data[i] = bone * fading + bump(along.data[i] - inner, notch) * Math.exp(-((beside / from) ** 2))
    if (beside > seen.until || below < seen.above || below > 0) continue
    around++
    visible += skin.data[i]
  }
  const share = Math.max(0, 1 - visible / Math.max(1, seen.share * around))
  for (let i = 0; i < light.data.length; i++) light.data[i] *= share
  return light
}

function bump(distance: number, [height, width]: readonly [number, number]): number {
  return height * Math.exp(-((distance / width) ** 2) / 2)
}

// Direction from the bone to the pixel: 1 directly below the bone, −1 directly above.
function downwards({ width, data }: Plane, i: number): number {
  const step = (data[i + width] - data[i - width]) / 2
  return Number.isFinite(step) ? Math.min(1, Math.max(-1, step)) : 0
}

// 0 on the bone, 1 at the edge of the bare arm.
function rimOf({ distance, along, elbow, wrist, bareRadius }: ArmField, i: number): number {
  return (
    distance.data[i] / (LIMB_ROUND.radius * bareRadius * interpolate([0, elbow, wrist], [1, 0.92, 0.66], along.data[i]))
  )
}
