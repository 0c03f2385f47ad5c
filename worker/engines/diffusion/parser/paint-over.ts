import type { Mask } from '../../../raster/plane.ts'
import type { Bytes } from '../bytes.ts'

/** The picture with one value in every channel where the mask is set. */
export function paintOver(picture: Bytes, mask: Mask, value: number): Bytes {
  const data = picture.data.map((byte, i) => (mask.data[Math.floor(i / picture.channels)] ? value : byte))
  return { ...picture, data }
}
