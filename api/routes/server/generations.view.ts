import type { GenerationRecord } from '../../shared/stores/generations.ts'

/** A generation as callers see it. `resultImageUrl` is a fresh link, or null when the images are past their time. */
export function presentGeneration(generation: GenerationRecord, resultImageUrl: string | null) {
  const { id, status, errorCode, errorMessage, createdAt, updatedAt } = generation
  return {
    generationId: id,
    status,
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
