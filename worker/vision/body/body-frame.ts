import { DrapeError } from '../../../api/shared/contract/errors.ts'
import type { Person } from '../person/person.ts'
import type { Plane, Point } from '../raster/plane.ts'
import { interpolate } from '../raster/polyline.ts'
import { distanceToEdge } from '../raster/ray.ts'
import { between, dot, move, scale, subtract, unit } from '../raster/vector.ts'
import {
  type BodyKeypoints,
  bothSides,
  measureKeypoints,
  outerSide,
  outwards,
  type Side,
  type Sides,
  upperArm,
} from './keypoints.ts'
import { measureTorso } from './torso-width.ts'
import { ARM_RADIUS, MAX_DEPTH, MIN_SHOULDERS, MIN_VISIBLE, RAISED, SHOULDER_TIP } from './tuning.ts'

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

function unusable(message: string): DrapeError {
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
