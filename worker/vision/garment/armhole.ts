import { findBays } from '../raster/contour.ts'
import type { Point } from '../raster/plane.ts'
import { resample } from '../raster/polyline.ts'
import { bestCorners, farthestAlong, nearestIndex } from './chain.ts'
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
