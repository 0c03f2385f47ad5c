import type { Window } from '../raster/crop.ts'
import { distanceTo } from '../raster/distance.ts'
import type { Mask, Plane } from '../raster/plane.ts'

/**
 * Sets the change to exactly 0, in place, in `kept` and up to `margin` px around it. The change fades in over the next `edge`
 * px. `kept` covers the part of the change in `window`.
 */
export function revertChange(
  change: Plane,
  kept: Mask,
  { window, margin, edge }: { window: Window; margin: number; edge: number },
): void {
  const away = distanceTo(kept).data
  for (let row = 0, i = 0; row < window.height; row++) {
    const from = (window.y + row) * change.width + window.x
    for (let column = 0; column < window.width; column++, i++)
      change.data[from + column] *= Math.min(Math.max((away[i] - margin) / edge, 0), 1)
  }
}
