import { describe, expect, it } from 'vitest'
import { createAccounts } from '../../../../api/accounts/accounts.store.ts'
import { sql } from '../../../../api/shared/database/database.ts'
import { createImages } from '../../../../api/shared/image/person-photos.store.ts'
import { createDueObjects } from '../../../../api/shared/retention/due-objects.ts'
import { createObjects } from '../../../../api/shared/storage/objects.store.ts'
import { openTestDatabase } from '../../../support/postgres.ts'

describe('the record of an object', async () => {
  const { database } = await openTestDatabase({ poolSize: 2 })

  const accountId = (await createAccounts(database).insert({ name: 'Test', email: null, credits: 0 })).id

  const insert = (key: string, bytes: number | null, expiresAt: Date | null) =>
    createObjects(database).insert({ key, accountId, externalUserId: null, kind: 'product', bytes, expiresAt })
  const find = (key: string) =>
    database.one(sql.unsafe`select bytes, expires_at is null as "isKept" from objects where key = ${key}`)
  const inAnHour = () => new Date(Date.now() + 3_600_000)

  it('has the size of the last write, and keeps its retention', async () => {
    await insert('kept', 10, null)
    await insert('kept', 12, inAnHour())
    expect(await find('kept')).toEqual({ bytes: 12, isKept: true })
    await insert('dated', null, inAnHour())
    await insert('dated', 30, inAnHour())
    await insert('dated', null, inAnHour())
    expect(await find('dated')).toEqual({ bytes: 30, isKept: false })
  })

  it('counts no bytes of a photo that was not stored', async () => {
    const images = createImages(database)
    const before = await createObjects(database).sumBytes(accountId)
    const size = { width: 1, height: 1, cropMode: 'none', expiresAt: inAnHour() } as const
    await images.insert({ id: 'img_lost', accountId, objectKey: 'lost', bytes: 1000, externalUserId: null, ...size })
    expect(await createObjects(database).sumBytes(accountId)).toBe(before + 1000)
    await images.abandon('img_lost')
    expect(await createObjects(database).sumBytes(accountId)).toBe(before)
  })

  it('is deleted with its size on expiry, also above 4 GiB', async () => {
    const due = [
      { key: 'large', bytes: 5_000_000_000 },
      { key: 'unknown', bytes: null },
    ]
    for (const [i, { key, bytes }] of due.entries()) await insert(key, bytes, new Date((i + 1) * 1000))
    const objects = createDueObjects(database)
    const found = due.map((object) => ({ ...object, dueAt: expect.any(String) }))
    expect(await objects.find({ ttlSeconds: null, kinds: [], accounts: [] }, 10)).toEqual(found)
    expect(
      await objects.delete({ ttlSeconds: null, kinds: [], accounts: [] }, { limit: 10, deleteBytes: async () => {} }),
    ).toEqual({ deleted: found, refused: 0, last: found[1] })
    expect(await objects.find({ ttlSeconds: null, kinds: [], accounts: [] }, 10)).toEqual([])
  })

  it('refuses a negative size', async () => {
    await expect(insert('negative', -1, null)).rejects.toThrow()
  })
})
