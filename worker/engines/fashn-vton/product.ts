import { DrapeError } from '../../../api/shared/contract/errors.ts'
import type { Models } from '../../inference/models.ts'
import { findWearer } from '../../vision/garment/worn/wearer.ts'
import type { Person } from '../../vision/person/person.ts'
import { type Bytes, onWhite } from '../../vision/raster/bytes.ts'
import type { Mask, Size } from '../../vision/raster/plane.ts'
import type { EngineInput } from '../engine.ts'
import { limitToCanvas } from './canvas.ts'
import { categoryOfCaller, categoryOfPhoto, type ProductCategory, type TrainedCategory } from './category.ts'
import { categoryOfWorn, findWornGarment, labelWearer } from './worn-garment.ts'

/** A garment and the person who wears it. */
export interface WornGarment {
  /** Pixels of the garment. */
  readonly mask: Mask
  readonly wearer: Person
}

/** A product photo. What it shows is computed on the first call and reused by later ones. */
export interface ProductPhoto {
  /** The photo on white, reduced for the models. */
  bitmap(): Promise<Bytes>
  /** The category for the model: set by the caller, else detected in the photo, else tops with the warning CATEGORY_ASSUMED. */
  category(): Promise<ProductCategory>
  /**
   * The garment of the category in `bitmap` if a person wears it; null if the photo shows the garment alone.
   * @throws MISSING_REQUIRED_CLASSIFICATION if no person in the photo wears such a garment, but one should
   */
  worn(category: TrainedCategory): Promise<WornGarment | null>
}

export interface ProductParts {
  readonly models: Models
  /** Of the model's canvas. */
  readonly canvas: Size
}

/** Cache key of a product: the photo's hash and the caller's classification. */
export function keyOfProduct({ garmentHash, garmentType, category }: EngineInput): string {
  return `${garmentHash} ${garmentType ?? ''} ${category ?? ''}`
}

export function createProductPhoto(
  { garment, garmentType, category: given }: Pick<EngineInput, 'garment' | 'garmentType' | 'category'>,
  { models, canvas }: ProductParts,
): ProductPhoto {
  const bitmap = once(async () => limitToCanvas(onWhite(garment), canvas))
  const wearer = once(async () => findWearer({ photo: { ...(await bitmap()), channels: 3 }, garmentType }, models))
  const labels = once(async () => {
    const person = await wearer()
    return person && labelWearer(await bitmap(), person, models)
  })
  return {
    bitmap,
    category: async () => {
      const named = categoryOfCaller(given)
      if (named) return named
      const seen = await labels()
      return seen ? categoryOfWorn(seen) : categoryOfPhoto(garment, given, models)
    },
    worn: async (category) => {
      const [person, seen] = [await wearer(), await labels()]
      if (!person && garmentType !== 'on_model') return null
      const mask = seen && findWornGarment(seen, category)
      if (person && mask) return { mask, wearer: person }
      throw unusable(
        `The product photo shows no person who wears ${category}. ` +
          'Send a photo in which the garment is worn and visible, or a photo of the garment alone.',
      )
    },
  }
}

function unusable(message: string): DrapeError {
  return new DrapeError('MISSING_REQUIRED_CLASSIFICATION', message, { details: { key: 'flat_lay' } })
}

function once<T>(compute: () => Promise<T>): () => Promise<T> {
  let result: Promise<T> | undefined
  return () => {
    result ??= compute()
    return result
  }
}
