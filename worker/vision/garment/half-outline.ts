import type { Point } from '../raster/plane.ts'
import { farthestAlong, nearestIndex } from './chain.ts'
import type { Shape } from './upright.ts'

/** −1 for the left half of the image, 1 for the right half. */
export type Side = -1 | 1

/**
 * One half of the outline, mirrored so that x grows away from the axis: from the collar over shoulder and sleeve down to
 * where it meets the axis at the hem.
 */
export interface HalfOutline {
  readonly side: Side
  readonly points: readonly Point[]
}

/** Median width of the body part in px, between 35 and 90 % of the height; 0 if the axis is empty there. */
export function torsoWidthOf(shape: Shape): number {
  const widths = bodyWidths(shape)
  return widths.length === 0 ? 0 : widths[widths.length >> 1]
}

/** Lower quartile of the width of the body part, which a flared hem does not widen. */
export function waistWidthOf(shape: Shape): number {
  const widths = bodyWidths(shape)
  return widths.length === 0 ? 0 : widths[widths.length >> 2]
}

// Of 24 rows, the narrowest first.
function bodyWidths({ mask, axis, top, height }: Shape): number[] {
  const widths: number[] = []
  for (let k = 0; k < 24; k++) {
    const row = Math.round(top + (0.35 + (0.55 * k) / 23) * height)
    const width = runAcross(mask, row, Math.round(axis))
    if (width > 0) widths.push(width)
  }
  return widths.sort((a, b) => a - b)
}

function runAcross({ width, data }: { width: number; data: Uint8Array }, row: number, column: number): number {
  const start = row * width
  if (!data[start + column]) return 0
  let left = column
  let right = column
  while (left > 0 && data[start + left - 1]) left--
  while (right < width - 1 && data[start + right + 1]) right++
  return right - left
}

export function halfOutline({ contour, top, height }: Shape, torsoWidth: number, side: Side): HalfOutline {
  const start = nearestIndex(contour, collarStart())
  const walks = [1, -1].map((step) => walkToAxis(contour, { start, step, side }))
  const points = walks[0][walks[0].length - 1].y >= walks[1][walks[1].length - 1].y ? walks[0] : walks[1]
  return { side, points: points.map(({ x, y }) => ({ x: x * side, y })) }

  function collarStart(): Point {
    const upper = contour.filter((p) => side * p.x > 0 && p.y < top + 0.35 * height)
    const collar = upper.filter((p) => side * p.x > 0.04 * torsoWidth && side * p.x < 0.13 * torsoWidth)
    const candidates = collar.length >= 3 ? collar : upper
    return candidates[farthestAlong(candidates, side * 0.28, -1)]
  }
}

function walkToAxis(
  contour: readonly Point[],
  { start, step, side }: { start: number; step: number; side: Side },
): Point[] {
  const points: Point[] = []
  for (let k = 0; k < contour.length; k++) {
    const point = contour[(start + step * k + contour.length) % contour.length]
    points.push(point)
    if (side * point.x <= 0) break
  }
  return points
}
