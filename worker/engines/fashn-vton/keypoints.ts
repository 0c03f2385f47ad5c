import type { Point } from '../../raster/plane.ts'

export interface Keypoint extends Point {
  /** How sure it is, 0 to 1. */
  readonly score: number
}

/**
 * One person by the 133 points of COCO-WholeBody, in px of the picture: 0 to 16 the body, 17 to 22 the feet, 23 to 90 the face, 91 to
 * 111 the left hand, 112 to 132 the right one.
 */
export type WholeBody = readonly Keypoint[]

/** A person as the model knows skeletons: places in whole px, null where nothing is to be drawn. */
export interface Pose {
  /** OpenPose's 18: nose, neck, right shoulder, elbow, wrist, left ones, right hip, knee, ankle, left ones, right eye, left eye, ears. */
  readonly joints: readonly (Point | null)[]
  readonly hands: readonly [left: readonly (Point | null)[], right: readonly (Point | null)[]]
  readonly face: readonly (Point | null)[]
}

export const WHOLE_BODY = 133
const MIN_SCORE = 0.3
const LEFT_SHOULDER = 5
const RIGHT_SHOULDER = 6
/** Which of the body's 17 points, or the neck as the 18th, each joint is. */
const NECK = 17
const JOINTS = [0, NECK, 6, 8, 10, 5, 7, 9, 12, 14, 16, 11, 13, 15, 2, 1, 4, 3]
/** Those that say how much of a person is seen: neck, arms, legs. */
const JUDGED = { from: 1, to: 14 }

/**
 * The pose of the person who is drawn: of several the one who is seen best and largest. A joint counts above a score of 0.3, a point of
 * face or hands from there on. All null when there is no person.
 * Source: FASHN VTON v1.5 at 7c0f10a, whose choice is kept with its quirk: the first person's seen joints measure everybody.
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

// Divided and multiplied back before it is cut to whole px, as the model's own pre-processing does: the last bit can decide.
function placeOf({ x, y }: Point, { width, height }: { width: number; height: number }): Point {
  return { x: Math.trunc((x / width) * width), y: Math.trunc((y / height) * height) }
}
