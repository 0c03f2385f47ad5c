import { DrapeError } from '../../../api/shared/contract/errors.ts'
import type { Detected } from '../../../api/shared/generations/generation.ts'
import type { Models } from '../../inference/models.ts'
import { detectGarment } from '../../vision/garment/classify.ts'
import type { Category } from '../../vision/garment/garment.ts'
import { runGarmentModels } from '../../vision/garment/garment-models.ts'
import { LONGEST, prepareProduct } from '../../vision/garment/prepare-product.ts'
import type { Bitmap } from '../../vision/raster/plane.ts'

/** The categories that the models were trained on. */
export type TrainedCategory = 'tops' | 'bottoms' | 'one-pieces'

export interface ProductCategory {
  readonly category: TrainedCategory
  /** What the photo shows; absent if the caller sets the category or the photo does not show a garment. */
  readonly detected?: Detected
  readonly warnings: readonly string[]
}

const TRAINED: Readonly<Record<Exclude<Category, 'other'>, TrainedCategory>> = {
  tops: 'tops',
  outerwear: 'tops',
  bottoms: 'bottoms',
  'one-pieces': 'one-pieces',
}

/** The category that the caller sets; null if the caller sets none that the models know. */
export function categoryOfCaller(given: Category | null): ProductCategory | null {
  return given === null || given === 'other' ? null : { category: TRAINED[given], warnings: [] }
}

/** The category of a garment without a wearer, as its photo shows it. Unknown: tops with the warning CATEGORY_ASSUMED. */
export async function categoryOfPhoto(photo: Bitmap, given: Category | null, models: Models): Promise<ProductCategory> {
  try {
    const options = { category: given, longest: LONGEST }
    const detected = detectGarment(await prepareProduct(photo, options, runGarmentModels(models)))
    if (detected.category !== 'other') return { category: TRAINED[detected.category], detected, warnings: [] }
  } catch (error) {
    if (!(error instanceof DrapeError)) throw error
  }
  return { category: 'tops', warnings: ['CATEGORY_ASSUMED'] }
}
