import type { Point } from './plane.ts'
import { between, distance } from './vector.ts'

/** Distance along the chain from the first point to every point, in px. */
export function arcLengths(chain: readonly Point[]): Float64Array {
  const lengths = new Float64Array(chain.length)
  for (let i = 1; i < chain.length; i++) lengths[i] = lengths[i - 1] + distance(chain[i - 1], chain[i])
  return lengths
}

/** Length of the whole chain in px. */
export function arcLength(chain: readonly Point[]): number {
  return chain.length === 0 ? 0 : arcLengths(chain)[chain.length - 1]
}

/** `count` points at equal distances along the chain, including both ends. */
export function resample(chain: readonly Point[], count: number): Point[] {
  const lengths = arcLengths(chain)
  const step = lengths[lengths.length - 1] / (count - 1)
  return Array.from({ length: count }, (_, i) => pointAt(chain, lengths, i * step))
}

/** The point at `way` px along the chain, given the chain's `arcLengths`; clamped to the ends. */
export function pointAt(chain: readonly Point[], lengths: Float64Array, way: number): Point {
  const i = spanOf(lengths, way)
  if (i < 0) return chain[0]
  if (i >= chain.length - 1) return chain[chain.length - 1]
  return between(chain[i], chain[i + 1], (way - lengths[i]) / (lengths[i + 1] - lengths[i]))
}

/** The piecewise linear function through (knots[i], values[i]) at `x`; clamped to the ends. `knots` ascend. */
export function interpolate(knots: ArrayLike<number>, values: ArrayLike<number>, x: number): number {
  const i = spanOf(knots, x)
  if (i < 0) return values[0]
  if (i >= knots.length - 1) return values[knots.length - 1]
  return values[i] + ((values[i + 1] - values[i]) * (x - knots[i])) / (knots[i + 1] - knots[i])
}

// The last knot that is at most x; −1 before the first. knots[i] <= x < knots[i + 1].
function spanOf(knots: ArrayLike<number>, x: number): number {
  let low = -1
  let high = knots.length
  while (high - low > 1) {
    const middle = (low + high) >> 1
    if (knots[middle] <= x) low = middle
    else high = middle
  }
  return low
}
