import type { Plane, Point, Size } from '../raster/plane.ts'
import { fillPolygon } from '../raster/polygon.ts'
import { pointAtSize } from '../raster/vector.ts'
import { revertChange, windowAround } from './revert-change.ts'

// In px of the change: width of the margin outside the outline that stays unchanged, because resampling mixes neighbouring
// pixels, and width over which the change fades in.
const MARGIN = 2
const EDGE = 3

/**
 * Reverts in place the change inside the outline of a face. `face` is in px of the `photo`; `change` can have another size. Inside the
 * outline the change is exactly 0, also after an upscale to the photo's size.
 */
export function protectFace(change: Plane, face: readonly Point[], photo: Size): void {
  const scale = { x: change.width / photo.width, y: change.height / photo.height }
  const outline = face.map((point) => pointAtSize(point, scale))
  const window = windowAround(outline, MARGIN + EDGE, change)
  if (window.width === 0 || window.height === 0) return
  const moved = outline.map(({ x, y }) => ({ x: x - window.x, y: y - window.y }))
  revertChange(change, fillPolygon(window, moved), { window, margin: MARGIN, edge: EDGE })
}
