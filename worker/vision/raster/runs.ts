import type { Mask } from './plane.ts'

/** Runs of equal pixels in a mask's rows, row by row. */
export interface Runs {
  /** First column of every run, and the column after its last. */
  readonly from: Int32Array
  readonly to: Int32Array
  /** Index of every row's first run; one more entry than rows. */
  readonly firstOfRow: Int32Array
}

/** The runs of pixels with this value. */
export function findRuns({ width, height, data }: Mask, value: 0 | 1 = 1): Runs {
  const from: number[] = []
  const to: number[] = []
  const firstOfRow = new Int32Array(height + 1)
  // `indexOf` skips empty rows many pixels at a time.
  let start = data.indexOf(value)
  for (let y = 0; y < height; y++) {
    const row = y * width
    const end = row + width
    while (start >= 0 && start < end) {
      let stop = start + 1
      while (stop < end && data[stop] === value) stop++
      from.push(start - row)
      to.push(stop - row)
      start = data[stop] === value ? stop : data.indexOf(value, stop)
    }
    firstOfRow[y + 1] = from.length
  }
  return { from: Int32Array.from(from), to: Int32Array.from(to), firstOfRow }
}
