import type { Person } from '../person/person.ts'
import type { Plane, Size } from '../raster/plane.ts'
import { protectFace } from './protect-face.ts'
import { protectHands } from './protect-hands.ts'

/** Reverts in place the change on the person's face and hands, for any engine. */
export function protectBody(change: Plane, { face, hands }: Pick<Person, 'face' | 'hands'>, photo: Size): void {
  if (face) protectFace(change, face, photo)
  protectHands(change, hands, photo)
}
