import type { Plane, Point, Size } from '../raster/plane.ts'
import { fillPolygon } from '../raster/polygon.ts'
import { pointAtSize } from '../raster/vector.ts'
import { takeBack, windowAround } from './take-back.ts'

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
  const window = windowAround(outline, MARGIN + EDGE, change)
  if (window.width === 0 || window.height === 0) return
  const moved = outline.map(({ x, y }) => ({ x: x - window.x, y: y - window.y }))
  takeBack(change, fillPolygon(window, moved), { window, margin: MARGIN, edge: EDGE })
}
