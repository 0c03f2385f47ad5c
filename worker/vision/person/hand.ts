import type { Session } from '../../inference/session.ts'
import type { Point } from '../raster/plane.ts'
import type { Pyramid } from '../raster/pyramid.ts'
import { between, distance, move, subtract, unit } from '../raster/vector.ts'
import type { Landmark, Person } from './person.ts'
import { locatePoints, type Region, regionOfPoints } from './region.ts'

const VIEW_SIZE = 224
// The model's hand presence: min to try again, and min to accept.
const POSSIBLE = 0.2
const PRESENT = 0.5

/** Indices of some points in MediaPipe's order: the wrist, then four points per finger from base to tip. */
export const WRIST = 0
export const INDEX_BASE = 5
export const MIDDLE_BASE = 9
export const RING_BASE = 13
export const PINKY_BASE = 17

/** The 21 points of a hand in px of the bitmap. */
export type HandPoints = readonly Point[]

type Arm = readonly [wrist: Landmark, index: Landmark, pinky: Landmark]

/** The points of both hands, by the person's own left and right; null for a hand that is not clearly visible at the end of its arm. */
export async function locateHands(
  pyramid: Pyramid,
  { landmarks }: Pick<Person, 'landmarks'>,
  session: Session,
): Promise<Readonly<Record<'left' | 'right', HandPoints | null>>> {
  const { leftWrist, leftIndex, leftPinky, rightWrist, rightIndex, rightPinky } = landmarks
  const minSide = MIN_OF_SHOULDERS * distance(landmarks.leftShoulder, landmarks.rightShoulder)
  const left = await locateHand(pyramid, [leftWrist, leftIndex, leftPinky], { minSide, session })
  const right = await locateHand(pyramid, [rightWrist, rightIndex, rightPinky], { minSide, session })
  if (!left || !right || !isSame(left, right)) return { left, right }
  // Both arms lead to the same hand: the hand belongs to the arm with the nearer wrist.
  const isLeft = distance(left[WRIST], leftWrist) < distance(right[WRIST], rightWrist)
  return isLeft ? { left, right: null } : { left: null, right }
}

// Max distance between a hand's wrist and the arm's end, as a share of the region.
const MAX_AWAY = 0.3

async function locateHand(
  pyramid: Pyramid,
  arm: Arm,
  { minSide, session }: { minSide: number; session: Session },
): Promise<HandPoints | null> {
  const [wrist] = arm
  const { width, height } = pyramid.size
  if (wrist.presence < PRESENT || wrist.x < 0 || wrist.y < 0 || wrist.x > width - 1 || wrist.y > height - 1) return null
  const model = { session, size: VIEW_SIZE, flag: 'hand_flag' }
  for (const region of regionsOfArm(arm, minSide)) {
    const rough = await locatePoints(pyramid, region, { ...model, least: POSSIBLE })
    const hand = rough && (await locatePoints(pyramid, regionOfHand(rough), { ...model, least: PRESENT }))
    if (hand && distance(hand[WRIST], wrist) < MAX_AWAY * region.side) return hand
  }
  return null
}

// A hand is about twice as long as the distance from wrist to knuckles; in a larger view the model misses small hands.
const SIDE_OF_PALM = 3.2
// A hand that points to the camera is as wide as any other hand.
const MIN_OF_SHOULDERS = 0.55
const WIDER = 1.5

function regionsOfArm([wrist, index, pinky]: Arm, minSide: number): readonly Region[] {
  const knuckles = between(index, pinky, 1 / 3)
  const side = Math.max(minSide, SIDE_OF_PALM * distance(knuckles, wrist))
  return [side, WIDER * side].map((length) => regionAround(knuckles, subtract(knuckles, wrist), length))
}

// Without the fingertips: MediaPipe's region is twice as wide as the box around these points.
const NEAR_PALM = [0, 1, 2, 3, 5, 6, 9, 10, 13, 14, 17, 18]

function regionOfHand(hand: HandPoints): Region {
  const knuckles = between(between(hand[INDEX_BASE], hand[RING_BASE], 0.5), hand[MIDDLE_BASE], 0.5)
  const up = subtract(knuckles, hand[WRIST])
  const around = regionOfPoints(
    NEAR_PALM.map((i) => hand[i]),
    up,
    2,
  )
  return regionAround(around.centre, up, around.side)
}

// The fingers point upwards in the region, with slightly more room above them than below the wrist.
function regionAround(middle: Point, up: Point, side: number): Region {
  return { centre: move(middle, unit(up), 0.1 * side), side: Math.max(1, side), angle: Math.atan2(up.x, -up.y) }
}

function isSame(a: HandPoints, b: HandPoints): boolean {
  const apart = a.reduce((sum, point, i) => sum + distance(point, b[i]), 0) / a.length
  return apart < 0.5 * distance(a[WRIST], a[MIDDLE_BASE])
}
