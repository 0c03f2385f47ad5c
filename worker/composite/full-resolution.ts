import { cropBitmap, type Rectangle } from '../../api/shared/image.ts'
import type { Bitmap, Plane } from '../raster/plane.ts'
import { blendOnto, copyRgb } from './blend.ts'

/**
 * Puts what an engine changed back into the photo's full frame. `crop` is the part of `frame` that the engine saw, in the
 * frame's px; `image` and `change` are the engine's, of any size with the crop's aspect. Returns RGB of the frame's size;
 * everything outside of the crop, and everything inside whose change is 0, has the frame's own bytes.
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
