import type { Point } from '../raster/plane.ts'
import { resample } from '../raster/polyline.ts'
import { bestCorners, farthestAlong, nearestIndex } from './chain.ts'
import type { Shape } from './upright.ts'

const SAMPLES = 110

/**
 * Indices of shoulder tip and armpit on the half outline of a sleeveless garment: the corners of the three straight lines
 * that follow shoulder, armhole and side best.
 */
export function findArmhole(
  points: readonly Point[],
  { shape, torsoWidth }: { shape: Shape; torsoWidth: number },
): { shoulder: number; armpit: number } {
  const line = resample(points.slice(0, farthestAlong(points, 0.7, 1) + 1), SAMPLES)
  const corners = bestCorners(line, [
    (i) => line[i].y <= line[0].y + 0.25 * torsoWidth && i <= 0.3 * (SAMPLES - 1),
    (i) => line[i].y >= shape.top + 0.22 * torsoWidth && line[i].y <= shape.top + 0.95 * torsoWidth,
  ]) ?? [Math.round(0.15 * SAMPLES), Math.round(0.4 * SAMPLES)]
  return { shoulder: nearestIndex(points, line[corners[0]]), armpit: nearestIndex(points, line[corners[1]]) }
}
