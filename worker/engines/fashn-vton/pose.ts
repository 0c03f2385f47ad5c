import type { LandmarkName, Person } from '../../vision/person/person.ts'
import type { Size } from '../../vision/raster/plane.ts'
import { type Keypoint, WHOLE_BODY, type WholeBody } from './keypoints.ts'

/** BlazePose's names of the 17 COCO body points, in COCO order. */
const BODY: readonly LandmarkName[] = [
  ...(['nose', 'leftEye', 'rightEye', 'leftEar', 'rightEar'] as const),
  ...(['leftShoulder', 'rightShoulder', 'leftElbow', 'rightElbow', 'leftWrist', 'rightWrist'] as const),
  ...(['leftHip', 'rightHip', 'leftKnee', 'rightKnee', 'leftAnkle', 'rightAnkle'] as const),
]
const UNSEEN: Keypoint = { x: 0, y: 0, score: 0 }

/**
 * Converts a person found by BlazePose in an image of `size` to the points of a skeleton, in px of `target`. Fingers and face are
 * invisible: BlazePose does not detect them.
 */
export function wholeBodyOf({ landmarks }: Pick<Person, 'landmarks'>, size: Size, target: Size): WholeBody {
  const body = BODY.map((name) => {
    const { x, y, visibility } = landmarks[name]
    return {
      x: ((x + 0.5) * target.width) / size.width - 0.5,
      y: ((y + 0.5) * target.height) / size.height - 0.5,
      score: visibility,
    }
  })
  return [...body, ...Array<Keypoint>(WHOLE_BODY - BODY.length).fill(UNSEEN)]
}
