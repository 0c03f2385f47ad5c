import type { Person } from '../person/person.ts'
import { type Mask, maskWhere } from '../raster/plane.ts'
import { fillPolygon } from '../raster/polygon.ts'
import { between, distance, move, subtract, unit } from '../raster/vector.ts'
import type { BodyFrame } from './body-frame.ts'
import { HEAD } from './tuning.ts'

/** The face with ears. The region below the chin belongs to the garment: a neck painted over a collar looks like a cutout. */
export function findHead({ landmarks, mask, face }: Person, body: BodyFrame): Mask {
  const { nose, leftEye, rightEye, leftEar, rightEar, mouthLeft, mouthRight } = landmarks
  const size = Math.max(distance(leftEye, rightEye), 0.1 * body.unit, 0.5 * distance(leftEar, rightEar))
  const mouth = between(mouthLeft, mouthRight, 0.5)
  const up = unit(subtract(between(leftEye, rightEye, 0.5), mouth))
  // Below this point only the face outline separates jaw and neck.
  const lowest = face ? mouth : move(mouth, subtract(mouth, nose), HEAD.jaw)
  const inside = (x: number, y: number) => {
    const high = (x - nose.x) * up.x + (y - nose.y) * up.y
    const wide = (x - nose.x) * up.y - (y - nose.y) * up.x
    if ((x - lowest.x) * up.x + (y - lowest.y) * up.y <= 0) return false
    return (wide / (HEAD.wide * size)) ** 2 + (high / (HEAD.high * size)) ** 2 <= 1
  }
  const outlined = fillPolygon(mask, face ?? [])
  return maskWhere(mask, (i) => outlined.data[i] === 1 || inside(i % mask.width, Math.floor(i / mask.width)))
}
