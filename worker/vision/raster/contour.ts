import type { Mask, Point } from './plane.ts'
import { norm } from './vector.ts'

// Clockwise on the screen, from east.
const STEP_X = [1, 1, 0, -1, -1, -1, 0, 1]
const STEP_Y = [0, 1, 1, 1, 0, -1, -1, -1]

/**
 * Border pixels of the first set region in reading order, clockwise on the screen, each one of eight steps from the previous
 * (Moore's border following with Jacob's stopping rule). Empty if no pixel is set.
 */
export function followContour(mask: Mask): Point[] {
  const { width, height, data } = mask
  const start = data.indexOf(1)
  if (start < 0) return []
  const isSet = (x: number, y: number) => x >= 0 && y >= 0 && x < width && y < height && data[y * width + x] !== 0
  const startX = start % width
  const startY = (start - startX) / width
  const points: Point[] = []
  let x = startX
  let y = startY
  let came = 4
  let firstStep = -1
  for (;;) {
    let step = -1
    for (let k = 1; k <= 8; k++) {
      const direction = (came + k) % 8
      if (!isSet(x + STEP_X[direction], y + STEP_Y[direction])) continue
      step = direction
      break
    }
    if (points.length > 0 && x === startX && y === startY && step === firstStep) return points
    points.push({ x, y })
    if (step < 0) return points
    if (firstStep < 0) firstStep = step
    x += STEP_X[step]
    y += STEP_Y[step]
    came = (step + 4) % 8
  }
}

/** A bay of a closed contour: indices of its two ends on the convex hull and of its deepest point. */
export interface Bay {
  readonly from: number
  readonly to: number
  readonly deepest: number
  /** Distance of the deepest point from the line between the ends, in px. */
  readonly depth: number
}

/** Every bay of a closed contour, in the contour's order. */
export function findBays(contour: readonly Point[]): Bay[] {
  const hull = convexHull(contour)
  return hull
    .map((from, i) => deepestBetween(contour, from, hull[(i + 1) % hull.length]))
    .filter((bay) => bay.depth > 0)
}

/** Indices of the convex hull's corners in the contour's own order (Andrew 1979, monotone chain). */
export function convexHull(points: readonly Point[]): number[] {
  const order = points.map((_, i) => i).sort((a, b) => points[a].x - points[b].x || points[a].y - points[b].y)
  const chain = (indices: readonly number[]) => {
    const out: number[] = []
    for (const i of indices) {
      while (out.length > 1 && cross(points[out[out.length - 2]], points[out[out.length - 1]], points[i]) <= 0)
        out.pop()
      out.push(i)
    }
    return out
  }
  return [...new Set([...chain(order), ...chain(order.toReversed())])].sort((a, b) => a - b)
}

function deepestBetween(contour: readonly Point[], from: number, to: number): Bay {
  const a = contour[from]
  const b = contour[to]
  const length = Math.max(1e-6, norm(b.x - a.x, b.y - a.y))
  let deepest = from
  let depth = 0
  for (let i = (from + 1) % contour.length; i !== to; i = (i + 1) % contour.length) {
    const distance = Math.abs(cross(a, b, contour[i])) / length
    if (distance > depth) {
      depth = distance
      deepest = i
    }
  }
  return { from, to, deepest, depth }
}

function cross(o: Point, a: Point, b: Point): number {
  return (a.x - o.x) * (b.y - o.y) - (a.y - o.y) * (b.x - o.x)
}
