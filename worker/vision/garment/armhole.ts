import { findBays } from '../raster/contour.ts'
import type { Point } from '../raster/plane.ts'
import { resample } from '../raster/polyline.ts'
import { bestCorners, farthestAlong, nearestIndex } from './chain.ts'
import type { Side } from './half-outline.ts'
import type { Shape } from './upright.ts'

interface Armhole {
  /** Indices of shoulder tip and armpit on the half outline. */
  readonly shoulder: number
  readonly armpit: number
}

/** Start and end of a sleeveless garment's armhole on the half outline `points`. */
export function findArmhole(
  points: readonly Point[],
  { shape, torsoWidth }: { shape: Shape; torsoWidth: number },
): Armhole {
  return armholeAsBay(points, shape, torsoWidth) ?? armholeAsCorners(points, shape, torsoWidth)
}

// A cut-out armhole is the bay between shoulder tip and armpit, which are corners of the chest's convex hull.
function armholeAsBay(points: readonly Point[], { top, height }: Shape, torsoWidth: number): Armhole | null {
  const below = points.findIndex((p) => p.y > top + 0.75 * torsoWidth)
  const chest = points.slice(0, below < 0 ? points.length : below)
  if (chest.length < 8) return null
  const outline = [...chest, { x: 0, y: chest[chest.length - 1].y }, { x: 0, y: chest[0].y }]
  const holes = findBays(outline).filter(
    ({ from, to, depth }) =>
      from < to &&
      to < chest.length &&
      depth > 0.015 * height &&
      chest[from].y < top + 0.3 * torsoWidth &&
      chest[to].y > chest[from].y + 0.2 * torsoWidth,
  )
  if (holes.length === 0) return null
  const { from, to } = holes.reduce((a, b) => (b.depth > a.depth ? b : a))
  return { shoulder: from, armpit: to }
}

const SAMPLES = 110

// Otherwise: the corners of the three straight lines that best fit shoulder, armhole and side.
function armholeAsCorners(points: readonly Point[], { top }: Shape, torsoWidth: number): Armhole {
  const line = resample(points.slice(0, farthestAlong(points, 0.7, 1) + 1), SAMPLES)
  const corners = bestCorners(line, [
    (i) => line[i].y <= line[0].y + 0.25 * torsoWidth && i <= 0.3 * (SAMPLES - 1),
    (i) => line[i].y >= top + 0.22 * torsoWidth && line[i].y <= top + 0.95 * torsoWidth,
  ]) ?? [Math.round(0.15 * SAMPLES), Math.round(0.4 * SAMPLES)]
  return { shoulder: nearestIndex(points, line[corners[0]]), armpit: nearestIndex(points, line[corners[1]]) }
}

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
