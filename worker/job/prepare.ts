import { DrapeError } from '../../api/shared/contract/errors.ts'
import type { PrepareJob } from '../../api/shared/generations/generation.ts'
import type { WorkerOperations } from '../../api/shared/generations/worker-calls.ts'
import type { ObjectStorage } from '../../api/shared/storage/object.ts'
import type { Inference } from '../inference/pool.ts'

export interface PrepareOptions {
  readonly calls: Pick<WorkerOperations, 'findPhoto' | 'insertView' | 'savePrepared'>
  readonly storage: ObjectStorage
  readonly inference: Inference
}

const LIMIT_MS = 20_000

/** Prepares one uploaded photo: detects the person, stores the cropped view and records the crop. Idempotent. */
export async function prepareUpload(
  { imageId }: PrepareJob,
  { calls, storage, inference }: PrepareOptions,
): Promise<void> {
  const image = await calls.findPhoto({ imageId })
  const photo = image && (await storage.get(image.objectKey))
  if (!photo) throw new DrapeError('GENERATION_FAILED', 'The photo has been deleted.')
  const { view, hash, crop, personDetected, warnings } = await inference.run(
    'prepare',
    { photo },
    { signal: AbortSignal.timeout(LIMIT_MS), onProgress: () => {}, subject: imageId },
  )
  const viewKey = await calls.insertView({ imageId, bytes: view.byteLength, hash })
  if (viewKey === null) throw deletedMeanwhile()
  await storage.put(viewKey, view, { contentType: 'image/jpeg' })
  if (await calls.savePrepared({ imageId, crop, personDetected, warnings })) return
  await storage.delete([viewKey])
  throw deletedMeanwhile()
}

function deletedMeanwhile(): DrapeError {
  return new DrapeError('GENERATION_FAILED', 'The photo was deleted during the request.')
}
