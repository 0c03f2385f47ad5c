import type { Models } from '../../worker/inference/models.ts'
import { cropAroundPerson, cropWithoutPerson } from '../../worker/vision/person/crop.ts'
import { findPerson } from '../../worker/vision/person/find-person.ts'
import type { KnownFigure } from './pair.ts'

/**
 * Deviation of the crop around the detected person from the crop that the same rule places around the true person: max distance of
 * two sides, in % of the frame.
 */
export async function cropError({ bitmap, box, joints }: KnownFigure, models: Models): Promise<number> {
  const person = await findPerson(bitmap, models)
  const found = person ? cropAroundPerson(person.box, bitmap, person.landmarks.nose) : cropWithoutPerson(bitmap)
  const right = cropAroundPerson(box, bitmap, joints.nose)
  const sides = [
    [(found.x - right.x) / bitmap.width, (found.x + found.width - right.x - right.width) / bitmap.width],
    [(found.y - right.y) / bitmap.height, (found.y + found.height - right.y - right.height) / bitmap.height],
  ]
  return 100 * Math.max(...sides.flat().map(Math.abs))
}
