import type { Bitmap, Rectangle } from '../../../api/shared/image/image.ts'
import { rgbToLab } from '../../vision/raster/colour.ts'
import { ciede2000 } from '../../vision/raster/colour-difference.ts'

/** CIEDE2000 between an image before and after a change. */
export interface ColourChange {
  readonly mean: number
  /** All but 1 % of the pixels change less. */
  readonly percentile99: number
}

/** Pixels on which the change of an image is measured. */
export interface Samples {
  /** Column and row in the region. */
  readonly places: readonly { readonly column: number; readonly row: number }[]
  /** RGB of each. */
  readonly colours: Uint8Array
}

/** CIEDE2000 takes about 1 µs. */
const MAX_SAMPLES = 16_384

/** Pixels of a regular grid in the region. */
export function pickSamples({ width, channels, data }: Bitmap, region: Rectangle): Samples {
  const step = Math.max(1, Math.ceil(Math.sqrt((region.width * region.height) / MAX_SAMPLES)))
  const places: { column: number; row: number }[] = []
  for (let row = step >> 1; row < region.height; row += step)
    for (let column = step >> 1; column < region.width; column += step) places.push({ column, row })
  const colours = new Uint8Array(places.length * 3)
  for (const [i, { column, row }] of places.entries()) {
    const at = ((region.y + row) * width + region.x + column) * channels
    colours.set(data.subarray(at, at + 3), 3 * i)
  }
  return { places, colours }
}

/** Measures the change that `change` makes to the colours of the samples. */
export function measureChange(
  { places, colours }: Samples,
  change: (data: Uint8Array, at: number, column: number, row: number) => void,
): ColourChange {
  const changed = new Uint8Array(colours)
  for (const [i, { column, row }] of places.entries()) change(changed, 3 * i, column, row)
  const [before, after] = [colours, changed].map(
    (rgb) => rgbToLab({ width: places.length, height: 1, channels: 3, data: new Float32Array(rgb) }).data,
  )
  const labAt = (lab: Float32Array, i: number) => [lab[3 * i], lab[3 * i + 1], lab[3 * i + 2]] as const
  const differences = Float32Array.from(places, (_, i) => ciede2000(labAt(before, i), labAt(after, i))).sort()
  const mean = differences.reduce((sum, value) => sum + value, 0) / differences.length
  return { mean, percentile99: differences[Math.floor(0.99 * (differences.length - 1))] }
}
