import { createHash } from 'node:crypto'
import { afterAll, describe, expect, it } from 'vitest'
import { createAccounts } from '../../../api/accounts/accounts.store.ts'
import { Type } from '../../../api/shared/contract/schema.ts'
import { rowType, sql } from '../../../api/shared/database/database.ts'
import { createDueObjects } from '../../../api/shared/retention/due-objects.ts'
import { createLegalHolds } from '../../../api/shared/retention/legal-holds.store.ts'
import { createObjects } from '../../../api/shared/storage/objects.store.ts'
import { createStorage } from '../../../api/shared/storage/storage.ts'
import { retentionPolicies } from '../../../controller/retention/resource.ts'
import { runPolicy } from '../../../controller/retention/run.ts'
import { openTestDatabase } from '../../support/postgres.ts'
import { requestService } from '../../support/request-service.ts'

const KeyRow = rowType(Type.Object({ key: Type.String() }))

describe('a run of a retention policy', async () => {
  const { database } = await openTestDatabase({ poolSize: 4 })

  const { path } = await requestService('folder', null)
  const storage = await createStorage(`file:${path}`, { publicUrl: 'http://localhost', signingSecret: 'test' })
  afterAll(async () => {
    storage.close()
  })

  const createAccount = async () =>
    (await createAccounts(database).insert({ name: 'Test', email: null, credits: 0, settings: {} })).id

  /** Stores objects of these ages; their names are their ages. */
  const store = async (
    accountId: string,
    days: readonly number[],
    about: { kind?: 'person' | 'logo'; user?: string } = {},
  ) => {
    const { kind = 'person', user = null } = about
    for (const age of days) {
      const key = `${kind}s/${accountId}/${user ?? 'nobody'}-${age}.jpg`
      const image = Buffer.alloc(age * 1000)
      const bytes = image.length
      await createObjects(database).insert({ key, accountId, externalUserId: user, kind, bytes, expiresAt: null })
      await storage.put(key, image, { contentType: 'image/jpeg' })
      await database.query(sql.unsafe`
        update objects set created_at = now() - make_interval(secs => ${age * 86_400}) where key = ${key}`)
    }
  }
  const stored = async (accountId: string) => {
    const rows = await database.anyFirst(sql.type(KeyRow)`
      select key from objects where account_id = ${accountId} order by key`)
    for (const key of rows) expect(await storage.exists(key), key).toBe(true)
    return rows.map((key) => key.split('/')[2].replace('.jpg', ''))
  }
  const run = (spec: object, storageOfRun = storage, signal = new AbortController().signal) => {
    const read = retentionPolicies.read({ metadata: { name: 'test' }, spec: { ttlSeconds: 3 * 86_400, ...spec } })
    if ('problems' in read) throw new Error(read.problems)
    return runPolicy(read.object, { dueObjects: createDueObjects(database), storage: storageOfRun, signal })
  }

  it('is a dry run by default', async () => {
    const account = await createAccount()
    await store(account, [1, 4, 9])
    const { record, overdue, oldestOverdueSeconds } = await run({ selector: { accounts: [account] } })
    expect(record).toMatchObject({ policy: 'test', dryRun: true, objects: 2, bytes: 13_000, unsized: 0, held: 0 })
    expect(overdue).toBe(2)
    expect(oldestOverdueSeconds).toBeGreaterThanOrEqual(6 * 86_400)
    expect(await stored(account)).toEqual(['nobody-1', 'nobody-4', 'nobody-9'])
  })

  it('deletes bytes and rows of expired objects, and reports them', async () => {
    const [account, other] = [await createAccount(), await createAccount()]
    await store(account, [1, 4, 9])
    await store(account, [9], { kind: 'logo' })
    await store(other, [9])
    const { record, overdue, oldestOverdueSeconds } = await run({
      selector: { accounts: [account] },
      dryRun: false,
      batchSize: 1,
    })
    const keys = [4, 9].map((age) => `persons/${account}/nobody-${age}.jpg`)
    const digest = createHash('sha256')
      .update(keys.map((key) => `${key}\n`).join(''))
      .digest('hex')
    expect(record).toMatchObject({ objects: 2, bytes: 13_000, unsized: 0, keysDigest: `sha256:${digest}` })
    expect({ overdue, oldestOverdueSeconds }).toEqual({ overdue: 0, oldestOverdueSeconds: 0 })
    expect(await stored(account)).toEqual(['nobody-9', 'nobody-1'])
    expect(await storage.exists(keys[0])).toBe(false)
    expect(await stored(other)).toEqual(['nobody-9'])
  })

  it('without ttlSeconds deletes each image at its own expiration time, and never one without', async () => {
    const account = await createAccount()
    await store(account, [4, 5, 9])
    await database.query(sql.unsafe`
      update objects set expires_at = created_at + interval '4 days 12 hours' where account_id = ${account} and key not like '%-9.jpg'`)
    const spec = { selector: { accounts: [account] }, ttlSeconds: undefined }
    expect(await run(spec)).toMatchObject({ record: { dryRun: true, objects: 1 }, overdue: 1 })
    const { record, overdue, oldestOverdueSeconds } = await run({ ...spec, dryRun: false })
    expect(record).toMatchObject({ objects: 1, bytes: 5000 })
    expect({ overdue, oldestOverdueSeconds }).toEqual({ overdue: 0, oldestOverdueSeconds: 0 })
    expect(await stored(account)).toEqual(['nobody-4', 'nobody-9'])
  })

  it('counts objects of unknown size separately', async () => {
    const account = await createAccount()
    await store(account, [4, 5, 9])
    await database.query(sql.unsafe`
      update objects set bytes = null where account_id = ${account} and key like '%-9.jpg'`)
    const spec = { selector: { accounts: [account] }, batchSize: 1 }
    for (const dryRun of [true, false]) {
      const { record } = await run({ ...spec, dryRun })
      expect(record).toMatchObject({ objects: 3, bytes: 9000, unsized: 1 })
    }
  })

  it('keeps only objects on legal hold by another policy', async () => {
    const account = await createAccount()
    await store(account, [9], { user: 'kept' })
    await store(account, [9], { user: 'not-kept' })
    await store(account, [9])
    const legalHolds = createLegalHolds(database)
    const hold = { accountId: account, externalUserId: 'kept' }
    await legalHolds.publish('kubernetes', [
      { name: 'shop/court', holds: [hold] },
      { name: 'shop/test', holds: [] },
    ])
    const spec = { selector: { accounts: [account] }, dryRun: false }
    expect((await run(spec)).record).toMatchObject({ objects: 2, held: 1 })
    expect(await stored(account)).toEqual(['kept-9'])
    // A policy that can no longer be read keeps its holds; one that never could be read holds everything.
    await legalHolds.publish('kubernetes', [{ name: 'shop/court', holds: null }])
    await store(account, [9], { user: 'not-kept' })
    expect((await run(spec)).record).toMatchObject({ objects: 1, held: 1 })
    await legalHolds.publish('kubernetes', [{ name: 'shop/other', holds: null }])
    expect((await run(spec)).record).toMatchObject({ objects: 0, held: 1 })
    await legalHolds.publish('kubernetes', [])
    expect((await run(spec)).record).toMatchObject({ objects: 1, held: 0 })
  })

  it('keeps a photo without a customer that a held customer used', async () => {
    const account = await createAccount()
    await store(account, [9, 8])
    const key = `persons/${account}/nobody-9.jpg`
    await database.query(sql.unsafe`
      with image as (
        insert into images (id, account_id, object_key, width, height, crop_mode, expires_at)
        values (${`img_${account}`}, ${account}, ${key}, 1, 1, 'none', now()) returning id
      )
      insert into generations (id, account_id, product_id, product_external_id, image_id, external_user_id, status, deadline_at,
        cost, engine, options, snapshot, images_expire_at)
      select ${`gen_${account}`}, ${account}, '', '', id, 'kept', 'COMPLETED', now(), 1, 'mock', '{}', '{}', now() from image`)
    const hold = { accountId: account, externalUserId: 'kept' }
    await createLegalHolds(database).publish('kubernetes', [{ name: 'shop/court', holds: [hold] }])
    const { record } = await run({ selector: { accounts: [account] }, dryRun: false })
    expect(record).toMatchObject({ objects: 1, held: 1 })
    expect(await stored(account)).toEqual(['nobody-9'])
  })

  it('never deletes an image of an existing product, or a recent upload', async () => {
    const account = await createAccount()
    const keyOf = (name: string) => `products/${account}/${name}`
    const names = ['sent.jpg', 'live/fetched.bin', 'unused.jpg', 'gone/fetched.bin', 'just-sent.jpg']
    for (const name of names) {
      const expiresAt = name === 'just-sent.jpg' ? new Date(Date.now() + 3_600_000) : null
      const about = { accountId: account, externalUserId: null, kind: 'product', bytes: 1, expiresAt } as const
      await createObjects(database).insert({ key: keyOf(name), ...about })
      await storage.put(keyOf(name), Buffer.from('x'), {
        contentType: name.endsWith('.bin') ? 'application/octet-stream' : 'image/jpeg',
      })
    }
    await database.query(sql.unsafe`
      update objects set created_at = now() - interval '400 days' where account_id = ${account}`)
    const images = [{ sourceUrl: '', order: 0, classifications: {}, objectKey: keyOf('sent.jpg') }]
    await database.query(sql.unsafe`
      insert into products (id, account_id, external_id, images, images_edition, expires_at)
      values ('live', ${account}, 'shirt', ${sql.jsonb(images)}, 'one', null),
        ('gone', ${account}, 'skirt', '[]', 'one', now() - interval '1 hour')`)
    const { record } = await run({ selector: { kinds: ['product'], accounts: [account] }, dryRun: false })
    expect(record).toMatchObject({ objects: 2 })
    for (const [i, name] of names.entries())
      expect(await storage.exists(keyOf(name)), name).toBe([true, true, false, false, true][i])
  })

  it('stops at its maximum of deletions, and the next run continues', async () => {
    const account = await createAccount()
    await store(account, [4, 5, 6, 7, 8])
    const spec = { selector: { accounts: [account] }, dryRun: false, maxDeletesPerRun: 3, batchSize: 2 }
    expect(await run(spec)).toMatchObject({ record: { objects: 3 }, overdue: 2 })
    // The oldest go first.
    expect(await stored(account)).toEqual(['nobody-4', 'nobody-5'])
    expect(await run(spec)).toMatchObject({ record: { objects: 2 }, overdue: 0 })
  })

  it('keeps rows with bytes that could not be deleted', async () => {
    const account = await createAccount()
    await store(account, [4, 5])
    const broken = { ...storage, delete: () => Promise.reject(new Error('the storage is away')) }
    const report = await run({ selector: { accounts: [account] }, dryRun: false }, broken)
    expect(report).toMatchObject({ record: { objects: 0, bytes: 0, error: 'the storage is away' }, overdue: 2 })
    expect(await stored(account)).toEqual(['nobody-4', 'nobody-5'])
    expect(await run({ selector: { accounts: [account] }, dryRun: false })).toMatchObject({ record: { objects: 2 } })
  })

  it('stops when aborted', async () => {
    const account = await createAccount()
    await store(account, [4])
    const report = await run({ selector: { accounts: [account] }, dryRun: false }, storage, AbortSignal.abort())
    expect(report).toMatchObject({ record: { objects: 0, error: 'The run was stopped.' }, overdue: 1 })
  })
})
