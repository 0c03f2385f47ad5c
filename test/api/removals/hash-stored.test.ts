import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { hashStoredImages } from '../../../api/removals/hash-stored.ts'
import { rowType, sql } from '../../../api/shared/database/database.ts'
import { Type } from '../../../api/shared/schema.ts'
import { createStorage, type ObjectStorage } from '../../../api/shared/storage/storage.ts'
import { createImageHashes } from '../../../api/shared/stores/image-hashes.ts'
import { type Drape, startDrape } from '../../support/drape.ts'

const NAMES = ['apose-full', 'crossed-half', 'abe-mustard']
const Hash = rowType(Type.Object({ key: Type.String(), hash: Type.String() }))

let drape: Drape
let storage: ObjectStorage
beforeAll(async () => {
  drape = await startDrape({})
  storage = await createStorage(drape.env.STORAGE_URL, { publicUrl: '', signingSecret: '' })
  for (const name of NAMES) {
    const body = new FormData()
    const photo = readFileSync(new URL(`../../fixtures/persons/${name}.jpg`, import.meta.url))
    body.set('file', new Blob([photo]), 'me.jpg')
    await drape.call('POST', '/tryon/v1/images/upload', { body })
  }
})
afterAll(async () => {
  storage.close()
  await drape.stop()
})

it('hashes images of an earlier version like uploads, and skips damaged images', async () => {
  const { database } = drape
  const read = () =>
    database.any(sql.type(Hash)`select object_key as key, hash::text as hash from image_hashes order by object_key`)
  const before = await read()
  expect(before).toHaveLength(NAMES.length)
  await database.query(sql.unsafe`delete from image_hashes`)
  // An object that was just stored may belong to an unfinished upload.
  await database.query(sql.unsafe`update objects set created_at = created_at - interval '1 hour'`)
  const [damaged, missing, whole] = before
  await storage.put(damaged.key, Buffer.from('no image'), { contentType: 'image/jpeg' })
  await storage.delete([missing.key])
  const hashes = createImageHashes(database)
  expect(await hashStoredImages({ hashes, storage })).toEqual({ hashed: 1, skipped: 2 })
  expect(await read()).toEqual([whole])
  expect(await hashStoredImages({ hashes, storage })).toEqual({ hashed: 0, skipped: 2 })
})
