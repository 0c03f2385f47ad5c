import { cropBitmap } from '../../../api/shared/image/image.ts'
import type { Session } from '../../inference/session.ts'
import { type Lab, rgbToLab } from '../raster/colour.ts'
import { windowAround } from '../raster/crop.ts'
import { erode } from '../raster/morphology.ts'
import { bitmapToColours, type Point } from '../raster/plane.ts'
import { fillPolygon } from '../raster/polygon.ts'
import { levelFor, type Pyramid } from '../raster/pyramid.ts'
import { medianOf } from '../raster/statistics.ts'
import { between, norm, subtract } from '../raster/vector.ts'
import type { Person } from './person.ts'
import { locatePoints, type Region, regionOfPoints } from './region.ts'

const VIEW_SIZE = 192
// Points of the face mesh, in order: around the face from the top of the forehead (10) past the chin (152).
const OUTLINE = [
  10, 338, 297, 332, 284, 251, 389, 356, 454, 323, 361, 288, 397, 365, 379, 378, 400, 377, 152, 148, 176, 149, 150, 136,
  172, 58, 132, 93, 234, 127, 162, 21, 54, 103, 67, 109,
]
const RIGHT_EYE = 33
const LEFT_EYE = 263

/**
 * The outline of a face from the forehead past the chin, in px of the bitmap, by MediaPipe's face mesh; null if the body's
 * landmarks do not show a visible face. The outline can leave the bitmap with the face.
 */
export async function locateFace(
  pyramid: Pyramid,
  { landmarks }: Pick<Person, 'landmarks'>,
  session: Session,
): Promise<readonly Point[] | null> {
  // The flag is a logit.
  const model = { session, size: VIEW_SIZE, flag: 'face_flag', least: 0 }
  const rough = await locatePoints(pyramid, regionOfLandmarks(landmarks), model)
  const mesh = rough && (await locatePoints(pyramid, regionOfMesh(rough), model))
  return mesh && OUTLINE.map((i) => mesh[i])
}

// A face is about 2.6 times as high as the distance from its eyes to its mouth; the model expects 1.5 times that.
const SIDE_OF_EYES_TO_MOUTH = 4

function regionOfLandmarks({ leftEye, rightEye, mouthLeft, mouthRight }: Person['landmarks']): Region {
  const eyes = between(leftEye, rightEye, 0.5)
  const mouth = between(mouthLeft, mouthRight, 0.5)
  const down = subtract(mouth, eyes)
  // The less foreshortened of the two.
  const length = Math.max(norm(down.x, down.y), norm(leftEye.x - rightEye.x, leftEye.y - rightEye.y))
  return {
    centre: between(eyes, mouth, 0.4),
    side: Math.max(1, SIDE_OF_EYES_TO_MOUTH * length),
    angle: Math.atan2(-down.x, down.y),
  }
}

function regionOfMesh(mesh: readonly Point[]): Region {
  const { x, y } = subtract(mesh[LEFT_EYE], mesh[RIGHT_EYE])
  return regionOfPoints(mesh, { x: y, y: -x }, 1.5)
}

// Height in px at which the colour of a face is measured, and the share of it that its edge is excluded by.
const HEIGHT = 48
const EDGE = 0.12

/** Median colour of a face inside its outline (px of the pyramid's bitmap), in CIE Lab; null if it is outside of the bitmap. */
export function faceColour(pyramid: Pyramid, outline: readonly Point[]): Lab | null {
  const ys = outline.map(({ y }) => y)
  const height = Math.max(...ys) - Math.min(...ys)
  const level = levelFor(Math.max(1, height), HEIGHT)
  const bitmap = pyramid.level(level)
  const small = outline.map(({ x, y }) => ({ x: x / 2 ** level, y: y / 2 ** level }))
  const window = windowAround(small, 0, bitmap)
  if (window.width === 0 || window.height === 0) return null
  const lab = rgbToLab(bitmapToColours(cropBitmap(bitmap, window)))
  const inside = fillPolygon(
    window,
    small.map(({ x, y }) => ({ x: x - window.x, y: y - window.y })),
  )
  const middle = erode(inside, EDGE * window.height)
  return [medianOf(lab, middle, 0), medianOf(lab, middle, 1), medianOf(lab, middle, 2)]
}
