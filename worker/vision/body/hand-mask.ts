import { drawHands } from '../person/hand-area.ts'
import type { Person } from '../person/person.ts'
import type { Plane } from '../raster/plane.ts'

// Above it a pixel is certainly a hand.
const SURE = 0.9

/** Adds to the person's mask the pixels of the hands that were found, which it can miss. */
export function completeHands(person: Person): Person {
  if (person.hands.length === 0) return person
  const mask: Plane = { ...person.mask, data: person.mask.data.slice() }
  const seen = drawHands(mask, person.hands)
  for (let i = 0; i < mask.data.length; i++) if (seen.data[i] > SURE) mask.data[i] = 1
  return { ...person, mask }
}
