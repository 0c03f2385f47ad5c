import { engineFacts } from '../api/shared/engine-catalogue.ts'
import { type TryOnJob, usableImages } from '../api/shared/generation.ts'
import type { Log } from '../api/shared/log.ts'
import type { Images } from '../api/shared/stores/images.ts'
import type { Detections } from './detections.ts'
import type { TryOnResult } from './inference/protocol.ts'

export interface RememberOptions {
  readonly images: Images
  readonly detections: Detections
  readonly log: Log
}

/** Keeps what a try-on found out about a job's pictures for the next one with them. */
export type Remember = (
  job: Pick<TryOnJob, 'person' | 'product' | 'engine' | 'garmentTypes'>,
  result: Pick<TryOnResult, 'found' | 'detected'>,
) => Promise<void>

/** Never throws: the try-on is done and paid for, and the next one finds the same out again. */
export function createRemember({ images, detections, log }: RememberOptions): Remember {
  return async ({ person, product, engine, garmentTypes }, { found, detected }) => {
    const { id: productId, imagesEdition } = product
    const [image] = usableImages(product.images, garmentTypes ?? engineFacts(engine).garmentTypes)
    try {
      await Promise.all([
        found && images.savePrepared(person.imageId, { ...found, viewKey: null }),
        detected && detections.note({ productId, imagesEdition, order: image.order, detected }),
      ])
    } catch (error) {
      log.warn({ error, imageId: person.imageId, productId }, 'detections not stored')
    }
  }
}
