import type { Point } from '../../vision/raster/plane.ts'

export interface Keypoint extends Point {
  /** Confidence, 0 to 1. */
  readonly score: number
}

/**
 * One person as the 133 keypoints of COCO-WholeBody, in px of the bitmap: 0 to 16 body, 17 to 22 feet, 23 to 90 face, 91 to 111 left
 * hand, 112 to 132 right hand.
 */
export type WholeBody = readonly Keypoint[]

/** A person in the model's skeleton format: positions in whole px, null for points that are not drawn. */
export interface Pose {
  /**
   * The 18 joints of OpenPose: nose, neck, right shoulder, elbow, wrist, left ones, right hip, knee, ankle, left ones, right eye, left eye,
   * ears.
   */
  readonly joints: readonly (Point | null)[]
  readonly hands: readonly [left: readonly (Point | null)[], right: readonly (Point | null)[]]
  readonly face: readonly (Point | null)[]
}

export const WHOLE_BODY = 133
const MIN_SCORE = 0.3
const LEFT_SHOULDER = 5
const RIGHT_SHOULDER = 6
/** Index of each joint among the body's 17 points; the neck is the 18th. */
const NECK = 17
const JOINTS = [0, NECK, 6, 8, 10, 5, 7, 9, 12, 14, 16, 11, 13, 15, 2, 1, 4, 3]
/** Joints that measure how completely a person is visible: neck, arms, legs. */
const JUDGED = { from: 1, to: 14 }

/**
 * The pose of the main person: the most visible and largest one. A joint counts above a score of 0.3, a point of face or hands from
 * 0.3. All null if there is no person.
 * Source: FASHN VTON v1.5 at 7c0f10a, including its quirk: the first person's visible joints select the joints that measure all people.
 */
export function poseOf(people: readonly WholeBody[], size: { width: number; height: number }): Pose {
  const bodies = people.map(bodyOf)
  const chosen = bodies.length > 1 ? choosePerson(bodies) : 0
  const body = bodies[chosen] ?? []
  const person = people[chosen] ?? []
  const details = (from: number, to: number) =>
    person.slice(from, to).map((point) => {
      const place = point.score >= MIN_SCORE ? placeOf(point, size) : null
      return place && place.x >= 1 && place.y >= 1 ? place : null
    })
  return {
    joints: body.map((joint) => (joint.score > MIN_SCORE ? placeOf(joint, size) : null)),
    hands: [details(91, 112), details(112, 133)],
    face: details(23, 91),
  }
}

function bodyOf(person: WholeBody): Keypoint[] {
  const [left, right] = [person[LEFT_SHOULDER], person[RIGHT_SHOULDER]]
  const seen = left.score > MIN_SCORE && right.score > MIN_SCORE
  const neck = { x: (left.x + right.x) / 2, y: (left.y + right.y) / 2, score: seen ? 1 : 0 }
  return JOINTS.map((joint) => (joint === NECK ? neck : person[joint]))
}

function choosePerson(bodies: readonly Keypoint[][]): number {
  const judged = bodies.map((body) => body.slice(JUDGED.from, JUDGED.to))
  const seen = judged[0].map(({ score }) => score > MIN_SCORE)
  const totals = judged.map((body) => body.reduce((sum, { score }) => sum + (score > MIN_SCORE ? score : 0), 0))
  const worth = judged.map((body, i) => totals[i] * areaOf(body.filter((_, joint) => seen[joint])))
  return indexOfLargest(worth.every((value) => value === 0) ? totals : worth)
}

function areaOf(points: readonly Point[]): number {
  const [width, height] = (['x', 'y'] as const).map((axis) => {
    const values = points.map((point) => point[axis]).filter((value) => value > 0)
    return values.length === 0 ? 0 : Math.max(...values) - Math.min(...values)
  })
  return width * height
}

function indexOfLargest(values: readonly number[]): number {
  return values.reduce((best, value, i) => (value > values[best] ? i : best), 0)
}

// Divided and multiplied back before truncation to whole px, as in the model's own pre-processing: the last bit can decide.
function placeOf({ x, y }: Point, { width, height }: { width: number; height: number }): Point {
  return { x: Math.trunc((x / width) * width), y: Math.trunc((y / height) * height) }
}
