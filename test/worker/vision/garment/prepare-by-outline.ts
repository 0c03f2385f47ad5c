import type { Category } from '../../../../worker/vision/garment/garment.ts'
import { describeGarment, limitSide, type PreparedGarment } from '../../../../worker/vision/garment/prepare-garment.ts'
import type { Bitmap } from '../../../../worker/vision/raster/plane.ts'
import { cutOutOnce } from '../../../support/vision.ts'

/** Prepares a garment without models: cut out by colour, recognized by its outline. */
export function prepareGarment(
  bitmap: Bitmap,
  { category, longest = 1400 }: { category: Category | null; longest?: number },
): PreparedGarment {
  return describeGarment(cutOutOnce(limitSide(bitmap, longest)), { category })
}
