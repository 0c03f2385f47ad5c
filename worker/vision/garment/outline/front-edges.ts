import type { Colours, Plane } from '../../raster/plane.ts'
import type { GarmentPatch } from '../garment-patch.ts'

/** Examined columns of one half, in px of the patch from the axis outwards. */
export interface HalfFront {
  /** −1 for the left half of the image, 1 for the right half. */
  readonly side: -1 | 1
  readonly rows: number
  readonly columns: number
  /** rows × columns: towards 1 for a clear colour step between the inner and the outer side of a sample. */
  readonly gain: Float32Array
}

/** A line from the collar to the hem: its column in every row, counted from the axis outwards. */
export interface FrontEdge {
  readonly columns: Int16Array
  /** Mean gain along the line. */
  readonly gain: number
}

// Half the width in px over which colours are averaged on both sides of a sample.
const REACH = 4
// ΔE of a step with a gain of 0.5.
const HALF_GAIN = 3

/** Measures the gain of each sample of one half as the edge of an open front. `axis` is a column of the patch. */
export function measureHalf(
  { lab, cover }: Pick<GarmentPatch, 'lab' | 'cover'>,
  { axis, side, columns }: { axis: number; side: -1 | 1; columns: number },
): HalfFront {
  const rows = lab.height
  const gain = new Float32Array(rows * columns)
  const sums = new Float64Array((columns + REACH + 2) * 4)
  for (let row = 0; row < rows; row++) {
    addUp({ lab, cover, row, axis, side, columns: columns + REACH }, sums)
    for (let column = 1; column < columns; column++) gain[row * columns + column] = stepAt(sums, column)
  }
  return { side, rows, columns, gain }
}

// Sums of L, a, b and cover of a row from the axis outwards; means of three rows, because folds run along edges.
function addUp(
  {
    lab,
    cover,
    row,
    axis,
    side,
    columns,
  }: {
    lab: Colours
    cover: Plane
    row: number
    axis: number
    side: -1 | 1
    columns: number
  },
  sums: Float64Array,
): void {
  const { width, height } = cover
  sums.fill(0, 0, 4)
  for (let column = 0; column <= columns; column++) {
    const x = Math.min(Math.max(axis + side * column, 0), width - 1)
    const to = (column + 1) * 4
    sums.copyWithin(to, to - 4, to)
    for (let dy = -1; dy <= 1; dy++) {
      const i = Math.min(Math.max(row + dy, 0), height - 1) * width + x
      for (let c = 0; c < 3; c++) sums[to + c] += lab.data[i * 3 + c] / 3
      sums[to + 3] += cover.data[i] / 3
    }
  }
}

function stepAt(sums: Float64Array, column: number): number {
  const inside = Math.max(0, column - REACH)
  const [from, here, to] = [inside * 4, column * 4, (column + REACH) * 4]
  const [n, m] = [column - inside, REACH]
  if (sums[here + 3] - sums[from + 3] < 0.95 * n || sums[to + 3] - sums[here + 3] < 0.95 * m) return -0.5
  let squares = 0
  let lighter = 0
  for (let c = 0; c < 3; c++) {
    const step = (sums[to + c] - sums[here + c]) / m - (sums[here + c] - sums[from + c]) / n
    squares += step * step
    if (c === 0) lighter = step
  }
  const difference = Math.sqrt(squares)
  // The front is on top and in the light: a lighter inside must be a different cloth.
  const sign = lighter > -0.3 * difference ? 1 : 0.6
  return (sign * difference) / (difference + HALF_GAIN)
}

// Cost per px sideways.
const SIDEWAYS = 0.12

/** The line with the highest gain from the row `first` to `last`, at least `nearest` px from the axis; null if there is none. */
export function bestEdge(
  { rows, columns, gain }: HalfFront,
  { first, last, nearest }: { first: number; last: number; nearest: number },
): FrontEdge | null {
  const never = -1e9
  let totals = Float64Array.from({ length: columns }, (_, c) => (c >= nearest ? gain[first * columns + c] : never))
  const origins: Int8Array[] = []
  for (let row = first + 1; row < last; row++) {
    const next = new Float64Array(columns).fill(never)
    const origin = new Int8Array(columns)
    for (let c = nearest; c < columns - 1; c++) {
      for (let by = -1; by <= 1; by++) {
        const total = totals[c + by] - SIDEWAYS * Math.abs(by)
        if (total <= next[c]) continue
        next[c] = total
        origin[c] = by
      }
      next[c] += gain[row * columns + c]
    }
    origins.push(origin)
    totals = next
  }
  const end = totals.indexOf(Math.max(...totals))
  if (!(totals[end] > never / 2)) return null
  return traceBack({ rows, columns, gain }, { origins, end, first })
}

function traceBack(
  { rows, columns, gain }: Pick<HalfFront, 'rows' | 'columns' | 'gain'>,
  { origins, end, first }: { origins: readonly Int8Array[]; end: number; first: number },
): FrontEdge {
  const path = new Int16Array(rows)
  const last = first + origins.length
  path.fill(end, last)
  for (let row = last - 1; row >= first; row--) path[row] = path[row + 1] + origins[row - first][path[row + 1]]
  path.fill(path[first], 0, first)
  let sum = 0
  for (let row = first; row <= last; row++) sum += gain[row * columns + path[row]]
  return { columns: path, gain: sum / (last - first + 1) }
}

// Rows over which colours are averaged above and below a sample.
const CROSSING_REACH = 3
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
      next[k] += crossingAt({ lab, cover }, x, row)
      count[k]++
    }
    totals = next
    passed = count
  }
  return totals.reduce((most, total, k) => Math.max(most, total / Math.max(last - first - 3, passed[k])), 0)
}

function crossingAt({ lab, cover }: Pick<GarmentPatch, 'lab' | 'cover'>, x: number, row: number): number {
  const { width, height } = cover
  if (row < CROSSING_REACH || row >= height - CROSSING_REACH) return 0
  let squares = 0
  for (let c = 0; c < 3; c++) {
    let step = 0
    for (let k = 0; k < CROSSING_REACH; k++)
      step += lab.data[((row + k) * width + x) * 3 + c] - lab.data[((row - 1 - k) * width + x) * 3 + c]
    squares += (step / CROSSING_REACH) ** 2
  }
  for (let k = -CROSSING_REACH; k < CROSSING_REACH; k++) if (cover.data[(row + k) * width + x] < 0.95) return 0
  const difference = Math.sqrt(squares)
  return difference / (difference + HALF_GAIN)
}
