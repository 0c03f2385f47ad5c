import { DrapeError } from '../../../api/shared/errors.ts'
import type { Detected } from '../../../api/shared/generation.ts'
import { detectGarment, isWorn } from '../../garment/classify.ts'
import type { Category } from '../../garment/garment.ts'
import { prepareGarment } from '../../garment/prepare-garment.ts'
import type { Models } from '../../inference/models.ts'
import { findPerson } from '../../person/find-person.ts'
import type { Person } from '../../person/person.ts'
import type { Bitmap } from '../../raster/plane.ts'

/** What the models were trained on. */
export type TrainedCategory = 'tops' | 'bottoms' | 'one-pieces'

/** Who wears the garment in a product photo; null when nobody does. */
export async function findWearer(photo: Bitmap, models: Models): Promise<Person | null> {
  const wearer = await findPerson(photo, models, { small: false })
  return wearer && isWorn(wearer) ? wearer : null
}

/** @throws MISSING_REQUIRED_CLASSIFICATION when somebody wears the garment in the product photo. */
export async function refuseWorn(photo: Bitmap, models: Models): Promise<void> {
  if (await findWearer(photo, models))
    throw new DrapeError('MISSING_REQUIRED_CLASSIFICATION', 'The product photo shows the garment on a person', {
      details: { key: 'flat_lay' },
    })
}

export interface ProductCategory {
  readonly category: TrainedCategory
  /** What the photo shows by its looks; absent where the caller's word was enough or nothing could be made of it. */
  readonly detected?: Detected
  readonly warnings: readonly string[]
}

const TRAINED: Readonly<Record<Exclude<Category, 'other'>, TrainedCategory>> = {
  tops: 'tops',
  outerwear: 'tops',
  bottoms: 'bottoms',
  'one-pieces': 'one-pieces',
}

/** The category that the model is told: the caller's, else the one the photo shows, else tops with the warning CATEGORY_ASSUMED. */
export function categoryOfProduct(photo: Bitmap, given: Category | null): ProductCategory {
  if (given !== null && given !== 'other') return { category: TRAINED[given], warnings: [] }
  try {
    const detected = detectGarment(prepareGarment(photo, { category: given }))
    if (detected.category !== 'other') return { category: TRAINED[detected.category], detected, warnings: [] }
  } catch (error) {
    if (!(error instanceof DrapeError)) throw error
  }
  return { category: 'tops', warnings: ['CATEGORY_ASSUMED'] }
}
