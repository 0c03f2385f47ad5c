import type { GarmentPatch } from './garment-patch.ts'

// Rows over which colours are averaged above and below a sample, and ΔE of a step with a gain of 0.5.
const REACH = 3
const HALF_GAIN = 3
// Max rows by which a line rises or falls between adjacent columns, and the cost per row.
const MAX_SLOPE = 2
const SLOPE_COST = 0.04

/**
 * Mean gain of the clearest line that crosses a strip from its left to its right edge within the rows `from` to `to`. The region
 * between the fronts of an open garment is one piece of cloth; in a closed garment it contains the front's upper edge.
 */
export function clearestCrossing(
  { lab, cover }: Pick<GarmentPatch, 'lab' | 'cover'>,
  {
    left,
    right,
    from,
    to,
  }: {
    /** The strip's first and last column in a row. */
    left: (row: number) => number
    right: (row: number) => number
    from: number
    to: number
  },
): number {
  const rows = to - from
  const middle = Math.round((from + to) / 2)
  const [first, last] = [left(middle), right(middle)]
  if (rows < 2 || last - first < 3) return 0
  let totals = new Float64Array(rows)
  let passed = new Float64Array(rows)
  for (let x = first; x <= last; x++) {
    const next = new Float64Array(rows).fill(Number.NEGATIVE_INFINITY)
    const count = new Float64Array(rows)
    for (let k = 0; k < rows; k++) {
      for (let by = -MAX_SLOPE; by <= MAX_SLOPE; by++) {
        const before = totals[k + by]
        if (before === undefined || before - SLOPE_COST * Math.abs(by) <= next[k]) continue
        next[k] = before - SLOPE_COST * Math.abs(by)
        count[k] = passed[k + by]
      }
      const row = from + k
      if (x <= left(row) || x >= right(row)) continue
      next[k] += stepAt({ lab, cover }, x, row)
      count[k]++
    }
    totals = next
    passed = count
  }
  return totals.reduce((most, total, k) => Math.max(most, total / Math.max(last - first - 3, passed[k])), 0)
}

function stepAt({ lab, cover }: Pick<GarmentPatch, 'lab' | 'cover'>, x: number, row: number): number {
  const { width, height } = cover
  if (row < REACH || row >= height - REACH) return 0
  let squares = 0
  for (let c = 0; c < 3; c++) {
    let step = 0
    for (let k = 0; k < REACH; k++)
      step += lab.data[((row + k) * width + x) * 3 + c] - lab.data[((row - 1 - k) * width + x) * 3 + c]
    squares += (step / REACH) ** 2
  }
  for (let k = -REACH; k < REACH; k++) if (cover.data[(row + k) * width + x] < 0.95) return 0
  const difference = Math.sqrt(squares)
  return difference / (difference + HALF_GAIN)
}
