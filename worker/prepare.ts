import { DrapeError } from '../api/shared/errors.ts'
import { type Prepared, type PrepareJob, viewKeyOf } from '../api/shared/generation.ts'
import type { ObjectStorage } from '../api/shared/storage/object.ts'
import type { Images } from '../api/shared/stores/images.ts'
import type { Inference } from './inference/pool.ts'

export interface PrepareOptions {
  readonly images: Images
  readonly storage: ObjectStorage
  readonly inference: Inference
}

const LIMIT_MS = 20_000

/** Prepares one uploaded photo: detects the person, stores the cropped view and records the crop. Idempotent. */
export async function prepareUpload(
  job: PrepareJob,
  { images, storage, inference }: PrepareOptions,
): Promise<Prepared> {
  const photo = await storage.get(job.objectKey)
  if (!photo) throw new DrapeError('GENERATION_FAILED', 'The photo has been deleted.')
  const { view, hash, crop, personDetected, warnings } = await inference.run(
    'prepare',
    { photo },
    { signal: AbortSignal.timeout(LIMIT_MS), onProgress: () => {}, subject: job.imageId },
  )
  const viewKey = viewKeyOf(job.objectKey)
  const kept = await images.insertView({ imageId: job.imageId, viewKey, bytes: view.byteLength, hash })
  if (!kept) throw deletedMeanwhile()
  await storage.put(viewKey, view, { contentType: 'image/jpeg' })
  const prepared = { viewKey, crop, personDetected, warnings }
  if (await images.savePrepared(job.imageId, prepared)) return prepared
  await storage.delete([viewKey])
  throw deletedMeanwhile()
}

function deletedMeanwhile(): DrapeError {
  return new DrapeError('GENERATION_FAILED', 'The photo was deleted during the request.')
}
