import { solveLinearSystem } from './linear-system.ts'
import type { Point } from './plane.ts'

/**
 * The smoothest map from every point of `from` to the matching point of `to`: a thin-plate spline (Bookstein 1989).
 * Reproduces affine maps exactly. With `slack` above 0 it bends less and misses the points slightly; `slack` is relative to
 * the size of the point set.
 */
export function fitThinPlate(from: readonly Point[], to: readonly Point[], slack = 0): (point: Point) => Point {
  const frame = frameOf(from)
  const knots = from.map((p) => toFrame(p, frame))
  const weights = solveWeights(knots, to, slack)
  const n = knots.length
  const xs = Float64Array.from(knots, (p) => p.x)
  const ys = Float64Array.from(knots, (p) => p.y)
  return (point) => {
    const { x, y } = toFrame(point, frame)
    let u = weights[2 * n] + weights[2 * n + 2] * x + weights[2 * n + 4] * y
    let v = weights[2 * n + 1] + weights[2 * n + 3] * x + weights[2 * n + 5] * y
    for (let i = 0; i < n; i++) {
      const bend = bending((x - xs[i]) ** 2 + (y - ys[i]) ** 2)
      u += bend * weights[2 * i]
      v += bend * weights[2 * i + 1]
    }
    return { x: u, y: v }
  }
}

interface Frame extends Point {
  radius: number
}

// Centre and size of the points: scaled to about ±1 the equations are well conditioned.
function frameOf(points: readonly Point[]): Frame {
  const x = points.reduce((sum, p) => sum + p.x, 0) / points.length
  const y = points.reduce((sum, p) => sum + p.y, 0) / points.length
  const radius = Math.max(1e-6, ...points.map((p) => Math.max(Math.abs(p.x - x), Math.abs(p.y - y))))
  return { x, y, radius }
}

function toFrame({ x, y }: Point, frame: Frame): Point {
  return { x: (x - frame.x) / frame.radius, y: (y - frame.y) / frame.radius }
}

// r² ln r, from r².
function bending(squared: number): number {
  return squared > 0 ? 0.5 * squared * Math.log(squared) : 0
}

// One weight per knot, then the affine part, each for x and y, interleaved.
function solveWeights(knots: readonly Point[], to: readonly Point[], slack: number): Float64Array {
  const n = knots.length
  const order = n + 3
  const matrix = new Float64Array(order * order)
  const rightSides = new Float64Array(2 * order)
  for (let i = 0; i < n; i++) {
    for (let j = 0; j < n; j++)
      matrix[i * order + j] = bending((knots[i].x - knots[j].x) ** 2 + (knots[i].y - knots[j].y) ** 2)
    matrix[i * order + i] += slack
    const affine = [1, knots[i].x, knots[i].y]
    for (let k = 0; k < 3; k++) {
      matrix[i * order + n + k] = affine[k]
      matrix[(n + k) * order + i] = affine[k]
    }
    rightSides[2 * i] = to[i].x
    rightSides[2 * i + 1] = to[i].y
  }
  return solveLinearSystem(matrix, rightSides, order)
}
