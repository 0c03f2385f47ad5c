import type { Person } from '../person/person.ts'
import type { Plane, Size } from '../raster/plane.ts'
import { keepFace } from './keep-face.ts'
import { keepHands } from './keep-hands.ts'

/** Takes back, in place, what was changed on the person's face and hands, whatever engine made the change. */
export function keepBody(change: Plane, { face, hands }: Pick<Person, 'face' | 'hands'>, photo: Size): void {
  if (face) keepFace(change, face, photo)
  keepHands(change, hands, photo)
}
