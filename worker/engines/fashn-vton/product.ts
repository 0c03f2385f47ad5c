import type { Person } from '../../person/person.ts'
import { type Bytes, createBytes } from '../../raster/bytes.ts'
import { invert, type Size } from '../../raster/plane.ts'
import { fitOnCanvas, HIDDEN } from './canvas.ts'
import type { TrainedCategory } from './category.ts'
import type { Posed } from './conditions.ts'
import { paintOver } from './parser/paint-over.ts'
import type { ProductPhoto } from './product-photo.ts'

/**
 * Fits the product photo on the canvas. If a person wears the garment, fills everything except the garment with grey, without
 * cropping, and returns the wearer's skeleton, as in the published pre-processing of on-model photos. Otherwise returns no
 * skeleton.
 * @throws MISSING_REQUIRED_CLASSIFICATION as `ProductPhoto.worn`
 */
export async function placeProduct(
  product: ProductPhoto,
  category: TrainedCategory,
  { canvas, skeletonOf }: { canvas: Size; skeletonOf: (bitmap: Bytes, wearer: Person | null) => Promise<Bytes> },
): Promise<Posed> {
  const bitmap = await product.bitmap()
  const worn = await product.worn(category)
  if (!worn) return { bitmap: fitOnCanvas(bitmap, canvas), skeleton: createBytes(canvas, 1) }
  return {
    bitmap: fitOnCanvas(paintOver(bitmap, invert(worn.mask), HIDDEN), canvas),
    skeleton: fitOnCanvas(await skeletonOf(bitmap, worn.wearer), canvas, { exact: true }),
  }
}
