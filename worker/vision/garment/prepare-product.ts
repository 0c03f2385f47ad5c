import { DrapeError } from '../../../api/shared/contract/errors.ts'
import { onWhite } from '../raster/bytes.ts'
import type { Bitmap } from '../raster/plane.ts'
import { cutOut } from './cut-out/cut-out.ts'
import { findSalience } from './cut-out/salience.ts'
import type { Category, CutOut } from './garment.ts'
import type { RunGarmentModel } from './garment-models.ts'
import { describeGarment, limitSide, type PreparedGarment, type WornFront } from './prepare-garment.ts'
import { recognizeCategory } from './recognize.ts'

/** Longest side in px at which a product photo is processed, unless the result has the full resolution. */
export const LONGEST = 1400

export interface ProductOptions {
  /** The category named in the product's text; null if the text names none. */
  readonly category: Category | null
  /** Longest side in px at which the photo is processed. */
  readonly longest: number
  /** Set if the photo is the cutout of a garment that a person wore. */
  readonly worn?: WornFront
}

/**
 * Cuts the garment out of a product photo, rotates it upright and finds its landmarks. If the colours of a plain background do not
 * separate the garment, the salience model does. Without a category in the text, the category model and the outline decide.
 * @throws DrapeError RESULT_REJECTED if the photo does not show a single garment.
 */
export async function prepareProduct(
  bitmap: Bitmap,
  { category, longest, worn }: ProductOptions,
  run: RunGarmentModel,
): Promise<PreparedGarment> {
  const photo = limitSide(bitmap, longest)
  const describe = async (cut: CutOut) =>
    describeGarment(cut, { category, worn, shares: category === null ? await recognizeCategory(cut, run) : null })
  const byColour = await refusalOr(async () => cutOut(photo))
  const garment = byColour instanceof DrapeError ? byColour : await refusalOr(() => describe(byColour))
  if (!(garment instanceof DrapeError) && !(byColour instanceof DrapeError) && !byColour.doubtful) return garment
  // The cutout of a worn garment has no background.
  if (worn && garment instanceof DrapeError) throw garment
  const salience = await findSalience(onWhite(photo), run)
  const second = await refusalOr(() => describe(cutOut(photo, salience)))
  if (!(second instanceof DrapeError)) return second
  if (garment instanceof DrapeError) throw garment
  return garment
}

async function refusalOr<T>(step: () => Promise<T>): Promise<T | DrapeError> {
  try {
    return await step()
  } catch (error) {
    if (error instanceof DrapeError && error.code === 'RESULT_REJECTED') return error
    throw error
  }
}
