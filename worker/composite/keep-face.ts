import { distanceTo } from '../raster/distance.ts'
import type { Plane, Point, Size } from '../raster/plane.ts'
import { fillPolygon } from '../raster/polygon.ts'
import { pointAtSize } from '../raster/vector.ts'

// In px of the change: so far outside of the outline nothing is changed either, because a pixel of the photo is mixed from those
// around it, and over so many more the change sets in.
const MARGIN = 2
const EDGE = 3

/**
 * Takes back what was changed inside of a face's outline, in place: no garment belongs there. `face` is in px of the `photo`;
 * `change` may have another size than it. Inside of the outline the change is exactly 0, also after it was enlarged to the photo's size.
 */
export function keepFace(change: Plane, face: readonly Point[], photo: Size): void {
  const scale = { x: change.width / photo.width, y: change.height / photo.height }
  const outline = face.map((point) => pointAtSize(point, scale))
  const reach = MARGIN + EDGE
  const left = clip(Math.floor(Math.min(...outline.map(({ x }) => x))) - reach, change.width)
  const right = clip(Math.ceil(Math.max(...outline.map(({ x }) => x))) + reach + 1, change.width)
  const top = clip(Math.floor(Math.min(...outline.map(({ y }) => y))) - reach, change.height)
  const bottom = clip(Math.ceil(Math.max(...outline.map(({ y }) => y))) + reach + 1, change.height)
  const size = { width: right - left, height: bottom - top }
  if (size.width <= 0 || size.height <= 0) return
  const moved = outline.map(({ x, y }) => ({ x: x - left, y: y - top }))
  const away = distanceTo(fillPolygon(size, moved)).data
  for (let row = 0, i = 0; row < size.height; row++) {
    const from = (top + row) * change.width + left
    for (let column = 0; column < size.width; column++, i++)
      change.data[from + column] *= clip((away[i] - MARGIN) / EDGE, 1)
  }
}

function clip(value: number, most: number): number {
  return Math.min(Math.max(value, 0), most)
}
