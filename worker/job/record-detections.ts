import { engineFacts } from '../../api/shared/engines/engine-catalogue.ts'
import { type TryOnJob, usableImages } from '../../api/shared/generations/generation.ts'
import type { WorkerOperations } from '../../api/shared/generations/worker-calls.ts'
import type { Log } from '../../api/shared/telemetry/log.ts'
import type { TryOnResult } from '../inference/protocol.ts'

export interface RecordDetectionsOptions {
  readonly calls: Pick<WorkerOperations, 'savePrepared' | 'noteDetection'>
  readonly log: Log
}

/** Stores the detections of a try-on for the next try-on with the same images. */
export type RecordDetections = (
  job: Pick<TryOnJob, 'person' | 'product' | 'engine' | 'garmentTypes'>,
  result: Pick<TryOnResult, 'found' | 'detected'>,
) => Promise<void>

/** Never throws: the try-on is completed and charged, and the next one repeats the detection. */
export function createRecordDetections({ calls, log }: RecordDetectionsOptions): RecordDetections {
  return async ({ person, product, engine, garmentTypes }, { found, detected }) => {
    const { id: productId, imagesEdition } = product
    const [image] = usableImages(product.images, garmentTypes ?? engineFacts(engine).garmentTypes)
    try {
      await Promise.all([
        found && calls.savePrepared({ ...found, imageId: person.imageId }),
        detected && calls.noteDetection({ productId, imagesEdition, order: image.order, detected }),
      ])
    } catch (error) {
      log.warn({ error, imageId: person.imageId, productId }, 'detections not stored')
    }
  }
}
