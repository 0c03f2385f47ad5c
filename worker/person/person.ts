import type { Plane, Point } from '../raster/plane.ts'

/** BlazePose's names for its 33 body landmarks, in the model's order; left and right are the person's own. */
export const LANDMARKS = [
  'nose',
  'leftEyeInner',
  'leftEye',
  'leftEyeOuter',
  'rightEyeInner',
  'rightEye',
  'rightEyeOuter',
  'leftEar',
  'rightEar',
  'mouthLeft',
  'mouthRight',
  'leftShoulder',
  'rightShoulder',
  'leftElbow',
  'rightElbow',
  'leftWrist',
  'rightWrist',
  'leftPinky',
  'rightPinky',
  'leftIndex',
  'rightIndex',
  'leftThumb',
  'rightThumb',
  'leftHip',
  'rightHip',
  'leftKnee',
  'rightKnee',
  'leftAnkle',
  'rightAnkle',
  'leftHeel',
  'rightHeel',
  'leftFootIndex',
  'rightFootIndex',
] as const

export type LandmarkName = (typeof LANDMARKS)[number]

export interface Landmark extends Point {
  /** Depth in px, negative towards the camera, relative to the hips. */
  readonly z: number
  /** Probability that the point is in the picture and not hidden, 0 to 1. */
  readonly visibility: number
  /** Probability that the point is in the picture at all, 0 to 1. */
  readonly presence: number
}

/** A rectangle in px, right and bottom exclusive when the values are whole. */
export interface Box {
  readonly x: number
  readonly y: number
  readonly width: number
  readonly height: number
}

/** A hand from the wrist to the tips of the fingers. */
export interface Hand {
  /** MediaPipe's 21 points of a hand, in px of the picture. */
  readonly points: readonly Point[]
  /** How much of each pixel of a small picture around it the hand has, 0 to 1. */
  readonly share: Plane
  /** Where the first and the last pixel of `share` lie, in px of the picture. */
  readonly first: Point
  readonly last: Point
}

/** One person as seen in a picture; every position is in that picture's px. */
export interface Person {
  readonly landmarks: Readonly<Record<LandmarkName, Landmark>>
  /** The outline of the face from the forehead past the chin; null when it is not seen. */
  readonly face: readonly Point[] | null
  /** The hands that are seen well. */
  readonly hands: readonly Hand[]
  /** Share of each pixel that belongs to the person, 0 to 1, height × width of the picture. */
  readonly mask: Plane
  /** Bounds of the mask, clipped to the picture. */
  readonly box: Box
  /** Detector score and the landmark model's own "there is a person here", both 0 to 1. */
  readonly score: number
  readonly presence: number
  /** How many people the detector saw in the picture. */
  readonly people: number
}

/** The person's points after `move`, which makes every length in px `scale` times as long: a landmark's depth too. */
export function movePoints(
  { landmarks, face, hands }: Person,
  move: (point: Point) => Point,
  scale = 1,
): Pick<Person, 'landmarks' | 'face' | 'hands'> {
  const moved = Object.entries(landmarks).map(([name, landmark]) => [
    name,
    { ...landmark, ...move(landmark), z: landmark.z * scale },
  ])
  return {
    landmarks: Object.fromEntries(moved) as Person['landmarks'],
    face: face?.map(move) ?? null,
    hands: hands.map((hand) => moveHand(hand, move)),
  }
}

/** The hand after `move`, which must not turn it. */
export function moveHand({ points, share, first, last }: Hand, move: (point: Point) => Point): Hand {
  return { points: points.map(move), share, first: move(first), last: move(last) }
}
