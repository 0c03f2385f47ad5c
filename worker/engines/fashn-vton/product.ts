import type { Models } from '../../inference/models.ts'
import type { Bitmap, Size } from '../../raster/plane.ts'
import { createBytes, onWhite } from '../diffusion/bytes.ts'
import { refuseWorn } from '../diffusion/product.ts'
import { fitOnCanvas, limitToCanvas } from './canvas.ts'
import type { Posed } from './conditions.ts'

/**
 * The product photo on the canvas, transparent parts white, without a skeleton: nobody wears it.
 * @throws MISSING_REQUIRED_CLASSIFICATION when somebody does.
 */
export async function placeProduct(photo: Bitmap, canvas: Size, models: Models): Promise<Posed> {
  const limited = limitToCanvas(onWhite(photo), canvas)
  await refuseWorn({ ...limited, channels: 3 }, models)
  return { picture: fitOnCanvas(limited, canvas), skeleton: createBytes(canvas, 1) }
}
