import type { Plane, Size } from './plane.ts'
import { linearTaps, mixRows } from './sample.ts'

/** Reads many planes row by row at the pixels of a larger bitmap. */
export interface FieldSampler {
  /** Prepares a row of the larger bitmap. Only its columns `from` to `to` (exclusive) have values. */
  moveTo(y: number): { from: number; to: number }
  /** Values of all planes at column `x` of that row, in the order of the planes; overwritten by the next call. */
  fieldsAt(x: number): Float32Array
}

/**
 * Bilinear, with half-pixel centres. All planes have the same size. Skips regions where all planes of `touched`, dilated
 * by one pixel, are 0.
 */
export function createFieldSampler(
  planes: readonly Plane[],
  { size, touched }: { size: Size; touched: readonly Plane[] },
): FieldSampler {
  const { width, height } = planes[0]
  const spans = Array.from({ length: height }, (_, y) => spanOf(touched, y))
  const perColumn = size.width / width
  const rows = planes.map(() => new Float32Array(width))
  const values = new Float32Array(planes.length)
  const columns = linearTaps(width, size.width)
  const lines = linearTaps(height, size.height)
  return {
    moveTo(y) {
      const [above, below] = [spans[lines.first[y]], spans[lines.second[y]]]
      const from = Math.max(0, Math.floor((Math.min(above.first, below.first) - 1) * perColumn))
      const to = Math.min(size.width, Math.ceil((Math.max(above.last, below.last) + 2) * perColumn))
      const span = to > from ? { first: columns.first[from], last: columns.second[to - 1] } : null
      if (span) for (let p = 0; p < planes.length; p++) mixRows(rows[p], planes[p], { rows: lines, y, ...span })
      return { from, to }
    },
    fieldsAt(x) {
      const left = columns.first[x]
      const right = columns.second[x]
      const share = columns.share[x]
      for (let p = 0; p < rows.length; p++) values[p] = rows[p][left] + (rows[p][right] - rows[p][left]) * share
      return values
    },
  }
}

function spanOf(planes: readonly Plane[], y: number): { first: number; last: number } {
  const { width } = planes[0]
  let first = width
  let last = -2
  for (const { data } of planes) {
    for (let x = 0; x < width; x++) {
      if (data[y * width + x] === 0) continue
      if (x < first) first = x
      if (x > last) last = x
    }
  }
  return { first, last }
}
