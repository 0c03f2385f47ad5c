import type { Sides } from '../../../../vision/body/keypoints.ts'
import type { Point } from '../../../../vision/raster/plane.ts'

/** Distance between two chains at the same row of the garment, in garment px. */
export function widthAtRow([left, right]: Sides<readonly Point[]>, y: number): number {
  return Math.abs(crossing(right, y) - crossing(left, y))
}

// The point where a downward chain crosses the row.
function crossing(chain: readonly Point[], y: number): number {
  for (let i = 1; i < chain.length; i++) {
    const [a, b] = [chain[i - 1], chain[i]]
    if (a.y <= y && b.y >= y && b.y > a.y) return a.x + ((b.x - a.x) * (y - a.y)) / (b.y - a.y)
  }
  return (y < chain[0].y ? chain[0] : chain[chain.length - 1]).x
}
