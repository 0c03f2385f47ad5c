import type { Point } from '../../../vision/raster/plane.ts'
import { resample } from '../../../vision/raster/polyline.ts'
import { add, between, move, scale, subtract } from '../../../vision/raster/vector.ts'

/** Rows of points; every row has the same length. */
export type PointGrid = readonly (readonly Point[])[]

/** Four curves around a piece of cloth. `top` and `bottom` run from `left` to `right`; `left` and `right` run from top to bottom. */
export interface PatchEdges {
  readonly left: readonly Point[]
  readonly right: readonly Point[]
  readonly top: readonly Point[]
  readonly bottom: readonly Point[]
}

/** Extension of a grid beyond its edges: shares of the width to the left and right, and rows above and below. */
export interface Margins {
  readonly left: number
  readonly right: number
  readonly above: number
  readonly below: number
}

// The curve of a waistband or hem affects only the rows near it.
const BOW_FADING = 3

/**
 * A grid between four curves: straight rows from `left` to `right`, which have one point per row, bent near the ends like
 * `top` and `bottom` (after Coons 1967). Its margins include the product's own soft edge.
 */
export function fillPatch({ left, right, top, bottom }: PatchEdges, columns: number, margins: Margins): PointGrid {
  const last = left.length - 1
  const bows = [bowOf(top, columns), bowOf(bottom, columns)]
  const rows = left.map((from, row) => {
    const up = (1 - row / last) ** BOW_FADING
    const down = (row / last) ** BOW_FADING
    const straight = Array.from({ length: columns }, (_, column) => {
      const point = between(from, right[row], column / (columns - 1))
      return add(point, add(scale(bows[0][column], up), scale(bows[1][column], down)))
    })
    return [
      between(straight[0], straight[columns - 1], -margins.left),
      ...straight,
      between(straight[columns - 1], straight[0], -margins.right),
    ]
  })
  const before = rows[0].map((point, column) => move(point, subtract(point, rows[1][column]), margins.above))
  const after = rows[last].map((point, column) => move(point, subtract(point, rows[last - 1][column]), margins.below))
  return [before, ...rows, after]
}

/** `upper` points of the chain up to its point `split`, then `lower` points. */
export function resampleInTwo(
  chain: readonly Point[],
  split: number,
  [upper, lower]: readonly [number, number],
): Point[] {
  const at = Math.min(Math.max(split, 1), chain.length - 2)
  return [...resample(chain.slice(0, at + 1), upper).slice(0, -1), ...resample(chain.slice(at), lower)]
}

// Distance of each point of a curve from the curve's chord.
function bowOf(curve: readonly Point[], columns: number): Point[] {
  return resample(curve, columns).map((point, column) =>
    subtract(point, between(curve[0], curve[curve.length - 1], column / (columns - 1))),
  )
}
