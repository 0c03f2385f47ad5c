import { type Bitmap, cropBitmap, type Rectangle } from '../../../api/shared/image/image.ts'
import type { Size } from '../../vision/raster/plane.ts'

/** TrustMark marks only the central square of images that are longer than this. */
const MAX_ASPECT = 2

/** The rectangle of an image that carries the mark, in px: the whole image, or its central square. */
export function findMarkedRegion({ width, height }: Size, { isSquare }: { readonly isSquare: boolean }): Rectangle {
  const [short, long] = width < height ? [width, height] : [height, width]
  if (!isSquare && long <= MAX_ASPECT * short) return { x: 0, y: 0, width, height }
  return { x: Math.floor((width - short) / 2), y: Math.floor((height - short) / 2), width: short, height: short }
}

/** The rectangle of the bitmap, without a copy if that is all of it. */
export function cutOut(bitmap: Bitmap, region: Rectangle): Bitmap {
  const isWhole = region.width === bitmap.width && region.height === bitmap.height
  return isWhole ? bitmap : cropBitmap(bitmap, region)
}
