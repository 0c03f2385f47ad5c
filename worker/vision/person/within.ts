import { boundsOf, cropPlane } from '../raster/crop.ts'
import type { Size } from '../raster/plane.ts'
import { resizeAreaPlane } from '../raster/sample.ts'
import { pointAtSize } from '../raster/vector.ts'
import { type Box, movePoints, type Person } from './person.ts'

/** Crops a person to `part` of the bitmap: every position in px of `part`; null if the mask is empty there. */
export function personWithin(person: Person, part: Box): Person | null {
  const mask = cropPlane(person.mask, part)
  const box = boundsOf(mask, 0.5)
  if (!box) return null
  const points = movePoints(person, ({ x, y }) => ({ x: x - part.x, y: y - part.y }))
  return { ...person, ...points, mask, box }
}

/** Scales a person to another size of the bitmap. */
export function personAtSize(person: Person, size: Size): Person {
  const { mask, box } = person
  const x = size.width / mask.width
  const y = size.height / mask.height
  return {
    ...person,
    ...movePoints(person, (point) => pointAtSize(point, { x, y }), x),
    mask: resizeAreaPlane(mask, size),
    box: { x: box.x * x, y: box.y * y, width: box.width * x, height: box.height * y },
  }
}
