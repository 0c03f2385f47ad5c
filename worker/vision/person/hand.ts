import type { Session } from '../../inference/session.ts'
import type { Point } from '../raster/plane.ts'
import type { Pyramid } from '../raster/pyramid.ts'
import { applyAffine } from '../raster/sample.ts'
import { between, distance, move, norm, subtract } from '../raster/vector.ts'
import type { Landmark, Person } from './person.ts'
import { type Region, regionToBitmap, viewRegion } from './region.ts'

const VIEW_SIZE = 224
const VALUES_PER_POINT = 3
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
  for (const region of regionsOfArm(arm, minSide)) {
    const rough = await locatePoints(pyramid, region, { session, minPresence: POSSIBLE })
    const hand = rough && (await locatePoints(pyramid, regionOfHand(rough), { session, minPresence: PRESENT }))
    if (hand && distance(hand[WRIST], wrist) < MAX_AWAY * region.side) return hand
  }
  return null
}

async function locatePoints(
  pyramid: Pyramid,
  region: Region,
  { session, minPresence }: { session: Session; minPresence: number },
): Promise<HandPoints | null> {
  const view = viewRegion(pyramid, region, { size: VIEW_SIZE, border: 'replicate', range: [0, 1] })
  const outputs = await session.run({ image: { shape: [1, VIEW_SIZE, VIEW_SIZE, 3], data: view } }, [
    'landmarks',
    'hand_flag',
  ])
  if (outputs.hand_flag.data[0] < minPresence) return null
  const raw = outputs.landmarks.data
  const map = regionToBitmap(region, VIEW_SIZE)
  return Array.from({ length: raw.length / VALUES_PER_POINT }, (_, i) =>
    applyAffine(map, { x: raw[i * VALUES_PER_POINT] - 0.5, y: raw[i * VALUES_PER_POINT + 1] - 0.5 }),
  )
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
  const length = Math.max(1e-6, norm(up.x, up.y))
  const [cos, sin] = [up.x / length, up.y / length]
  const along = NEAR_PALM.map((i) => hand[i].x * cos + hand[i].y * sin)
  const across = NEAR_PALM.map((i) => hand[i].y * cos - hand[i].x * sin)
  const [u, v] = [along, across].map((values) => (Math.min(...values) + Math.max(...values)) / 2)
  const widest = Math.max(...[along, across].map((values) => Math.max(...values) - Math.min(...values)))
  return regionAround({ x: u * cos - v * sin, y: u * sin + v * cos }, up, 2 * widest)
}

// The fingers point upwards in the region, with slightly more room above them than below the wrist.
function regionAround(middle: Point, up: Point, side: number): Region {
  const length = Math.max(1e-6, norm(up.x, up.y))
  return {
    centre: move(middle, { x: up.x / length, y: up.y / length }, 0.1 * side),
    side: Math.max(1, side),
    angle: Math.atan2(up.x, -up.y),
  }
}

function isSame(a: HandPoints, b: HandPoints): boolean {
  const apart = a.reduce((sum, point, i) => sum + distance(point, b[i]), 0) / a.length
  return apart < 0.5 * distance(a[WRIST], a[MIDDLE_BASE])
}
