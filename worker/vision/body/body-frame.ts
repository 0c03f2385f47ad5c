import { DrapeError } from '../../../api/shared/contract/errors.ts'
import type { Person } from '../person/person.ts'
import type { Plane, Point } from '../raster/plane.ts'
import { distanceToSegment } from '../raster/polygon.ts'
import { interpolate } from '../raster/polyline.ts'
import { distanceToEdge, isCovered } from '../raster/ray.ts'
import { between, dot, move, scale, subtract, unit } from '../raster/vector.ts'
import {
  axisAt,
  type BodyKeypoints,
  bothSides,
  measureKeypoints,
  outerSide,
  outwards,
  type Side,
  type Sides,
  upperArm,
} from './keypoints.ts'
import {
  ARM_RADIUS,
  ARM_WEIGHT,
  EXPECTED_TORSO,
  MAX_DEPTH,
  MIN_SHOULDERS,
  MIN_VISIBLE,
  RAISED,
  SHOULDER_TIP,
} from './tuning.ts'

export type { Side, Sides } from './keypoints.ts'

/** Body coordinates of a person, and the widths of arms, shoulders and torso in px of the analysed bitmap. */
export interface BodyFrame extends BodyKeypoints {
  readonly armRadius: Sides<number>
  readonly shoulderTip: Sides<Point>
  /** Shoulder tips with hanging arms: garments are not cut for raised arms. */
  readonly restingTip: Sides<Point>
  /** Half width of the torso in px at F = `fractions[i]`. */
  readonly fractions: Float64Array
  readonly halfWidths: Sides<Float64Array>
}

/**
 * Measures the body frame from landmarks and mask.
 *
 * Throws `DrapeError` NO_PERSON_DETECTED if the shoulders are not visible, RESULT_REJECTED if the person is seen from
 * behind or turned too far to the side.
 */
export function measureBody(person: Person): BodyFrame {
  const { leftShoulder, rightShoulder } = person.landmarks
  if (Math.min(leftShoulder.visibility, rightShoulder.visibility) < MIN_VISIBLE)
    throw new DrapeError('NO_PERSON_DETECTED', 'The shoulders of the person are not visible')
  const keypoints = measureKeypoints(person)
  if (!keypoints.facing) throw unusable('The person is seen from behind; a front view is needed')
  const depth = Math.abs(leftShoulder.z - rightShoulder.z)
  if (keypoints.shoulderWidth < MIN_SHOULDERS * keypoints.trunk || depth > MAX_DEPTH * keypoints.shoulderWidth)
    throw unusable('The person is turned too far to the side; a front view is needed')
  const armRadius = bothSides((side) => measureArmRadius(person.mask, keypoints, side))
  const shoulderTip = bothSides((side) => findShoulderTip(person.mask, keypoints, side))
  const restingTip = bothSides((side) =>
    raisedAngle(keypoints, side) > 0
      ? tipAt(keypoints, side, { angle: SHOULDER_TIP.angle, way: SHOULDER_TIP.expected * keypoints.unit })
      : shoulderTip[side],
  )
  return { ...keypoints, armRadius, shoulderTip, restingTip, ...measureTorso(person.mask, keypoints, armRadius) }
}

/** A photo of the person in which this garment cannot be shown. */
export function unusable(message: string): DrapeError {
  return new DrapeError('RESULT_REJECTED', message, { image: 'person' })
}

/** Half width of the torso in px at the body coordinate F. */
export function halfWidthAt({ fractions, halfWidths }: BodyFrame, fraction: number, side: Side): number {
  return interpolate(fractions, halfWidths[side], fraction)
}

// The outer side of an arm is rarely hidden by cloth, hair or the trunk.
function measureArmRadius(mask: Plane, keypoints: BodyKeypoints, side: Side): number {
  const shoulder = keypoints.joints.shoulder[side]
  const elbow = keypoints.joints.elbow[side]
  const across = outerSide(keypoints, side)
  const direction = dot(across, outwards(keypoints, side)) < 0 ? scale(across, -1) : across
  const radii = [0.35, 0.5, 0.65, 0.8]
    .map((share) => distanceToEdge(mask, between(shoulder, elbow, share), { direction, reach: 0.34 * keypoints.unit }))
    .filter((radius) => radius !== null)
  const radius = radii.length > 0 ? median(radii) : ARM_RADIUS.expected * keypoints.unit
  return Math.min(Math.max(radius, ARM_RADIUS.min * keypoints.unit), ARM_RADIUS.max * keypoints.unit)
}

function findShoulderTip(mask: Plane, keypoints: BodyKeypoints, side: Side): Point {
  const angle = SHOULDER_TIP.angle - RAISED.taken * raisedAngle(keypoints, side)
  const joint = keypoints.joints.shoulder[side]
  const direction = unit(subtract(tipAt(keypoints, side, { angle, way: 1 }), joint))
  const measured = distanceToEdge(mask, joint, { direction, reach: 0.34 * keypoints.unit })
  const way =
    measured === null
      ? SHOULDER_TIP.expected * keypoints.unit
      : Math.min(Math.max(measured, SHOULDER_TIP.min * keypoints.unit), SHOULDER_TIP.max * keypoints.unit)
  return tipAt(keypoints, side, { angle, way })
}

function tipAt(keypoints: BodyKeypoints, side: Side, { angle, way }: { angle: number; way: number }): Point {
  const up = move(keypoints.joints.shoulder[side], keypoints.down, -way * Math.cos(angle))
  return move(up, outwards(keypoints, side), way * Math.sin(angle))
}

// Angle by which the upper arm is raised beyond the angle where the shoulder follows; 0 for arms in front of the body.
function raisedAngle(keypoints: BodyKeypoints, side: Side): number {
  const along = upperArm(keypoints, side)
  const fromBelow = Math.acos(Math.min(1, Math.max(-1, dot(along, keypoints.down))))
  return dot(along, outwards(keypoints, side)) < 0 && fromBelow < Math.PI / 2 ? 0 : Math.max(0, fromBelow - RAISED.from)
}

function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b)
  const middle = sorted.length >> 1
  return sorted.length % 2 === 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2
}

// Rows between the collarbone and the middle of the thighs, as body coordinates F.
const FRACTIONS = Float64Array.from({ length: 33 }, (_, i) => 0.1 + 0.05 * i)

/**
 * Half widths of the torso in px at F = 0.10 to 1.70. Measures each row outwards from the axis to the edge of the mask or
 * to an arm. Rows without a measurement follow their neighbours and the proportions of an average torso.
 */
function measureTorso(
  mask: Plane,
  keypoints: BodyKeypoints,
  armRadius: Sides<number>,
): { fractions: Float64Array; halfWidths: Sides<Float64Array> } {
  const halfWidths = bothSides((side) => {
    const limbs = limbsOf(keypoints, side, armRadius[side])
    return smoothWidths(
      Array.from(FRACTIONS, (fraction) => measureRow(mask, keypoints, { fraction, side, limbs })),
      keypoints.unit,
    )
  })
  return { fractions: FRACTIONS, halfWidths }
}

interface Limb {
  from: Point
  to: Point
  radius: number
  /** Share of the limb that can belong to the torso. */
  ignored: number
}

interface Measured {
  width: number
  weight: number
}

function limbsOf({ joints }: BodyKeypoints, side: Side, radius: number): Limb[] {
  const wrist = joints.wrist[side]
  const fingers = between(wrist, joints.knuckles[side], 1.8)
  return [
    { from: joints.shoulder[side], to: joints.elbow[side], radius, ignored: 0.28 },
    { from: joints.elbow[side], to: wrist, radius: 0.85 * radius, ignored: -1 },
    { from: wrist, to: fingers, radius: 0.9 * radius, ignored: -1 },
  ]
}

function measureRow(
  mask: Plane,
  keypoints: BodyKeypoints,
  { fraction, side, limbs }: { fraction: number; side: Side; limbs: readonly Limb[] },
): Measured | null {
  const start = axisAt(keypoints, fraction)
  const direction = outwards(keypoints, side)
  const step = Math.max(1, 0.006 * keypoints.unit)
  for (let width = 0.15 * keypoints.unit; width < keypoints.unit; width += step) {
    const point = move(start, direction, width)
    if (!isCovered(mask, point)) return { width, weight: 1 }
    // An arm this close to the axis crosses the body and does not bound the torso.
    if (limbs.some((limb) => isOnLimb(point, limb)))
      return width > 0.33 * keypoints.unit ? { width, weight: ARM_WEIGHT } : null
  }
  return null
}

function isOnLimb(point: Point, { from, to, radius, ignored }: Limb): boolean {
  const { distance, along } = distanceToSegment(point, from, to)
  return distance < radius && along >= ignored
}

function smoothWidths(rows: readonly (Measured | null)[], unit: number): Float64Array {
  const expected = FRACTIONS.map((f) => interpolate(EXPECTED_TORSO.fractions, EXPECTED_TORSO.halfWidths, f) * unit)
  const measured = rows.flatMap((row, i) =>
    row === null ? [] : [{ fraction: FRACTIONS[i], ratio: row.width / expected[i], weight: row.weight }],
  )
  if (measured.length < 4) return expected
  const typical = typicalRatio(measured)
  return FRACTIONS.map((fraction, i) => {
    let sum = 0.25 * typical
    let weights = 0.25
    for (const row of measured) {
      const weight = Math.exp(-(((fraction - row.fraction) / 0.09) ** 2) / 2) * row.weight ** 1.5
      sum += weight * row.ratio
      weights += weight
    }
    return Math.min(Math.max(sum / weights, 0.6), 1.6) * expected[i]
  })
}

// Median in which a visible edge counts four times as much as an arm.
function typicalRatio(measured: readonly { ratio: number; weight: number }[]): number {
  const ratios = measured
    .flatMap(({ ratio, weight }) => new Array<number>(Math.max(1, Math.floor(weight * 4))).fill(ratio))
    .sort((a, b) => a - b)
  return ratios[ratios.length >> 1]
}
