import type { Point } from '../../raster/plane.ts'
import { norm } from '../../raster/vector.ts'
import { farthestAlong, nearestIndex } from '../chain.ts'
import type { Shape } from './upright.ts'

/** The deepest bay between a sleeve's tip and the hem. */
export interface ArmpitBay {
  /** Index of the armpit and of the sleeve's tip in the half outline. */
  readonly armpit: number
  readonly tip: number
  /** Depth over the garment's height. */
  readonly depth: number
}

/** The bay between a sleeve and the body; null if the half outline has none. `height` is the garment's. */
export function findArmpit({ points }: HalfOutline, height: number): ArmpitBay | null {
  let best: ArmpitBay | null = null
  for (const tip of sleeveTips(points)) {
    const below = points.slice(tip + 1)
    for (const end of new Set([tip + 1 + farthestAlong(below, 0.45, 1), points.length - 1])) {
      const bay = deepestInside(points, { tip, end, height })
      if (bay && bay.depth > (best?.depth ?? 0)) best = bay
    }
  }
  return best && aboveWaist(points, best, height)
}

// On a waisted garment the deepest point can be the waist: the armpit is then a separate bay between sleeve and waist.
function aboveWaist(points: readonly Point[], bay: ArmpitBay, height: number): ArmpitBay {
  const upper = deepestInside(points, { tip: bay.tip, end: bay.armpit, height })
  return upper && upper.depth > 0.025 ? aboveWaist(points, { ...upper, depth: bay.depth }, height) : bay
}

// Ends of sleeves at any angle between hanging and horizontal.
function sleeveTips(points: readonly Point[]): Set<number> {
  const directions = [
    [1, 0.25],
    [1, 0],
    [0.35, 1],
  ]
  return new Set(directions.map(([dx, dy]) => farthestAlong(points, dx, dy)))
}

function deepestInside(
  points: readonly Point[],
  { tip, end, height }: { tip: number; end: number; height: number },
): ArmpitBay | null {
  const dx = points[end].x - points[tip].x
  const dy = points[end].y - points[tip].y
  const length = norm(dx, dy)
  let armpit = tip
  let depth = 0
  for (let i = tip; i <= end; i++) {
    const bodySide = ((points[i].y - points[tip].y) * dx - (points[i].x - points[tip].x) * dy) / length
    if (bodySide <= depth) continue
    depth = bodySide
    armpit = i
  }
  return depth > 0 ? { armpit, tip, depth: depth / height } : null
}

/** Whether both halves together resemble a garment with sleeves. */
export function hasSleeves(bays: readonly (ArmpitBay | null)[]): boolean {
  return bays.every((bay) => bay !== null && bay.depth > 0.035)
}

/**
 * For each half, the armpit of the other half (x grows away from the axis) if it is clearly higher: the lower armpit is then
 * only the visible end of the gap between sleeve and body. The less symmetric the photo, the larger the accepted distance of
 * the armpits.
 */
export function higherOpposites(
  halves: readonly [HalfOutline, HalfOutline],
  bays: readonly [ArmpitBay | null, ArmpitBay | null],
  { height, symmetry }: { height: number; symmetry: number },
): readonly [Point | null, Point | null] {
  const [left, right] = halves.map(({ points }, k) => points[bays[k]?.armpit ?? -1])
  if (!left || !right) return [null, null]
  const level = (0.025 + 0.2 * (1 - symmetry)) * height
  return [left.y - right.y > level ? right : null, right.y - left.y > level ? left : null]
}

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
