import type { StoredResult } from '../shared/generations/generation.ts'
import type { GenerationRecord } from '../shared/generations/generations.store.ts'
import { cacheBriefly } from '../shared/process/brief-cache.ts'
import type { ObjectStorage } from '../shared/storage/object.ts'
import type { Wait, WaitEstimate } from './engines/wait-estimate.ts'
import type { Generation } from './generations.schema.ts'

/** Presents a generation to callers. */
export type PresentGeneration = (generation: GenerationRecord) => Promise<Generation>

/** Creates the URL of the page on which a shopper can appeal a refusal; null if the installation has no such page. */
export type AppealUrlOf = (refusal: { readonly id: string; readonly refusedAt: Date }) => string | null

/** Lifetime of a result link in seconds; fetching the generation again returns a new link. */
const RESULT_SECONDS = 3600
const SAME_LINK_MS = 60_000

export function createGenerationView({
  storage,
  estimateWait,
  appealUrlOf,
}: {
  storage: ObjectStorage
  estimateWait: WaitEstimate['ofGeneration']
  appealUrlOf: AppealUrlOf
}): PresentGeneration {
  // Requests within a short time get the same link, so that browsers can cache the image.
  const links = cacheBriefly((key) => storage.signedUrl(key, { expiresInSeconds: RESULT_SECONDS }), {
    ms: SAME_LINK_MS,
  })
  return async (generation) => {
    const { id, isAppealable, updatedAt } = generation
    const waits = generation.status === 'PENDING'
    const key = findResultKey(generation)
    return presentGeneration(generation, {
      resultImageUrl: key === null ? null : await links(key),
      resultUrls:
        key === null ? [] : await Promise.all((generation.results ?? []).map((result) => urlsOf(result, links))),
      wait: waits ? await estimateWait(generation.id) : null,
      appealUrl: isAppealable ? appealUrlOf({ id, refusedAt: updatedAt }) : null,
    })
  }
}

type Layer = NonNullable<GenerationRecord['layers']>[number]

export interface Presented {
  /** Null when there is no result, or it has expired. */
  readonly resultImageUrl: string | null
  /** Of each result, in their order. */
  readonly resultUrls: readonly ResultUrls[]
  readonly wait: Wait | null
  readonly appealUrl: string | null
}

/** Null for an image that does not exist, or no longer. */
interface ResultUrls {
  readonly imageUrl: string | null
  readonly changedMaskUrl: string | null
}

async function urlsOf({ key, changedKey }: StoredResult, links: (key: string) => Promise<string>): Promise<ResultUrls> {
  const urlOf = async (each?: string) => (each === undefined ? null : links(each))
  return { imageUrl: await urlOf(key), changedMaskUrl: await urlOf(changedKey) }
}

/** A generation as callers get it, with these links. */
export function presentGeneration(
  generation: GenerationRecord,
  { resultImageUrl, resultUrls, wait, appealUrl }: Presented,
): Generation {
  const {
    id,
    status,
    engine,
    requestedEngine,
    errorCode,
    errorMessage,
    errorDetails,
    consent,
    layers,
    reused,
    results,
    createdAt,
    updatedAt,
  } = generation
  return {
    generationId: id,
    status,
    engineName: engine,
    ...(requestedEngine !== null && { requestedEngine }),
    ...wait,
    ...(status === 'PROCESSING' && { progress: generation.progress ?? 0 }),
    ...(status === 'COMPLETED' && {
      ...(resultImageUrl === null ? { imagesExpired: true } : { resultImageUrl }),
      ...(results !== null && { results: results.map((result, i) => presentResult(result, resultUrls[i])) }),
      // As reported by the worker.
      engine: generation.engineInfo as Generation['engine'],
      category: generation.category,
      quality: generation.quality,
      timings: generation.timings as Generation['timings'],
      warnings: generation.warnings,
      ...(reused && { reused }),
      ...(generation.ingredientSalt !== null && { ingredientSalt: generation.ingredientSalt }),
    }),
    ...(status === 'FAILED' && {
      errorMessage: errorMessage ?? undefined,
      ...(errorCode && { errorCode }),
      ...(errorDetails && { errorDetails }),
      ...(appealUrl !== null && { appealUrl }),
    }),
    ...(consent !== null && { consent }),
    ...(layers !== null && { layers: layers.map(presentLayer) }),
    createdAt: createdAt.toISOString(),
    updatedAt: updatedAt.toISOString(),
  }
}

function presentLayer({ externalId, layer, applied, quality, warnings, errorCode, errorMessage }: Layer) {
  return {
    productExternalId: externalId,
    layer,
    ...(applied === true && { applied, quality, warnings }),
    ...(applied === false && { applied, errorCode: errorCode ?? undefined, errorMessage: errorMessage ?? undefined }),
  }
}

function presentResult({ key: _, changedKey: __, ...about }: StoredResult, urls?: ResultUrls) {
  const { imageUrl = null, changedMaskUrl = null } = urls ?? {}
  return { ...about, ...(imageUrl !== null && { imageUrl }), ...(changedMaskUrl !== null && { changedMaskUrl }) }
}

/** Key of the result that callers may see; null when there is none, or it has expired. */
export function findResultKey({ resultKey, imagesExpireAt }: GenerationRecord): string | null {
  return imagesExpireAt.getTime() <= Date.now() ? null : resultKey
}
