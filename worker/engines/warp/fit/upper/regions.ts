import { type ArmField, armMask, bareRadiusAt, measureArms } from '../../../../vision/body/arm-field.ts'
import type { BodyFrame } from '../../../../vision/body/body-frame.ts'
import { FAR } from '../../../../vision/body/bone-field.ts'
import { findHead } from '../../../../vision/body/head.ts'
import { bothSides, type Side, type Sides } from '../../../../vision/body/keypoints.ts'
import type { Parts } from '../../../../vision/body/parts.ts'
import { below, union, without, withValue } from '../../../../vision/raster/mask.ts'
import {
  createMask,
  createPlane,
  type Mask,
  type Plane,
  type Point,
  type Size,
} from '../../../../vision/raster/plane.ts'
import { fillBeyond, fillPolygon } from '../../../../vision/raster/polygon.ts'
import { interpolate } from '../../../../vision/raster/polyline.ts'
import { between, dot, move, perpendicular, scale, subtract, unit } from '../../../../vision/raster/vector.ts'
import { ARM_EMERGES, BEFORE_HIDDEN, BELOW_ARMPIT, CUFF_LINE, IN_FRONT, SHOULDER_LINE } from '../tuning.ts'
import type { PlacedGarment, Placement, Regions, SleevePlacement } from './fitting.ts'

/** Regions of the body for a placed garment. */
export function findRegions(fitting: PlacedGarment): Regions {
  const { person, body, parts, placement } = fitting
  const arms = measureArms({ person, body, parts, arms: placement.arms })
  return {
    arms,
    head: findHead(person, body),
    face: fillPolygon(parts.along, person.face ?? []),
    limbs: eitherArm(arms, (arm) => bareArm(arm)),
    uncovered: eitherArm(arms, (arm, side) => withoutHidden(uncoveredArm(arm, fitting, side), arm)),
    beyondCuffs: eitherArm(arms, (arm, side) => beyondCuff(arm, fitting, side)),
    hands: eitherArm(arms, (arm, side) => withoutHidden(palmOf({ ...arm, ...arm.forearm }, body.armRadius[side]), arm)),
    shoulders: findShoulders(fitting),
    sideways: measureSideways(body, parts),
  }
}

// From the neck, or the new garment's neck corners where these are higher, to the tips and the joints of the shoulders.
function findShoulders({ body, parts, placement }: PlacedGarment): Mask {
  const { shoulderTip, joints, down, trunk } = body
  const throat = move(body.shoulders, down, SHOULDER_LINE.throat * trunk)
  const necks = bothSides((side) => {
    const outwards = unit(subtract(shoulderTip[side], body.shoulders))
    return move(throat, outwards, SHOULDER_LINE.neck * body.unit)
  })
  const from = ([left, right]: Sides<Point>) =>
    fillPolygon(parts.along, [shoulderTip[0], left, right, shoulderTip[1], joints.shoulder[1], joints.shoulder[0]])
  return union(from(placement.neckCorners), from(necks))
}

// Arms and hands come to the front where the garment ends: beyond the line of the cuff or, without a sleeve, from below the
// armpit. They start slightly under the cuff to avoid a gap.
function uncoveredArm(arm: ArmField, { body, placement }: PlacedGarment, side: Side): Mask {
  const { unit: length, armRadius } = body
  const fullRadius = (way: number) =>
    way < arm.wrist
      ? IN_FRONT.arm * bareRadiusAt(arm, way)
      : armRadius[side] * interpolate([arm.wrist, arm.end], [1, IN_FRONT.hand], way)
  const sleeve = placement.sleeves.find((candidate) => candidate.side === side)
  if (!sleeve) {
    const start = bareFrom(body, placement, side)
    // Starting at full width would create a step: the arm widens gradually as it emerges from behind the garment.
    return armMask(arm, (way) => {
      if (way < start) return 0
      return Math.min(
        fullRadius(way),
        armRadius[side] * (ARM_EMERGES.start + (ARM_EMERGES.widening * (way - start)) / (ARM_EMERGES.over * length)),
      )
    })
  }
  return cutAtCuff(arm, sleeve, {
    near: armMask(arm, fullRadius),
    overlap: CUFF_LINE.overlap * length,
    slant: CUFF_LINE.slant * length,
  })
}

function beyondCuff(arm: ArmField, { body, placement }: PlacedGarment, side: Side): Mask {
  const sleeve = placement.sleeves.find((candidate) => candidate.side === side)
  if (!sleeve) return createMask(arm.distance)
  return cutAtCuff(arm, sleeve, { near: armMask(arm, () => FAR), overlap: 0, slant: CUFF_LINE.slant * body.unit })
}

// The line of the cuff can be slanted to the bone: within `slant` px of its middle the line itself decides.
function cutAtCuff(
  { along, wrist }: ArmField,
  sleeve: SleevePlacement,
  { near, overlap, slant }: { near: Mask; overlap: number; slant: number },
): Mask {
  const end = Math.min(sleeve.length, wrist)
  const around = without(near, below(along, end - slant))
  return without(around, without(below(along, end + slant), beyondLine(near, sleeve, overlap)))
}

function bareFrom(body: BodyFrame, placement: Placement, side: Side): number {
  const shoulder = body.joints.shoulder[side]
  const upperArm = subtract(body.joints.elbow[side], shoulder)
  return dot(subtract(placement.armpits[side], shoulder), unit(upperArm)) + BELOW_ARMPIT * body.unit
}

// Points on the hand's side of the line between the two ends of the cuff, moved up the arm by `overlap` px.
function beyondLine(size: Size, { outer, inner }: SleevePlacement, overlap: number): Mask {
  const last = outer.length - 1
  const cuff = subtract(inner[last], outer[last])
  const down = subtract(between(outer[last], inner[last], 0.5), between(outer[last - 3], inner[last - 3], 0.5))
  const across = unit(perpendicular(cuff))
  const normal = dot(across, down) < 0 ? scale(across, -1) : across
  return fillBeyond(size, move(outer[last], normal, -overlap), normal)
}

function bareArm(arm: ArmField): Mask {
  return armMask(arm, (way) => (way > arm.bareEnd ? 0 : bareRadiusAt(arm, way)))
}

// With the end of the forearm, which the sleeve of a hand that is raised to the shoulder would cover.
function palmOf(arm: ArmField, radius: number): Mask {
  const start = arm.wrist - 0.1 * (arm.wrist - arm.elbow)
  return armMask(arm, (way) =>
    way < start ? 0 : radius * interpolate([start, arm.wrist, arm.end], [0.9, 0.95, IN_FRONT.hand], way),
  )
}

// Removes the parts of an arm that are behind the body.
function withoutHidden(mask: Mask, { behind, along, elbow }: ArmField): Mask {
  return behind ? withValue(mask, along, { under: BEFORE_HIDDEN * elbow }) : mask
}

function eitherArm(arms: Sides<ArmField>, draw: (arm: ArmField, side: Side) => Mask): Mask {
  const [left, right] = bothSides((side) => draw(arms[side], side))
  return union(left, right)
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
