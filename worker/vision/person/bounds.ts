import type { Size } from '../raster/plane.ts'
import type { Box } from './person.ts'

/** The smallest box around the pixels that pass the test; null if none does. */
export function boundsOf(
  { width, height, data }: Size & { readonly data: ArrayLike<number> },
  test: (value: number) => boolean,
): Box | null {
  let left = width
  let top = height
  let right = 0
  let bottom = 0
  // Columns within the bounds found so far cannot extend them: search each row only outside these columns.
  for (let y = 0, row = 0; y < height; y++, row += width) {
    let x = 0
    while (x < width && !test(data[row + x])) x++
    if (x === width) continue
    if (x < left) left = x
    if (y < top) top = y
    bottom = y + 1
    let end = width
    while (end > right && !test(data[row + end - 1])) end--
    if (end > right) right = end
  }
  return right > left ? { x: left, y: top, width: right - left, height: bottom - top } : null
}
