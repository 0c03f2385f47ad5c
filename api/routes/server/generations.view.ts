import type { ObjectStorage } from '../../shared/storage/object.ts'
import type { GenerationRecord } from '../../shared/stores/generations.ts'
import type { EstimateWait } from '../../wait-estimate.ts'

/** A generation as callers see it. */
export type PresentGeneration = (generation: GenerationRecord) => Promise<ReturnType<typeof present>>

/** Seconds that a result link works; fetching the generation again gives a fresh one. */
const RESULT_SECONDS = 3600

export function createGenerationView({
  storage,
  estimateWait,
}: {
  storage: ObjectStorage
  estimateWait: EstimateWait
}): PresentGeneration {
  return async (generation) => {
    const waits = generation.status === 'PENDING'
    return present(generation, {
      resultImageUrl: await resultUrl(generation, storage),
      wait: waits ? await estimateWait(generation.id) : null,
    })
  }
}

function present(
  generation: GenerationRecord,
  { resultImageUrl, wait }: { resultImageUrl: string | null; wait: Awaited<ReturnType<EstimateWait>> },
) {
  const { id, status, errorCode, errorMessage, createdAt, updatedAt } = generation
  return {
    generationId: id,
    status,
    ...wait,
    ...(status === 'PROCESSING' && { progress: generation.progress ?? 0 }),
    ...(status === 'COMPLETED' && {
      resultImageUrl,
      ...(resultImageUrl === null && { imagesExpired: true }),
      engine: generation.engineInfo,
      category: generation.category,
      timings: generation.timings,
      warnings: generation.warnings,
    }),
    ...(status === 'FAILED' && { errorMessage, ...(errorCode && { errorCode }) }),
    createdAt: createdAt.toISOString(),
    updatedAt: updatedAt.toISOString(),
  }
}

async function resultUrl(
  { resultKey, imagesExpireAt }: GenerationRecord,
  storage: ObjectStorage,
): Promise<string | null> {
  if (resultKey === null || imagesExpireAt.getTime() <= Date.now()) return null
  return storage.signedUrl(resultKey, { expiresInSeconds: RESULT_SECONDS })
}
