import type { Session } from '../../inference/session.ts'
import type { Person } from '../../vision/person/person.ts'
import { viewRegion } from '../../vision/person/region.ts'
import type { Bitmap, Point } from '../../vision/raster/plane.ts'
import { createPyramid } from '../../vision/raster/pyramid.ts'

/** Name of the age model in the model folder. */
export const AGE_MODEL = 'age'

/** Estimated age, in years, below which a photo needs a review by a person. */
export const ADULT = 18

const SIDE = 112
/** The model expects the box around brows, jaw and chin, a tenth wider on each side: in shares of the outline of the face. */
const BOX = { top: 0.07, bottom: 0.065, side: 0.09 }
/** A face that is smaller, in px, has lost the details that show its age. */
const MIN_SIDE = 45
/** Max distance of the nose from the middle of the face, as a share of its width: the face is turned. */
const MAX_TURN = 0.2
/** Max angle of the line through the eyes, in radians: the face is tilted. */
const MAX_TILT = Math.PI / 6

/**
 * Estimates the age of the person in years; null if the face is hidden, small, turned, tilted, or partly outside the RGB bitmap.
 * The estimate is wrong by 5 years on average: compare it with a threshold only, and never store, log or return it.
 * @throws Error if the model returns NaN, which no threshold would refuse
 */
export async function estimateAge(
  bitmap: Bitmap,
  person: Pick<Person, 'face' | 'landmarks'>,
  session: Session,
): Promise<number | null> {
  const region = regionOfFace(bitmap, person)
  if (region === null) return null
  const data = viewRegion(createPyramid(bitmap), region, { size: SIDE, border: 'replicate', range: [0, 1] })
  const { age } = await session.run({ image: { shape: [1, SIDE, SIDE, 3], data } })
  if (Number.isNaN(age.data[0])) throw new Error('The age model returned NaN.')
  return age.data[0]
}

function regionOfFace(bitmap: Bitmap, { face, landmarks }: Pick<Person, 'face' | 'landmarks'>) {
  if (face === null) return null
  const [left, right] = rangeOf(face.map(({ x }) => x))
  const [top, bottom] = rangeOf(face.map(({ y }) => y))
  const [width, height] = [right - left, bottom - top]
  const from = { x: left - BOX.side * width, y: top + BOX.top * height }
  const to = { x: right + BOX.side * width, y: bottom + BOX.bottom * height }
  const side = Math.max(to.x - from.x, to.y - from.y)
  const isWhole = from.x >= 0 && from.y >= 0 && to.x < bitmap.width && to.y < bitmap.height
  const { nose, leftEye, rightEye } = landmarks
  const turn = Math.abs(nose.x - (left + right) / 2) / width
  const tilt = Math.abs(Math.atan2(leftEye.y - rightEye.y, leftEye.x - rightEye.x))
  if (!isWhole || side < MIN_SIDE || turn > MAX_TURN || tilt > MAX_TILT) return null
  const centre: Point = { x: (from.x + to.x) / 2, y: (from.y + to.y) / 2 }
  return { centre, side, angle: 0 }
}

function rangeOf(values: readonly number[]): readonly [number, number] {
  return [Math.min(...values), Math.max(...values)]
}
