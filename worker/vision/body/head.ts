import type { Person } from '../person/person.ts'
import { windowAround } from '../raster/crop.ts'
import type { Mask } from '../raster/plane.ts'
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
  const head = fillPolygon(mask, face ?? [])
  const around = windowAround([nose], Math.max(HEAD.wide, HEAD.high) * size, mask)
  for (let y = around.y; y < around.y + around.height; y++)
    for (let x = around.x; x < around.x + around.width; x++) if (inside(x, y)) head.data[y * mask.width + x] = 1
  return head
}
