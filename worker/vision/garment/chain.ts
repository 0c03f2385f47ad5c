import type { Point } from '../raster/plane.ts'

/** Index of the point that lies farthest along (dx, dy); `points` must not be empty. */
export function farthestAlong(points: readonly Point[], dx: number, dy: number): number {
  let best = 0
  for (let i = 1; i < points.length; i++) {
    if (points[i].x * dx + points[i].y * dy > points[best].x * dx + points[best].y * dy) best = i
  }
  return best
}

/** Index of the point nearest to `to`. */
export function nearestIndex(points: readonly Point[], to: Point): number {
  let best = 0
  let least = Number.POSITIVE_INFINITY
  for (let i = 0; i < points.length; i++) {
    const squared = (points[i].x - to.x) ** 2 + (points[i].y - to.y) ** 2
    if (squared >= least) continue
    least = squared
    best = i
  }
  return best
}

/** Sum of squared distances of the chain's points to the polyline through the points at `corners` and the chain's ends. */
export function polylineError(points: readonly Point[], corners: readonly number[]): number {
  const stops = [0, ...corners, points.length - 1]
  let sum = 0
  for (let k = 0; k + 1 < stops.length; k++) sum += chordError(points, stops[k], stops[k + 1])
  return sum
}

/**
 * The corners of the polyline from the first to the last point that best fits the chain (least sum of squared distances), by
 * dynamic programming. One `allowed` predicate per corner restricts its position. Returns null if no such polyline exists.
 */
export function bestCorners(
  points: readonly Point[],
  allowed: readonly ((index: number) => boolean)[],
): number[] | null {
  const n = points.length
  const errors = chordErrors(points)
  let cost = Float64Array.from({ length: n }, (_, i) => (i > 0 && allowed[0](i) ? errors[i] : Number.POSITIVE_INFINITY))
  const before: Int32Array[] = []
  for (const isAllowed of allowed.slice(1)) {
    const next = new Float64Array(n).fill(Number.POSITIVE_INFINITY)
    const from = new Int32Array(n)
    for (let j = 1; j < n; j++) {
      if (!isAllowed(j)) continue
      for (let i = 1; i < j; i++) {
        const total = cost[i] + errors[i * n + j]
        if (total >= next[j]) continue
        next[j] = total
        from[j] = i
      }
    }
    before.push(from)
    cost = next
  }
  let last = -1
  for (let i = 1; i < n - 1; i++) {
    const total = cost[i] + errors[i * n + n - 1]
    if (total < (last < 0 ? Number.POSITIVE_INFINITY : cost[last] + errors[last * n + n - 1])) last = i
  }
  if (last < 0) return null
  const corners = [last]
  for (const from of before.toReversed()) corners.unshift(from[corners[0]])
  return corners
}

// For every pair of points; n × n, upper half.
function chordErrors(points: readonly Point[]): Float64Array {
  const n = points.length
  const errors = new Float64Array(n * n)
  for (let i = 0; i < n; i++) for (let j = i + 1; j < n; j++) errors[i * n + j] = chordError(points, i, j)
  return errors
}

// Sum of squared distances of the points i to j from the line through i and j.
function chordError(points: readonly Point[], i: number, j: number): number {
  const { x, y } = points[i]
  const dx = points[j].x - x
  const dy = points[j].y - y
  let sum = 0
  for (let k = i + 1; k < j; k++) sum += ((points[k].x - x) * dy - (points[k].y - y) * dx) ** 2
  return sum / Math.max(1e-6, dx * dx + dy * dy)
}
