import type { Models } from '../../inference/models.ts'
import { type Bitmap, maskWhere, type Size } from '../../raster/plane.ts'
import { type Bytes, createBytes, onWhite } from '../diffusion/bytes.ts'
import { refuseWorn, type TrainedCategory } from '../diffusion/product.ts'
import { fitOnCanvas, limitToCanvas } from './canvas.ts'
import type { Posed } from './conditions.ts'
import { anyOf, COVERED } from './masked/labels.ts'
import { paintOver } from './masked/paint-over.ts'
import type { Parser } from './masked/parse.ts'

/**
 * The product photo on the canvas, transparent parts white, without a skeleton: nobody wears it.
 * @throws MISSING_REQUIRED_CLASSIFICATION when somebody does.
 */
export async function placeProduct(photo: Bitmap, canvas: Size, models: Models): Promise<Posed> {
  const limited = limitToCanvas(onWhite(photo), canvas)
  await refuseWorn({ ...limited, channels: 3 }, models)
  return { picture: fitOnCanvas(limited, canvas), skeleton: createBytes(canvas, 1) }
}

/**
 * The same where a parser can cut the garment out of a photo of somebody who wears it: all else is grey then, and `skeletonOf` draws who
 * wears it. It returns null when nobody does.
 */
export async function placeAnyProduct(
  photo: Bitmap,
  category: TrainedCategory,
  {
    canvas,
    parser,
    skeletonOf,
  }: { canvas: Size; parser: Parser; skeletonOf: (picture: Bytes) => Promise<Bytes | null> },
): Promise<Posed> {
  const limited = limitToCanvas(onWhite(photo), canvas)
  const skeleton = await skeletonOf(limited)
  if (!skeleton) return { picture: fitOnCanvas(limited, canvas), skeleton: createBytes(canvas, 1) }
  const garment = anyOf(await parser.parse(limited), COVERED[category].clothes)
  const others = maskWhere(garment, (i) => !garment.data[i])
  return {
    picture: fitOnCanvas(paintOver(limited, others), canvas),
    skeleton: fitOnCanvas(skeleton, canvas, { exact: true }),
  }
}
