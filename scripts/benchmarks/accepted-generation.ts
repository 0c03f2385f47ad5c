import { v7 as uuidv7 } from 'uuid'
import { acceptGeneration } from '../../api/generations/acceptance.store.ts'
import { createGenerations } from '../../api/shared/generations/generations.store.ts'
import { createObjects } from '../../api/shared/storage/objects.store.ts'
import type { Bench } from './bench.ts'
import { EXTERNAL_ID, insertSample } from './sample-data.ts'

/** Inserts a completed generation without running a worker. */
export async function insertCompleted(bench: Bench): Promise<string> {
  const { database, accountId } = bench
  const { imageId } = await insertSample(bench)
  const id = `gen_${uuidv7()}`
  await acceptGeneration(database, {
    generationId: id,
    accountId,
    externalUserId: null,
    imageId,
    product: { id: uuidv7(), externalId: EXTERNAL_ID, anonymous: false },
    engine: 'warp',
    garmentTypes: ['flat_lay', 'ghost_mannequin'],
    cost: 1,
    options: { watermark: true, seed: 42, mode: 'balanced', format: 'jpeg', fullResolution: false },
    deadlineSeconds: 300,
    keepForDays: null,
  })
  const generations = createGenerations(database)
  await generations.start({ id, attempt: 1, worker: 'bench' })
  const resultKey = `results/${accountId}/${id}-1.jpg`
  await createObjects(database).insertResult({ key: resultKey, bytes: 1, id, attempt: 1 })
  await generations.complete({
    id,
    attempt: 1,
    outcome: {
      resultKey,
      warnings: [],
      timings: { decode: 40, engine: 600, composite: 30, encode: 20 },
      engineInfo: { name: 'warp', version: '1', license: 'Apache-2.0', kind: 'preview' },
      category: 'tops',
    },
  })
  return id
}
