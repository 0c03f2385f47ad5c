import type { Models } from '../../inference/models.ts'
import type { Bitmap, Size } from '../../raster/plane.ts'
import { type Bytes, onWhite } from '../diffusion/bytes.ts'
import { refuseWorn } from '../diffusion/product.ts'
import { resizeLanczos } from '../diffusion/resize-lanczos.ts'

/**
 * The product photo in the middle of a white canvas, as large as fits.
 * @throws MISSING_REQUIRED_CLASSIFICATION when somebody wears the garment.
 */
export async function placeProduct(photo: Bitmap, canvas: Size, models: Models): Promise<Bytes> {
  const picture = onWhite(photo)
  await refuseWorn({ ...picture, channels: 3 }, models)
  return fitOnWhite(picture, canvas)
}

/** Sizes are cut to whole px, as by the published pipeline. */
export function fitOnWhite(picture: Bytes, canvas: Size): Bytes {
  const { width, height, channels } = picture
  const isNarrow = width / height < canvas.width / canvas.height
  const fitted = resizeLanczos(picture, {
    width: isNarrow ? Math.max(1, Math.floor((width * canvas.height) / height)) : canvas.width,
    height: isNarrow ? canvas.height : Math.max(1, Math.floor((height * canvas.width) / width)),
  })
  const data = new Uint8Array(canvas.width * canvas.height * channels).fill(255)
  const [left, top] = [(canvas.width - fitted.width) >> 1, (canvas.height - fitted.height) >> 1]
  const stride = fitted.width * channels
  for (let y = 0; y < fitted.height; y++)
    data.set(fitted.data.subarray(y * stride, (y + 1) * stride), ((top + y) * canvas.width + left) * channels)
  return { ...canvas, channels, data }
}
