import type { Person } from '../../person/person.ts'
import { invert, type Size } from '../../raster/plane.ts'
import { type Bytes, createBytes } from '../diffusion/bytes.ts'
import type { TrainedCategory } from '../diffusion/category.ts'
import { paintOver } from '../diffusion/parser/paint-over.ts'
import type { ProductPhoto } from '../diffusion/product.ts'
import { fitOnCanvas, HIDDEN } from './canvas.ts'
import type { Posed } from './conditions.ts'

/**
 * The product photo on the canvas. If a person wears the garment, all but the garment is grey, uncropped, and the skeleton is the
 * wearer's, as in the published pre-processing of photos of models; else there is no skeleton.
 * @throws MISSING_REQUIRED_CLASSIFICATION as `ProductPhoto.worn`
 */
export async function placeProduct(
  product: ProductPhoto,
  category: TrainedCategory,
  { canvas, skeletonOf }: { canvas: Size; skeletonOf: (picture: Bytes, wearer: Person | null) => Promise<Bytes> },
): Promise<Posed> {
  const picture = await product.picture()
  const worn = await product.worn(category)
  if (!worn) return { picture: fitOnCanvas(picture, canvas), skeleton: createBytes(canvas, 1) }
  return {
    picture: fitOnCanvas(paintOver(picture, invert(worn.mask), HIDDEN), canvas),
    skeleton: fitOnCanvas(await skeletonOf(picture, worn.wearer), canvas, { exact: true }),
  }
}
