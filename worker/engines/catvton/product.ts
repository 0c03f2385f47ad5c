import { cropBitmap } from '../../../api/shared/image.ts'
import { boundsOf } from '../../person/bounds.ts'
import { connectedComponents, keepComponents } from '../../raster/components.ts'
import { type Bitmap, invert, type Mask, type Size } from '../../raster/plane.ts'
import { type Bytes, onWhite } from '../diffusion/bytes.ts'
import type { TrainedCategory } from '../diffusion/category.ts'
import { paintOver } from '../diffusion/parser/paint-over.ts'
import type { ProductPhoto } from '../diffusion/product.ts'
import { resizeLanczos } from '../diffusion/resize-lanczos.ts'

const WHITE = 255
/** Margin around a garment cutout, as a share of its longer side. */
const MARGIN = 0.05
/** Min area of a piece of the garment, as a share of the largest piece: smaller pieces are parser noise. */
const SPECK = 0.01

/**
 * Centres the product photo on a white canvas, as large as fits. If a person wears the garment, cuts the garment out and enlarges it, so
 * that the canvas resembles the flat-lay photos that the model was trained on.
 * @throws MISSING_REQUIRED_CLASSIFICATION as `ProductPhoto.worn`
 */
export async function placeProduct(
  photo: Bitmap,
  product: ProductPhoto,
  { category, canvas }: { category: TrainedCategory; canvas: Size },
): Promise<Bytes> {
  const worn = await product.worn(category)
  return fitOnWhite(worn ? cutOut(await product.bitmap(), worn.mask) : onWhite(photo), canvas)
}

/** The garment on white, without specks, cropped to a margin around the garment. */
function cutOut(bitmap: Bytes, mask: Mask): Bytes {
  const garment = withoutSpecks(mask)
  const bounds = boundsOf(garment, (value) => value === 1) ?? { x: 0, y: 0, ...bitmap }
  const margin = Math.round(MARGIN * Math.max(bounds.width, bounds.height))
  const [x, y] = [Math.max(0, bounds.x - margin), Math.max(0, bounds.y - margin)]
  const width = Math.min(bitmap.width, bounds.x + bounds.width + margin) - x
  const height = Math.min(bitmap.height, bounds.y + bounds.height + margin) - y
  const alone = paintOver(bitmap, invert(garment), WHITE)
  return cropBitmap({ ...alone, channels: 3 }, { x, y, width, height })
}

/** A wrong pixel far from the garment would enlarge the crop and shrink the garment. */
function withoutSpecks(mask: Mask): Mask {
  const { components } = connectedComponents(mask)
  const largest = components.reduce((area, component) => Math.max(area, component.area), 0)
  return keepComponents(mask, ({ area }) => area >= SPECK * largest)
}

/** Truncates sizes to whole px, as the published pipeline does. */
export function fitOnWhite(bitmap: Bytes, canvas: Size): Bytes {
  const { width, height, channels } = bitmap
  const isNarrow = width / height < canvas.width / canvas.height
  const fitted = resizeLanczos(bitmap, {
    width: isNarrow ? Math.max(1, Math.floor((width * canvas.height) / height)) : canvas.width,
    height: isNarrow ? canvas.height : Math.max(1, Math.floor((height * canvas.width) / width)),
  })
  const data = new Uint8Array(canvas.width * canvas.height * channels).fill(WHITE)
  const [left, top] = [(canvas.width - fitted.width) >> 1, (canvas.height - fitted.height) >> 1]
  const stride = fitted.width * channels
  for (let y = 0; y < fitted.height; y++)
    data.set(fitted.data.subarray(y * stride, (y + 1) * stride), ((top + y) * canvas.width + left) * channels)
  return { ...canvas, channels, data }
}
