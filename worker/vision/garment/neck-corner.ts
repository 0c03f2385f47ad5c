import type { Point } from '../raster/plane.ts'
import { farthestAlong } from './chain.ts'
import type { Side } from './half-outline.ts'
import type { Shape } from './upright.ts'

/**
 * The points where collar and shoulder line meet, [left, right], in px of the shape: the outline's highest points between 9
 * and 40 % of the torso width from the axis. `shoulders` are the shoulder tips of the halves; x grows away from the axis.
 */
export function findNeckCorners(
  shape: Shape,
  torsoWidth: number,
  shoulders: readonly [Point, Point],
): readonly [Point, Point] {
  const corner = (side: Side, shoulder: Point) => {
    const farthest = Math.max(0.16 * torsoWidth, Math.min(0.4 * torsoWidth, shoulder.x - 0.03 * torsoWidth))
    return highest(shape, side, { from: 0.09 * torsoWidth, to: farthest }) ?? { x: side * shoulder.x, y: shoulder.y }
  }
  const left = corner(-1, shoulders[0])
  const right = corner(1, shoulders[1])
  const inner = Math.min(-left.x, right.x)
  // The corners must mirror each other: search the outer one again at the distance of the inner one.
  const range = { from: inner - 0.05 * torsoWidth, to: inner + 0.05 * torsoWidth }
  if (-left.x - inner > 0.07 * torsoWidth) return [highest(shape, -1, range) ?? left, right]
  if (right.x - inner > 0.07 * torsoWidth) return [left, highest(shape, 1, range) ?? right]
  return [left, right]
}

function highest(
  { contour, top, height }: Shape,
  side: Side,
  { from, to }: { from: number; to: number },
): Point | null {
  const points = contour.filter((p) => side * p.x > from && side * p.x < to && p.y < top + 0.4 * height)
  return points.length === 0 ? null : points[farthestAlong(points, side * 0.04, -1)]
}
