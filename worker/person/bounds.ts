import type { Size } from '../raster/plane.ts'
import type { Box } from './person.ts'

/** The smallest box around the pixels that pass, or null when none does. */
export function boundsOf(
  { width, height, data }: Size & { readonly data: ArrayLike<number> },
  test: (value: number) => boolean,
): Box | null {
  let left = width
  let top = height
  let right = 0
  let bottom = 0
  for (let y = 0, i = 0; y < height; y++) {
    for (let x = 0; x < width; x++, i++) {
      if (!test(data[i])) continue
      if (x < left) left = x
      if (x >= right) right = x + 1
      if (y < top) top = y
      bottom = y + 1
    }
  }
  return right > left ? { x: left, y: top, width: right - left, height: bottom - top } : null
}
