import type { Mask } from '../../../raster/plane.ts'
import type { Bytes } from '../../diffusion/bytes.ts'

/** The middle of the values that the model knows. */
const GREY = 127

/** The picture with grey where the mask is set. */
export function paintOver(picture: Bytes, mask: Mask): Bytes {
  const data = picture.data.map((value, i) => (mask.data[Math.floor(i / picture.channels)] ? GREY : value))
  return { ...picture, data }
}
