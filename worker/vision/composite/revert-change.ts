import type { Window } from '../raster/crop.ts'
import { distanceTo } from '../raster/distance.ts'
import type { Mask, Plane, Point, Size } from '../raster/plane.ts'

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

/** The part of a bitmap within `room` px of the bounds of some points. */
export function windowAround(points: readonly Point[], room: number, { width, height }: Size): Window {
  const [xs, ys] = [points.map(({ x }) => x), points.map(({ y }) => y)]
  const x = clip(Math.floor(Math.min(...xs)) - room, width)
  const y = clip(Math.floor(Math.min(...ys)) - room, height)
  const right = clip(Math.ceil(Math.max(...xs)) + room + 1, width)
  const bottom = clip(Math.ceil(Math.max(...ys)) + room + 1, height)
  return { x, y, width: right - x, height: bottom - y }
}

function clip(value: number, max: number): number {
  return Math.min(Math.max(value, 0), max)
}
