import { cropBitmap, type Rectangle } from '../../../api/shared/image/image.ts'
import type { Bitmap, Plane } from '../raster/plane.ts'
import { blendOnto, copyRgb } from './blend.ts'

/**
 * Blends an engine's result into the full frame of the photo. `crop` is the part of `frame` that the engine received, in
 * px of the frame. `image` and `change` are the engine's output, of any size with the aspect of the crop. Returns RGB of
 * the frame's size; every pixel outside the crop, or with a change of 0, has the bytes of the frame.
 */
export function placeIntoFrame({
  frame,
  crop,
  image,
  change,
}: {
  frame: Bitmap
  crop: Rectangle
  image: Bitmap
  change: Plane
}): Bitmap {
  const out = copyRgb(frame)
  const blended = cropBitmap(out, crop)
  blendOnto(blended, { image, change })
  const stride = crop.width * 3
  for (let row = 0; row < crop.height; row++) {
    const start = ((crop.y + row) * out.width + crop.x) * 3
    out.data.set(blended.data.subarray(row * stride, (row + 1) * stride), start)
  }
  return out
}
