import type { Plane, Point } from './plane.ts'
import { sampleBilinear } from './sample.ts'

/**
 * Distance in px from `from` along the unit vector `direction` to the first point with `cover` (0 to 1) below 0.5; 0 if
 * `from` is below 0.5, null if there is no such point within `reach` px. Cover is 0 outside the plane.
 */
export function distanceToEdge(
  cover: Plane,
  from: Point,
  { direction, reach }: { direction: Point; reach: number },
): number | null {
  let before = 0.5
  for (let way = 0; way < reach; way++) {
    const value = coverAt(cover, from.x + direction.x * way, from.y + direction.y * way)
    if (value < 0.5) return way === 0 ? 0 : way - 1 + (before - 0.5) / (before - value)
    before = value
  }
  return null
}

/** Cover between pixels, 0 to 1; 0 outside the plane. */
function coverAt(cover: Plane, x: number, y: number): number {
  if (x < -1 || y < -1 || x > cover.width || y > cover.height) return 0
  return sampleBilinear(cover, x, y)
}

/** Whether the cover at `point` is at least 0.5. */
export function isCovered(cover: Plane, point: Point): boolean {
  return coverAt(cover, point.x, point.y) >= 0.5
}
