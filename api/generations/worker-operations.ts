import { createWorkerProducts } from '../products/worker-products.store.ts'
import type { ErrorCode } from '../shared/contract/errors.ts'
import type { Database } from '../shared/database/database.ts'
import { changedKeyOf, resultKeyOf, viewKeyOf } from '../shared/generations/generation.ts'
import type { Generations } from '../shared/generations/generations.store.ts'
import type { WorkerOperations } from '../shared/generations/worker-calls.ts'
import { createImages } from '../shared/image/person-photos.store.ts'
import { createProvenanceKeys } from '../shared/provenance/provenance-keys.store.ts'
import { createObjects } from '../shared/storage/objects.store.ts'
import { createSafetyRefusals } from './safety-refusals.store.ts'

/**
 * What workers may do in the database. A worker decodes images of callers and runs native code, so it counts as the process that an
 * attacker takes over first: no operation reads another attempt's images, moves credits but by the end of an attempt, or names an
 * object that another row owns.
 */
export function createWorkerOperations(database: Database, generations: Generations): WorkerOperations {
  const images = createImages(database)
  const objects = createObjects(database)
  const refusals = createSafetyRefusals(database)
  const products = createWorkerProducts(database)
  const { start, handBack, renew, spare } = generations
  return {
    start,
    handBack,
    renew,
    spare,
    retry: ({ failure, ...attempt }) =>
      generations.retry({ ...attempt, ...(failure && { failure: { ...failure, code: failure.code as ErrorCode } }) }),
    fail: ({ code, ...failure }) => generations.fail({ ...failure, code: code as ErrorCode }),
    insertResult: ({ bytes, hash, isMask = false, ...result }) => {
      const { id, attempt } = result
      const key = isMask ? changedKeyOf(keyOf(result)) : keyOf(result)
      return objects.insertResult({ key, bytes, hash, id, attempt })
    },
    complete: ({ outcome: { results, ...outcome }, ...result }) => {
      const stored = results?.map(({ index, isMasked = false, ...about }) => {
        if (index === undefined) return about
        const key = keyOf({ ...result, index })
        return { ...about, key, ...(isMasked && { changedKey: changedKeyOf(key) }) }
      })
      const resultKey = keyOf(result)
      const { id, attempt } = result
      return generations.complete({
        id,
        attempt,
        outcome: { ...outcome, resultKey, ...(stored && { results: stored }) },
      })
    },
    examinePair: async ({ id, accountId, pair }) => ({
      allowances: await refusals.claimAllowances(id, accountId, pair),
      blocked: await refusals.findBlocked(pair),
    }),
    insertRefusal: refusals.insert,
    findPhoto: async ({ imageId }) => {
      const image = await images.find(imageId)
      return image && { objectKey: image.objectKey }
    },
    insertView: async ({ imageId, bytes, hash }) => {
      const image = await images.find(imageId)
      const viewKey = image && viewKeyOf(image.objectKey)
      return viewKey !== null && (await images.insertView({ imageId, viewKey, bytes, hash })) ? viewKey : null
    },
    savePrepared: ({ imageId, ...found }) => images.savePrepared(imageId, { ...found, viewKey: null }),
    noteDetection: products.noteDetection,
    insertProductImage: (image) => objects.insert({ ...image, externalUserId: null, kind: 'product', expiresAt: null }),
    findChangedProducts: (args) => products.findChanged(args.products),
    noteProvenanceKey: createProvenanceKeys(database).note,
  }
}

function keyOf({ id, ...result }: Omit<Parameters<typeof resultKeyOf>[0], 'generationId'> & { readonly id: string }) {
  return resultKeyOf({ ...result, generationId: id })
}
