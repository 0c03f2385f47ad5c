import type { Plane, Size } from '../raster/plane.ts'
import { resizeAreaPlane } from '../raster/sample.ts'
import { pointAtSize } from '../raster/vector.ts'
import { boundsOf } from './bounds.ts'
import { type Box, movePoints, type Person } from './person.ts'

/** The same person seen in a part of the picture: every position in px of `part`, the mask cut to it; null when none of it is left. */
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

/** The same person in the same picture at another size. */
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
