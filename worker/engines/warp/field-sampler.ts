import type { Plane, Size } from '../../raster/plane.ts'

/** Reads many planes at once, row by row, at the pixels of a larger picture. */
export interface FieldSampler {
  /** Prepares a row of the larger picture. */
  moveTo(y: number): void
  /** All planes' values at column `x` of that row, in the planes' order; overwritten by the next call. */
  fieldsAt(x: number): Float32Array
}

/** Bilinear, with half-pixel centres; all `planes` have one size. */
export function createFieldSampler(planes: readonly Plane[], size: Size): FieldSampler {
  const { width, height } = planes[0]
  const count = planes.length
  const stack = interleave(planes)
  const row = new Float32Array(width * count)
  const values = new Float32Array(count)
  const columns = positions(width, size.width)
  const rows = positions(height, size.height)
  return {
    moveTo(y) {
      const upper = rows.before[y] * width * count
      const lower = Math.min(rows.before[y] + 1, height - 1) * width * count
      const share = rows.share[y]
      for (let k = 0; k < row.length; k++) row[k] = stack[upper + k] + (stack[lower + k] - stack[upper + k]) * share
    },
    fieldsAt(x) {
      const left = columns.before[x] * count
      const right = Math.min(columns.before[x] + 1, width - 1) * count
      const share = columns.share[x]
      for (let k = 0; k < count; k++) values[k] = row[left + k] + (row[right + k] - row[left + k]) * share
      return values
    },
  }
}

function interleave(planes: readonly Plane[]): Float32Array {
  const count = planes.length
  const stack = new Float32Array(planes[0].data.length * count)
  for (const [p, { data }] of planes.entries()) {
    for (let i = 0, k = p; i < data.length; i++, k += count) stack[k] = data[i]
  }
  return stack
}

function positions(from: number, to: number): { before: Int32Array; share: Float32Array } {
  const before = new Int32Array(to)
  const share = new Float32Array(to)
  for (let i = 0; i < to; i++) {
    const at = Math.min(Math.max(((i + 0.5) * from) / to - 0.5, 0), from - 1)
    before[i] = Math.floor(at)
    share[i] = at - before[i]
  }
  return { before, share }
}
