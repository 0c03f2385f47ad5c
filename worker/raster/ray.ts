import type { Plane, Point } from './plane.ts'
import { sampleBilinear } from './sample.ts'

/**
 * How far one can go from `from` along the unit vector `direction` before `cover` (0 to 1) falls below one half, in px;
 * 0 when it starts below, null when that does not happen within `reach` px. Outside of the plane nothing is covered.
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

/** Cover between pixels, 0 to 1; 0 outside of the plane. */
function coverAt(cover: Plane, x: number, y: number): number {
  if (x < -1 || y < -1 || x > cover.width || y > cover.height) return 0
  return sampleBilinear(cover, x, y)
}

/** The cover at `point` is at least one half. */
export function isCovered(cover: Plane, point: Point): boolean {
  return coverAt(cover, point.x, point.y) >= 0.5
}
