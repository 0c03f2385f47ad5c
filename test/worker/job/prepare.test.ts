import { v7 as uuidv7 } from 'uuid'
import { beforeAll, expect, it } from 'vitest'
import { createAccounts } from '../../../api/accounts/accounts.store.ts'
import { createWorkerOperations } from '../../../api/generations/worker-operations.ts'
import { createGenerations } from '../../../api/shared/generations/generations.store.ts'
import { createImages } from '../../../api/shared/image/person-photos.store.ts'
import { createStorage, type ObjectStorage } from '../../../api/shared/storage/storage.ts'
import type { Inference } from '../../../worker/inference/pool.ts'
import type { PrepareRequest } from '../../../worker/inference/protocol.ts'
import { prepareUpload } from '../../../worker/job/prepare.ts'
import { openTestDatabase } from '../../support/postgres.ts'
import { requestService } from '../../support/request-service.ts'

const { database } = await openTestDatabase({ poolSize: 1 })
let storage: ObjectStorage

beforeAll(async () => {
  const { path } = await requestService('folder', null)
  storage = await createStorage(`file:${path}`, { publicUrl: '', signingSecret: '' })
})

async function upload(text: string) {
  const { id: accountId } = await createAccounts(database).insert({ name: 'Test', email: null, credits: 0 })
  const imageId = `img_${uuidv7()}`
  const objectKey = `persons/${accountId}/${imageId}.jpg`
  await createImages(database).insert({
    id: imageId,
    accountId,
    objectKey,
    bytes: text.length,
    externalUserId: null,
    width: 80,
    height: 100,
    cropMode: 'auto',
    expiresAt: new Date(Date.now() + 60_000),
  })
  await storage.put(objectKey, Buffer.from(text), { contentType: 'image/jpeg' })
  return { imageId, objectKey }
}

it('prepares the photo of its own row, whatever the queue names, and leaves the findings there', async () => {
  const [mine, theirs] = [await upload('my photo'), await upload('their photo')]
  const crop = { x: 0, y: 0, width: 80, height: 100 }
  const seen: string[] = []
  const run = async (_: string, request: unknown) => {
    seen.push(Buffer.from((request as PrepareRequest).photo).toString())
    return { crop, personDetected: true, warnings: ['blurred'], view: Buffer.from('view'), hash: null }
  }
  const calls = createWorkerOperations(database, createGenerations(database))
  const forged = { imageId: mine.imageId, objectKey: theirs.objectKey }
  const result = await prepareUpload(forged, { calls, storage, inference: { run } as unknown as Inference })
  expect(seen).toEqual(['my photo'])
  // The queue would keep a result.
  expect(result).toBeUndefined()
  expect(await createImages(database).find(mine.imageId)).toMatchObject({
    crop,
    personDetected: true,
    warnings: ['blurred'],
  })
  expect(await createImages(database).find(theirs.imageId)).toMatchObject({ personDetected: null })
  expect(await storage.get(mine.objectKey.replace('.jpg', '-view.jpg'))).toEqual(Buffer.from('view'))
})
