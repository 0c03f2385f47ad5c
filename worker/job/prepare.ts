import { DrapeError } from '../../api/shared/contract/errors.ts'
import { type PrepareJob, viewKeyOf } from '../../api/shared/generations/generation.ts'
import type { Images } from '../../api/shared/image/images.store.ts'
import type { ObjectStorage } from '../../api/shared/storage/object.ts'
import type { Inference } from '../inference/pool.ts'

export interface PrepareOptions {
  readonly images: Images
  readonly storage: ObjectStorage
  readonly inference: Inference
}

const LIMIT_MS = 20_000

/** Prepares one uploaded photo: detects the person, stores the cropped view and records the crop. Idempotent. */
export async function prepareUpload(
  { imageId }: PrepareJob,
  { images, storage, inference }: PrepareOptions,
): Promise<void> {
  const image = await images.find(imageId)
  const photo = image && (await storage.get(image.objectKey))
  if (!photo) throw new DrapeError('GENERATION_FAILED', 'The photo has been deleted.')
  const { view, hash, crop, personDetected, warnings } = await inference.run(
    'prepare',
    { photo },
    { signal: AbortSignal.timeout(LIMIT_MS), onProgress: () => {}, subject: imageId },
  )
  const viewKey = viewKeyOf(image.objectKey)
  const kept = await images.insertView({ imageId, viewKey, bytes: view.byteLength, hash })
  if (!kept) throw deletedMeanwhile()
  await storage.put(viewKey, view, { contentType: 'image/jpeg' })
  if (await images.savePrepared(imageId, { viewKey, crop, personDetected, warnings })) return
  await storage.delete([viewKey])
  throw deletedMeanwhile()
}

function deletedMeanwhile(): DrapeError {
  return new DrapeError('GENERATION_FAILED', 'The photo was deleted during the request.')
}
