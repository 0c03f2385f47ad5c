import { findBays } from '../../raster/contour.ts'
import type { Point } from '../../raster/plane.ts'
import { arcLength, resample } from '../../raster/polyline.ts'
import { between, dot, subtract, unit } from '../../raster/vector.ts'
import { bestCorners, farthestAlong, nearestIndex, polylineError } from '../chain.ts'
import type { ArmpitBay, Side } from './armpit.ts'
import type { Shape } from './upright.ts'

/** Landmarks of a sleeve on the half outline `points`, and the seam where the sleeve touches the body. */
interface SleevedHalf {
  /** Indices of the shoulder tip and of the cuff's outer and inner end. */
  readonly shoulder: number
  readonly outer: number
  readonly inner: number
  readonly armpit: Point
  /** Index from which the outline follows the body again. */
  readonly notch: number
  /** True if sleeve and body touch below the armpit; the armpit is then a guess, and a straight seam leads to the notch. */
  readonly guessed: boolean
}

/**
 * Finds shoulder tip, cuff and armpit of a sleeve. Lengths are relative to the garment's height and torso width. `opposite`
 * is the other half's armpit if it is clearly higher, which means that this armpit is hidden.
 */
export function findSleeve(
  points: readonly Point[],
  bay: ArmpitBay,
  { shape, torsoWidth, opposite }: { shape: Shape; torsoWidth: number; opposite: Point | null },
): SleevedHalf {
  const notch = points[bay.armpit]
  const hanging = notch.y > shape.top + 0.58 * shape.height && points[bay.tip].y > notch.y + 0.05 * shape.height
  const known = opposite ?? (hanging ? null : notch)
  const shoulderX = (known?.x ?? Math.min(notch.x, 0.51 * torsoWidth)) - 0.075 * torsoWidth
  const upper = { x: shoulderX, y: shape.top + 0.12 * torsoWidth }
  const lower = known ?? { x: shoulderX, y: shape.top + 0.45 * shape.height }
  const { outer, inner } = findCuff(points.slice(0, bay.armpit + 1), {
    root: between(upper, lower, 0.5),
    fromX: shoulderX + 0.02 * torsoWidth,
    torsoWidth,
  })
  const shoulder = findShoulder(points.slice(0, outer + 1), shoulderX, torsoWidth)
  const tip = points[shoulder]
  const armpit = known ?? { x: tip.x + 0.02 * torsoWidth, y: tip.y + 0.42 * (notch.y - tip.y) }
  return { shoulder, outer, inner, armpit, notch: bay.armpit, guessed: known !== notch }
}

interface Cuff {
  readonly outer: number
  readonly inner: number
}

const CUFF_SAMPLES = 80

// Two methods to find the cuff. Corners along the sleeve suit most sleeves. They fail for a sleeve that is wider than long;
// there the three straight lines that best fit the sleeve are much closer to the outline. A long sleeve can bend at the
// elbow.
function findCuff(
  points: readonly Point[],
  { root, fromX, torsoWidth }: { root: Point; fromX: number; torsoWidth: number },
): Cuff {
  const seen = cuffAlong(points, root, fromX)
  const sleeve = points.slice(
    Math.max(
      0,
      points.findIndex((p) => p.x > fromX),
    ),
  )
  if (sleeve.length < CUFF_SAMPLES / 4 || arcLength(sleeve) > 0.85 * torsoWidth) return seen
  const line = resample(sleeve, CUFF_SAMPLES)
  const corners = bestCorners(line, [() => true, () => true])
  if (!corners) return seen
  const cornersSeen = [seen.outer, seen.inner].map((i) => nearestIndex(line, points[i]))
  if (polylineError(line, corners) > 0.35 * polylineError(line, cornersSeen)) return seen
  const [outer, inner] = corners.map((i) => nearestIndex(points, line[i]))
  return outer < inner ? { outer, inner } : seen
}

// The corners of the sleeve's far end, as seen from its root.
function cuffAlong(points: readonly Point[], root: Point, fromX: number): Cuff {
  const reach = (p: Point) => (p.x > fromX ? p.x - root.x + 0.55 * (p.y - root.y) : Number.NEGATIVE_INFINITY)
  let far = 0
  for (let i = 1; i < points.length; i++) if (reach(points[i]) > reach(points[far])) far = i
  const along = unit(subtract(points[far], root))
  const out = along.y < 0 ? { x: -along.y, y: along.x } : { x: along.y, y: -along.x }
  const ways = points.map((p) => dot(subtract(p, root), along))
  const end = 0.7 * Math.max(...ways)
  const corner = (sign: number) => {
    const [dx, dy] = [along.x + sign * 0.85 * out.x, along.y + sign * 0.85 * out.y]
    let best = far
    for (let i = 0; i < points.length; i++) {
      if (ways[i] <= end) continue
      if (points[i].x * dx + points[i].y * dy > points[best].x * dx + points[best].y * dy) best = i
    }
    return best
  }
  const outer = corner(1)
  return { outer, inner: Math.min(Math.max(corner(-1), outer + 1), points.length - 1) }
}

const SAMPLES = 90
const MIN_TURN = (22 * Math.PI) / 180

// Above the armpit, slightly inwards; a dropped shoulder is a clear bend of the outline further out.
function findShoulder(points: readonly Point[], shoulderX: number, torsoWidth: number): number {
  let plain = 0
  for (let i = 1; i < Math.max(2, points.length - 1); i++) {
    if (Math.abs(points[i].x - shoulderX) < Math.abs(points[plain].x - shoulderX)) plain = i
  }
  if (points.length <= 30) return plain
  const line = resample(points, SAMPLES)
  const corners = bestCorners(line, [
    (i) => i < (2 * SAMPLES) / 3 && line[i].x > shoulderX && line[i].x < shoulderX + 0.2 * torsoWidth,
  ])
  if (!corners) return plain
  const bend = line[corners[0]]
  const before = subtract(bend, line[0])
  const after = subtract(line[SAMPLES - 1], bend)
  const turn = Math.atan2(before.x * after.y - before.y * after.x, dot(before, after))
  return turn > MIN_TURN && bend.x > shoulderX + 0.05 * torsoWidth ? nearestIndex(points, bend) : plain
}

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

const ARMHOLE_SAMPLES = 110

// Otherwise: the corners of the three straight lines that best fit shoulder, armhole and side.
function armholeAsCorners(points: readonly Point[], { top }: Shape, torsoWidth: number): Armhole {
  const line = resample(points.slice(0, farthestAlong(points, 0.7, 1) + 1), ARMHOLE_SAMPLES)
  const corners = bestCorners(line, [
    (i) => line[i].y <= line[0].y + 0.25 * torsoWidth && i <= 0.3 * (ARMHOLE_SAMPLES - 1),
    (i) => line[i].y >= top + 0.22 * torsoWidth && line[i].y <= top + 0.95 * torsoWidth,
  ]) ?? [Math.round(0.15 * ARMHOLE_SAMPLES), Math.round(0.4 * ARMHOLE_SAMPLES)]
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
    const farthest = Math.max(0.16 * torsoWidth, Math.min(0.55 * torsoWidth, shoulder.x - 0.03 * torsoWidth))
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
