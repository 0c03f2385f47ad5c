import type { LandmarkName, Person } from '../person/person.ts'
import type { Point } from '../raster/plane.ts'
import { between, distance, dot, move, perpendicular, scale, subtract, unit } from '../raster/vector.ts'
import { FRONTAL, MIN_PRESENT, MIN_UNIT, STRAIGHT, TURN } from './tuning.ts'

/** A value for the image's left side (the right arm of a person who faces the camera) and a value for the right side. */
export type Sides<T> = readonly [left: T, right: T]

/** 0 = left side of the image, 1 = right side. */
export type Side = 0 | 1

/**
 * Body coordinates of a person. Positions are px of the analysed bitmap. A point p has the coordinates F = (p − shoulders) ·
 * down / trunk (0 at the shoulder joints, 1 at the hip joints) and X = (p − shoulders) · right / unit.
 */
export interface BodyKeypoints {
  readonly joints: {
    readonly shoulder: Sides<Point>
    readonly elbow: Sides<Point>
    readonly wrist: Sides<Point>
    readonly hip: Sides<Point>
    readonly knee: Sides<Point>
    readonly ankle: Sides<Point>
    /** Midpoint between the knuckles of little finger and index finger. */
    readonly knuckles: Sides<Point>
  }
  readonly shoulders: Point
  readonly hips: Point
  /** Unit vectors: from the shoulders to the hips, and perpendicular to it towards the right side of the image. */
  readonly down: Point
  readonly right: Point
  readonly shoulderWidth: number
  readonly trunk: number
  /** Body unit: the unit of all other lengths. max(shoulder width, 0.55 trunk). */
  readonly unit: number
  readonly facing: boolean
  /** Factor by which the shoulders would be wider from the front; 1 for a person seen from the front. */
  readonly foreshortening: number
}

export function measureKeypoints({ landmarks }: Person): BodyKeypoints {
  const position = (name: LandmarkName): Point => ({ x: landmarks[name].x, y: landmarks[name].y })
  // The right half of a person who faces the camera is in the left half of the image.
  const pair = (right: LandmarkName, left: LandmarkName): Sides<Point> => [position(right), position(left)]
  const shoulder = pair('rightShoulder', 'leftShoulder')
  const elbow = pair('rightElbow', 'leftElbow')
  // A wrist outside the image is a guess that often falls inside the image: assume a straight arm there.
  const forearm = (side: Side, name: LandmarkName, found: Point, share: number): Point =>
    landmarks[name].presence < MIN_PRESENT ? between(shoulder[side], elbow[side], share) : found
  const wrist = [
    forearm(0, 'rightWrist', position('rightWrist'), STRAIGHT.wrist),
    forearm(1, 'leftWrist', position('leftWrist'), STRAIGHT.wrist),
  ] as const
  const knuckles = [
    forearm(0, 'rightWrist', between(position('rightPinky'), position('rightIndex'), 0.5), STRAIGHT.knuckles),
    forearm(1, 'leftWrist', between(position('leftPinky'), position('leftIndex'), 0.5), STRAIGHT.knuckles),
  ] as const
  const joints = {
    shoulder,
    elbow,
    wrist,
    hip: pair('rightHip', 'leftHip'),
    knee: pair('rightKnee', 'leftKnee'),
    ankle: pair('rightAnkle', 'leftAnkle'),
    knuckles,
  }
  const shoulders = between(...joints.shoulder, 0.5)
  const hips = between(...joints.hip, 0.5)
  const down = unit(subtract(hips, shoulders))
  const across = perpendicular(down)
  const alongShoulders = subtract(joints.shoulder[1], joints.shoulder[0])
  const right = dot(across, alongShoulders) < 0 ? scale(across, -1) : across
  const shoulderWidth = distance(...joints.shoulder)
  const trunk = distance(shoulders, hips)
  const facing = joints.shoulder[0].x < joints.shoulder[1].x
  const turn = measureTurn((landmarks.leftShoulder.z - landmarks.rightShoulder.z) / Math.max(1, shoulderWidth))
  const lost = Math.min(Math.max((FRONTAL.shoulders * trunk) / Math.max(1, shoulderWidth), 1), FRONTAL.maxForeshortened)
  return {
    joints,
    shoulders,
    hips,
    down,
    right,
    shoulderWidth,
    trunk,
    unit: Math.max(shoulderWidth, MIN_UNIT * trunk),
    facing,
    foreshortening: 1 + turn * (lost - 1),
  }
}

// 0 from the front to 1. A landmark's depth is a rough guess: ignore small values.
function measureTurn(depth: number): number {
  return Math.min(Math.max((Math.abs(depth) - TURN.from) / (TURN.full - TURN.from), 0), 1)
}

/** Measures a value for each side: 0 is the left side of the image. */
export function bothSides<T>(measure: (side: Side) => T): Sides<T> {
  return [measure(0), measure(1)]
}

/** Unit vector across the body, away from its axis, on the given side. */
export function outwards({ right }: Pick<BodyKeypoints, 'right'>, side: Side): Point {
  return side === 0 ? scale(right, -1) : right
}

/** Unit vector from the shoulder to the elbow. */
export function upperArm({ joints }: Pick<BodyKeypoints, 'joints'>, side: Side): Point {
  return unit(subtract(joints.elbow[side], joints.shoulder[side]))
}

/**
 * Unit vector across the upper arm towards its outer side, along which a sleeve runs from the shoulder tip: away from the trunk for a
 * hanging arm, upwards for a horizontal arm, towards the head for a raised arm.
 */
export function outerSide(keypoints: Pick<BodyKeypoints, 'joints' | 'right' | 'down'>, side: Side): Point {
  const along = upperArm(keypoints, side)
  const outside = outwards(keypoints, side)
  return subtract(scale(outside, dot(along, keypoints.down)), scale(keypoints.down, dot(along, outside)))
}

/** The point on the body's axis at the body coordinate F. */
export function axisAt({ shoulders, down, trunk }: BodyKeypoints, fraction: number): Point {
  return move(shoulders, down, trunk * fraction)
}
