import type { Bytes } from '../../../vision/raster/bytes.ts'
import type { Mask } from '../../../vision/raster/plane.ts'

/** Fills the mask with one value in every channel. */
export function paintOver(bitmap: Bytes, mask: Mask, value: number): Bytes {
  const data = bitmap.data.map((byte, i) => (mask.data[Math.floor(i / bitmap.channels)] ? value : byte))
  return { ...bitmap, data }
}
