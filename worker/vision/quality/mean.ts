import type { Lab } from '../raster/colour.ts'
import type { Colours, Mask } from '../raster/plane.ts'

/** The mean colour within a mask; null for an empty one. */
export function meanOf({ data }: Colours, mask: Mask): Lab | null {
  const sum = [0, 0, 0]
  let count = 0
  for (let i = 0; i < mask.data.length; i++) {
    if (!mask.data[i]) continue
    count++
    for (let c = 0; c < 3; c++) sum[c] += data[3 * i + c]
  }
  return count > 0 ? [sum[0] / count, sum[1] / count, sum[2] / count] : null
}
