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
  /** Probability that the point is in the image and not hidden, 0 to 1. */
  readonly visibility: number
  /** Probability that the point is in the image, 0 to 1. */
  readonly presence: number
}

/** A rectangle in px. Right and bottom are exclusive if the values are integers. */
export interface Box {
  readonly x: number
  readonly y: number
  readonly width: number
  readonly height: number
}

/** A hand from the wrist to the fingertips. */
export interface Hand {
  /** MediaPipe's 21 points of a hand, in px of the bitmap. */
  readonly points: readonly Point[]
  /** Share of each pixel that the hand covers, 0 to 1, in a small bitmap around the hand. */
  readonly share: Plane
  /** Positions of the first and the last pixel of `share`, in px of the bitmap. */
  readonly first: Point
  readonly last: Point
}

/** One person in a bitmap. Every position is in px of that bitmap. */
export interface Person {
  readonly landmarks: Readonly<Record<LandmarkName, Landmark>>
  /** The outline of the face from the forehead past the chin; null if the face is not visible. */
  readonly face: readonly Point[] | null
  /** The clearly visible hands. */
  readonly hands: readonly Hand[]
  /** Share of each pixel that belongs to the person, 0 to 1, height × width of the bitmap. */
  readonly mask: Plane
  /** Bounds of the mask, clipped to the bitmap. */
  readonly box: Box
  /** Score of the detector and presence of the landmark model, both 0 to 1. */
  readonly score: number
  readonly presence: number
  /** Number of people that the detector found in the bitmap. */
  readonly people: number
}

/** Applies `move` to all points of the person. `move` scales lengths in px by `scale`, which also scales a landmark's depth. */
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

/** Applies `move`, which must not rotate, to the hand. */
export function moveHand({ points, share, first, last }: Hand, move: (point: Point) => Point): Hand {
  return { points: points.map(move), share, first: move(first), last: move(last) }
}
