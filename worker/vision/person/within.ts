import type { Plane, Size } from '../raster/plane.ts'
import { resizeAreaPlane } from '../raster/sample.ts'
import { pointAtSize } from '../raster/vector.ts'
import { boundsOf } from './bounds.ts'
import { type Box, movePoints, type Person } from './person.ts'

/** Crops a person to `part` of the bitmap: every position in px of `part`; null if the mask is empty there. */
export function personWithin(person: Person, part: Box): Person | null {
  const mask = cut(person.mask, part)
  const box = boundsOf(mask, (value) => value > 0.5)
  if (!box) return null
  const points = movePoints(person, ({ x, y }) => ({ x: x - part.x, y: y - part.y }))
  return { ...person, ...points, mask, box }
}

function cut({ width, data }: Plane, part: Box): Plane {
  const out = new Float32Array(part.width * part.height)
  for (let y = 0; y < part.height; y++) {
    const from = (part.y + y) * width + part.x
    out.set(data.subarray(from, from + part.width), y * part.width)
  }
  return { width: part.width, height: part.height, data: out }
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
