import type { BodyFrame } from '../../../../body/body-frame.ts'
import { FAR } from '../../../../body/bone-field.ts'
import { bothSides, type Side, type Sides } from '../../../../body/keypoints.ts'
import type { Parts } from '../../../../body/parts.ts'
import type { Person } from '../../../../person/person.ts'
import { componentsTouching } from '../../../../raster/components.ts'
import { fillSmoothly } from '../../../../raster/fill.ts'
import { dilate, open } from '../../../../raster/morphology.ts'
import {
  countSet,
  createMask,
  createPlane,
  type Mask,
  maskWhere,
  type Plane,
  subset,
} from '../../../../raster/plane.ts'
import { fillPolygon } from '../../../../raster/polygon.ts'
import { interpolate } from '../../../../raster/polyline.ts'
import { difference, reduceMasked } from '../../../../raster/reduce.ts'
import { between, distance, dot, move, perpendicular, scale, subtract, unit } from '../../../../raster/vector.ts'
import { type ArmField, armMask, bareRadiusAt, CUFF, measureArms } from './arm-field.ts'
import type { Placement, SleevePlacement } from './place.ts'

/** From this share on a garment hides what is behind it. */
export const SOLID = 0.95

/** Where the body's pieces lie in the analysed picture. */
export interface Regions {
  readonly arms: Sides<ArmField>
  /** The face with ears, cut off below the chin. */
  readonly head: Mask
  /** The face inside of its outline; nothing where that is not known. */
  readonly face: Mask
  /** Bare arms from the shoulder to a little below the wrist as they would look without sleeves. */
  readonly limbs: Mask
  /** What of arms and hands lies in front of the garment's body, from just above the sleeve's end. */
  readonly uncovered: Mask
  /** What of the arms lies beyond the sleeves' ends, with the loose cloth around them; nothing for a garment without sleeves. */
  readonly beyondCuffs: Mask
  readonly hands: Mask
  /** Shoulders between neck corners, tips and joints. */
  readonly shoulders: Mask
  /** Hair, without what below the chin only has the colour of some hair or hat. */
  readonly hair: Mask
  /** Distance from the body's axis as a multiple of the torso's half width at that height; not negative. */
  readonly sideways: Plane
}

/** A person and where a garment lies on them; all in the analysed picture's px. */
export interface Fitting {
  readonly person: Person
  readonly body: BodyFrame
  readonly parts: Parts
  readonly placement: Placement
}

export interface FittingRegions extends Fitting {
  readonly regions: Regions
}

/** The picture's regions for a placed garment. */
export function findRegions(fitting: Fitting): Regions {
  const { person, body, parts, placement } = fitting
  const arms = measureArms(fitting)
  return {
    arms,
    head: findHead(person, body),
    face: fillPolygon(parts.along, person.face ?? []),
    limbs: eitherArm(arms, (arm) => bareArm(arm, CUFF * body.unit)),
    uncovered: eitherArm(arms, (arm, side) => withoutHidden(uncoveredArm(arm, fitting, side), arm)),
    beyondCuffs: eitherArm(arms, (arm, side) => beyondCuff(arm, fitting, side)),
    hands: eitherArm(arms, (arm, side) => {
      const other = arms[side === 0 ? 1 : 0]
      const hand = handOf({ ...arm, ...arm.forearm }, body.armRadius[side], { other, mask: person.mask })
      return withoutHidden(join(hand, foldedForearm(arm, placement, side)), arm)
    }),
    shoulders: fillPolygon(parts.along, [
      body.shoulderTip[0],
      placement.neckCorners[0],
      placement.neckCorners[1],
      body.shoulderTip[1],
      body.joints.shoulder[1],
      body.joints.shoulder[0],
    ]),
    hair: findHair(fitting),
    sideways: measureSideways(body, parts),
  }
}

// Arms and hands come to the front where the garment leaves them: beyond the cuff's line or, without a sleeve, from below the
// armpit. They start a little under the cuff so that no gap opens between the two.
function uncoveredArm(arm: ArmField, { body, placement }: Fitting, side: Side): Mask {
  const { unit: length, armRadius } = body
  const fullRadius = (way: number) =>
    way < arm.wrist
      ? 1.15 * bareRadiusAt(arm, way)
      : armRadius[side] * interpolate([arm.wrist, arm.end], [1, 1.25], way)
  const sleeve = placement.sleeves.find((candidate) => candidate.side === side)
  if (!sleeve) {
    const start = bareFrom(body, placement, side)
    // At full width at once it would begin with a step: it widens on its way out from behind the garment.
    return armMask(arm, (way) => {
      if (way < start) return 0
      return Math.min(fullRadius(way), armRadius[side] * (0.25 + (0.95 * (way - start)) / (0.45 * length)))
    })
  }
  return cutAtCuff(arm, sleeve, { near: armMask(arm, fullRadius), overlap: 0.03 * length, slant: 0.12 * length })
}

function beyondCuff(arm: ArmField, { body, placement }: Fitting, side: Side): Mask {
  const sleeve = placement.sleeves.find((candidate) => candidate.side === side)
  if (!sleeve) return createMask(arm.distance)
  return cutAtCuff(arm, sleeve, { near: armMask(arm, () => FAR), overlap: 0, slant: 0.12 * body.unit })
}

// The cuff's line need not be square to the bone: up to `slant` px before and behind its middle the line itself decides.
function cutAtCuff(
  { along, wrist }: ArmField,
  sleeve: SleevePlacement,
  { near, overlap, slant }: { near: Mask; overlap: number; slant: number },
): Mask {
  const end = Math.min(sleeve.length, wrist)
  const isBeyond = halfPlaneBeyond(sleeve, overlap)
  return subset(near, (i) => {
    if (along.data[i] < end - slant) return false
    return along.data[i] > end + slant || isBeyond(i % near.width, Math.floor(i / near.width))
  })
}

function bareFrom(body: BodyFrame, placement: Placement, side: Side): number {
  const shoulder = body.joints.shoulder[side]
  const upperArm = subtract(body.joints.elbow[side], shoulder)
  const armpit = dot(subtract(placement.armpits[side], shoulder), unit(upperArm)) + 0.11 * body.unit
  return Math.max(0.35 * distance(body.joints.elbow[side], shoulder), armpit)
}

// Points on the hand's side of the line between the two ends of the cuff, moved up the arm by `overlap` px.
function halfPlaneBeyond({ outer, inner }: SleevePlacement, overlap: number): (x: number, y: number) => boolean {
  const last = outer.length - 1
  const cuff = subtract(inner[last], outer[last])
  const down = subtract(between(outer[last], inner[last], 0.5), between(outer[last - 3], inner[last - 3], 0.5))
  const across = unit(perpendicular(cuff))
  const normal = dot(across, down) < 0 ? scale(across, -1) : across
  const level = dot(outer[last], normal) - overlap
  return (x, y) => x * normal.x + y * normal.y > level
}

function bareArm(arm: ArmField, overWrist: number): Mask {
  return armMask(arm, (way) => (way > arm.wrist + overWrist ? 0 : bareRadiusAt(arm, way)))
}

// Spread fingers reach further out; where they lie on the other forearm they look like it.
function handOf(arm: ArmField, radius: number, { other, mask }: { other: ArmField; mask: Plane }): Mask {
  const start = arm.wrist - 0.1 * (arm.wrist - arm.elbow)
  const near = (wide: number) => (way: number) =>
    way < start ? 0 : radius * interpolate([start, arm.wrist, arm.end], [0.9, 0.95, wide], way)
  const palm = armMask(arm, near(1.25))
  const fingers = armMask(arm, near(2.2))
  return subset(fingers, (i) => {
    if (palm.data[i]) return true
    if (mask.data[i] < 0.9) return false
    const way = other.along.data[i]
    if (way > other.wrist || way < other.elbow) return true
    const toOther = other.distance.data[i] / bareRadiusAt(other, way)
    return toOther > 1.15 || (toOther > 0.6 && toOther > arm.distance.data[i] / radius)
  })
}

// A bare forearm that is bent back lies before the sleeve of its own upper arm.
function foldedForearm(arm: ArmField, placement: Placement, side: Side): Mask {
  const sleeve = placement.sleeves.find((candidate) => candidate.side === side)
  if (!sleeve || sleeve.long || arm.forearm.along === arm.along) return createMask(arm.distance)
  const start = Math.max(sleeve.length, arm.elbow)
  const forearm = armMask({ ...arm, ...arm.forearm }, (way) => (way < start ? 0 : 1.1 * bareRadiusAt(arm, way)))
  return subset(forearm, (i) => arm.along.data[i] < sleeve.length)
}

// What leads behind the body comes to no front.
function withoutHidden(mask: Mask, { behind, along, elbow }: ArmField): Mask {
  return behind ? subset(mask, (i) => along.data[i] < 0.6 * elbow) : mask
}

function join(a: Mask, b: Mask): Mask {
  return maskWhere(a, (i) => a.data[i] + b.data[i] > 0)
}

function eitherArm(arms: Sides<ArmField>, draw: (arm: ArmField, side: Side) => Mask): Mask {
  const [left, right] = bothSides((side) => draw(arms[side], side))
  for (let i = 0; i < left.data.length; i++) left.data[i] |= right.data[i]
  return left
}

/** The face with ears. Everything below the chin is left to the garment: a neck painted over a collar looks cut out. */
export function findHead({ landmarks, mask, face }: Person, body: BodyFrame): Mask {
  const { nose, leftEye, rightEye, leftEar, rightEar, mouthLeft, mouthRight } = landmarks
  const size = Math.max(distance(leftEye, rightEye), 0.1 * body.unit, 0.5 * distance(leftEar, rightEar))
  const mouth = between(mouthLeft, mouthRight, 0.5)
  const up = unit(subtract(between(leftEye, rightEye, 0.5), mouth))
  // Below it the outline alone knows where the jaw ends and the neck begins.
  const lowest = face ? mouth : move(mouth, subtract(mouth, nose), 0.95)
  const inside = (x: number, y: number) => {
    const high = (x - nose.x) * up.x + (y - nose.y) * up.y
    const wide = (x - nose.x) * up.y - (y - nose.y) * up.x
    if ((x - lowest.x) * up.x + (y - lowest.y) * up.y <= 0) return false
    return (wide / (1.05 * size)) ** 2 + (high / (1.3 * size)) ** 2 <= 1
  }
  const outlined = fillPolygon(mask, face ?? [])
  return maskWhere(mask, (i) => outlined.data[i] === 1 || inside(i % mask.width, Math.floor(i / mask.width)))
}

// White collars pass for grey hair and dark ones for a hat: below the chin hair must look like the hair above it.
function findHair({ person, body, parts }: Fitting): Mask {
  const { hair, lab } = parts
  const { nose, mouthLeft, mouthRight } = person.landmarks
  const mouth = between(mouthLeft, mouthRight, 0.5)
  const up = unit(subtract(nose, mouth))
  const isAbove = (i: number) => {
    const x = (i % hair.width) - mouth.x
    const y = Math.floor(i / hair.width) - mouth.y
    return x * up.x + y * up.y > 0
  }
  const above = subset(hair, isAbove)
  if (countSet(above) === 0) return hair
  const factor = Math.max(1, Math.round(body.unit / 64))
  const known = reduceMasked(lab, above, factor)
  const cells = fillSmoothly(known.colours, known.weight)
  const differs = (i: number) => difference(lab, { cells, factor }, i)
  const grown = withoutLoosePatches(hair, above, { strand: 0.02 * body.unit, isStrange: (i) => differs(i) > 16 })
  const alike = subset(grown, (i) => above.data[i] === 1 || differs(i) < 32)
  if (countSet(grown) - countSet(alike) < 0.01 * body.unit ** 2) return grown
  // A collar's blurred edge passes for hair again.
  const thick = open(alike, 0.015 * body.unit)
  const sure = subset(alike, (i) => above.data[i] === 1 || thick.data[i] === 1)
  // What touches no cloth is no collar: hair beside the neck lies in its own shade.
  const odd = subset(grown, (i) => !sure.data[i])
  const collars = componentsTouching(odd, dilate(parts.top, 2))
  return subset(grown, (i) => sure.data[i] === 1 || !collars.data[i])
}

// The inside of a collar hangs together with the hair by a line beside the neck at most.
function withoutLoosePatches(
  hair: Mask,
  above: Mask,
  { strand, isStrange }: { strand: number; isStrange: (i: number) => boolean },
): Mask {
  const broad = open(hair, strand)
  const hanging = componentsTouching(broad, above)
  const around = dilate(
    subset(broad, (i) => !hanging.data[i] && isStrange(i)),
    strand + 1,
  )
  const firm = subset(hair, (i) => above.data[i] + hanging.data[i] > 0 || !around.data[i])
  const ends = componentsTouching(firm, dilate(around, 1))
  const held = componentsTouching(firm, above)
  return subset(firm, (i) => !ends.data[i] || held.data[i] === 1)
}

function measureSideways({ fractions, halfWidths, unit: length }: BodyFrame, { along, across }: Parts): Plane {
  const mean = fractions.map((_, i) => (halfWidths[0][i] + halfWidths[1][i]) / 2)
  const out = createPlane(along)
  const table = Float32Array.from({ length: 512 }, (_, i) => interpolate(fractions, mean, i / 256))
  for (let i = 0; i < out.data.length; i++) {
    const row = Math.min(511, Math.max(0, Math.round(along.data[i] * 256)))
    out.data[i] = (Math.abs(across.data[i]) * length) / Math.max(1, table[row])
  }
  return out
}
