import { dilate } from '../../../../vision/raster/morphology.ts'
import { type Colours, type Mask, maskWhere, type Plane } from '../../../../vision/raster/plane.ts'
import { MAYBE_PERSON, ROW_ENDS } from '../tuning.ts'

/**
 * Continues the background behind a person's legs along the rows of the bitmap, from both ends of every gap: baseboards,
 * floorboards and horizons are level. `hidden` is the person (0 to 1), `margin` the unreliable px around the person; fills
 * only pixels with `wanted` above 0.
 */
export function fillAcross(
  photo: Colours,
  { hidden, wanted, margin }: { hidden: Plane; wanted: Plane; margin: number },
): Colours {
  const unknown = dilate(
    maskWhere(hidden, (i) => hidden.data[i] >= MAYBE_PERSON),
    margin,
  )
  const out: Colours = { ...photo, data: photo.data.slice() }
  for (let y = 0; y < photo.height; y++) fillRow(y, { photo, unknown, wanted, out })
  return out
}

function fillRow(
  y: number,
  { photo, unknown, wanted, out }: { photo: Colours; unknown: Mask; wanted: Plane; out: Colours },
): void {
  const { width } = photo
  const start = y * width
  for (let x = 0; x < width; x++) {
    if (!unknown.data[start + x]) continue
    let end = x
    while (end < width && unknown.data[start + end]) end++
    const left = x > 0 ? meanOf(photo, start + Math.max(0, x - ROW_ENDS), start + x) : null
    const right = end < width ? meanOf(photo, start + end, start + Math.min(width, end + ROW_ENDS)) : null
    const from = left ?? right
    const to = right ?? left
    for (let at = x; at < end && from && to; at++) {
      if (wanted.data[start + at] <= 0) continue
      const share = (at - x + 1) / (end - x + 1)
      for (let c = 0; c < 3; c++) out.data[(start + at) * 3 + c] = from[c] + (to[c] - from[c]) * share
    }
    x = end
  }
}

function meanOf({ data }: Colours, from: number, to: number): [number, number, number] {
  const sum: [number, number, number] = [0, 0, 0]
  for (let i = from; i < to; i++) for (let c = 0; c < 3; c++) sum[c] += data[i * 3 + c] / (to - from)
  return sum
}
