import { createHash, generateKeyPairSync } from 'node:crypto'
import { afterAll, describe, expect, it } from 'vitest'
import { Type } from '../../../../api/shared/contract/schema.ts'
import { rowType, sql } from '../../../../api/shared/database/database.ts'
import { jobId, resultKeyOf } from '../../../../api/shared/generations/generation.ts'
import { engineQueueName } from '../../../../api/shared/queue/engine-queues.ts'
import { createRedis } from '../../../../api/shared/queue/redis.ts'
import { createLegalHolds } from '../../../../api/shared/retention/legal-holds.store.ts'
import { createStorage } from '../../../../api/shared/storage/storage.ts'
import { createLog } from '../../../../api/shared/telemetry/log.ts'
import { leafOf } from '../../../../api/trust/receipts/merkle.ts'
import { verifyReceipt } from '../../../../api/trust/receipts/verify.ts'
import { createWebhooks } from '../../../../api/webhooks/webhooks.store.ts'
import { sweepOnce } from '../../../../scripts/commands/sweep.ts'
import { readSample, startDrape } from '../../../support/drape.ts'
import { startProgram } from '../../../support/process.ts'
import { createShopperCalls } from '../../../support/shopper-calls.ts'
import { until } from '../../../support/until.ts'
import { startWebhookReceiver } from '../../../support/webhook-receiver.ts'

const Count = rowType(Type.Object({ count: Type.Integer() }))
const makeKey = () => generateKeyPairSync('ed25519').privateKey.export({ type: 'pkcs8', format: 'pem' }).toString()

describe('the receipt of an erasure', async () => {
  const person = await readSample('persons/down-half-teal.jpg')
  const shirt = await readSample('garments/tshirt-navy.jpg')
  const receiver = await startWebhookReceiver()
  const drape = await startDrape({
    credits: 1000,
    env: { RECEIPT_KEY: makeKey(), FETCH_ALLOW_PORTS: String(receiver.port), ENGINES: 'mock,studio' },
  })
  const storage = await createStorage(drape.env.STORAGE_URL, { publicUrl: '', signingSecret: '' })
  await drape.startWorker()
  afterAll(async () => {
    storage.close()
    await drape.stop()
    await receiver.stop()
  })

  const upload = (externalUserId: string) => createShopperCalls(drape, person).upload(externalUserId)
  const tryOn = (imageId: string, externalUserId: string, output: object = {}) =>
    drape.tryOn(
      {
        products: [{ externalId: 'shirt', images: [{ source: { fileKey: 'shirt' } }] }],
        person: { image: { source: { id: imageId } } },
        externalUserId,
        output: { engine: 'mock', ...output },
      },
      { shirt },
    )
  const erase = async (externalUserId: string) => {
    const { status, headers } = await drape.call('DELETE', `/tryon/v1/customers/${encodeURIComponent(externalUserId)}`)
    expect(status).toBe(204)
    return headers.get('location') ?? ''
  }
  const read = async (path: string) => (await drape.call('GET', path)).body
  const issued = async (path: string) => {
    await until(async () => {
      await expireCaches()
      return (await read(path)).status === 'ISSUED'
    })
    return (await read(path)).receipt
  }
  const keyIds = async () =>
    (await drape.call('GET', '/receipts/keys')).body.keys.map(({ kid }: { kid: string }) => kid)
  /** Replaces the time after which no bytes can arrive. */
  const settleUploads = () =>
    drape.database.query(sql.unsafe`update objects set created_at = created_at - interval '11 minutes'`)
  const sweepLate = async () => {
    await drape.database.query(
      sql.unsafe`update objects set expires_at = now() where expires_at < now() + interval '1 hour'`,
    )
    await sweepOnce(drape.database, { storage, policies: undefined })
  }
  /** Replaces the lifetime of caches. */
  const expireCaches = () =>
    drape.database.query(sql.unsafe`update erasures set cached_until = now(), check_at = now() where issued_at is null`)

  const waitFor = (path: string, place: string) =>
    until(async () => {
      await expireCaches()
      return (await read(path)).waitsFor === place
    })

  it('counts the erased data, is signed, and proves each object', async () => {
    const photo = await upload('anna')
    const generationId = await tryOn(photo, 'anna')
    await drape.finish(generationId)
    await settleUploads()
    const path = await erase('anna')
    expect(path).toMatch(/^\/tryon\/v1\/erasures\/era_[0-9a-f-]{36}$/)
    await until(async () => (await read(path)).waitsFor === 'caches')
    expect(await read(path)).toMatchObject({ status: 'PENDING', issuedAt: null, receipt: null })
    const receipt = await issued(path)
    expect(receipt.statement).toMatchObject({
      id: path.split('/').at(-1),
      account: drape.accountId,
      customer: createHash('sha256').update(`${drape.accountId}\nanna`).digest('hex'),
      objects: { count: 2, byKind: { person: 1, result: 1 }, bytes: expect.any(Number) },
      rows: { images: 1, generations: 1 },
      cancelledJobs: 0,
      kept: [
        { what: 'generations', count: 1, reason: expect.any(String) },
        { what: 'credits', count: 1, reason: expect.any(String) },
      ],
    })
    expect(receipt.statement.objects.bytes).toBeGreaterThan(1000)
    expect(receipt.statement.confirmations.map(({ place }: { place: string }) => place)).toEqual([
      ...['database', 'objectStorage', 'workers', 'caches', 'erasureLog'],
    ])
    expect(verifyReceipt(JSON.stringify(receipt), await keyIds())).toMatchObject({ status: 'valid', problems: [] })
    expect(receipt.leaves).toContain(leafOf(`persons/${drape.accountId}/${photo}.jpg`))
    expect(receipt.leaves).toContain(
      leafOf(resultKeyOf({ accountId: drape.accountId, generationId, attempt: 1, format: 'jpeg' })),
    )
    expect(JSON.stringify(receipt)).not.toMatch(/anna|img_|gen_|persons\//)
    // The list of erased objects is deleted; only the receipt remains.
    for (const table of ['erased_objects', 'erased_rows', 'erased_jobs'])
      expect(
        await drape.database.oneFirst(sql.type(Count)`select count(*) as count from ${sql.identifier([table])}`),
      ).toBe(0)
  })

  it('waits until no bytes of an upload can arrive, and until a sweep has deleted them', async () => {
    const photo = await upload('early')
    const key = `persons/${drape.accountId}/${photo}.jpg`
    const path = await erase('early')
    await waitFor(path, 'uploads')
    // As after a put that lost the race.
    await storage.put(key, person, { contentType: 'image/jpeg' })
    await settleUploads()
    await waitFor(path, 'storage')
    await sweepLate()
    const { statement } = await issued(path)
    expect(statement.objects.count).toBe(1)
    expect(await storage.exists(key)).toBe(false)
  })

  it('waits for a worker that holds a job of the customer', async () => {
    const photo = await upload('running')
    const generationId = await tryOn(photo, 'running', { engine: 'studio', deadlineSeconds: 600 })
    const redis = createRedis(drape.env.REDIS_URL, {
      role: 'producer',
      log: createLog({ process: 'test', level: 'silent' }),
    })
    await until(async () => redis.isReady())
    // As a worker holds a job that it has taken.
    const queue = engineQueueName(['studio'])
    const lock = `bull:${queue}:${jobId(generationId, 1)}:lock`
    await redis.client.sAdd('drape:try-on-queues', queue)
    await redis.client.set(lock, 'worker')
    const path = await erase('running')
    await settleUploads()
    await waitFor(path, 'workers')
    await redis.client.del(lock)
    const { statement } = await issued(path)
    expect(statement).toMatchObject({ cancelledJobs: 1, rows: { generations: 1 } })
    await redis.close()
  })

  it('is not issued while the storage has an object, or the log has no entry', async () => {
    const photo = await upload('stubborn')
    const key = `persons/${drape.accountId}/${photo}.jpg`
    await settleUploads()
    const path = await erase('stubborn')
    await until(async () => (await read(path)).waitsFor === 'caches')
    const logKey = await drape.database.oneFirst(
      sql.type(
        rowType(Type.Object({ key: Type.String() })),
      )`select log_key as key from erasures where issued_at is null`,
    )
    const entry = await storage.get(logKey)
    await storage.delete([logKey])
    await storage.put(key, person, { contentType: 'image/jpeg' })
    await waitFor(path, 'erasureLog')
    await storage.put(logKey, entry ?? Buffer.alloc(0), { contentType: 'application/octet-stream' })
    await waitFor(path, 'storage')
    await sweepLate()
    expect(await storage.exists(key)).toBe(false)
    expect((await issued(path)).statement.objects.count).toBe(1)
  })

  it('is shared by concurrent calls, and counts nothing twice', async () => {
    await Promise.all(Array.from({ length: 6 }, () => upload('twice')))
    await settleUploads()
    const paths = await Promise.all([1, 2, 3].map(() => erase('twice')))
    expect(new Set(paths).size).toBe(1)
    const { statement } = await issued(paths[0])
    expect(statement.objects.count).toBe(6)
    const later = await erase('twice')
    expect(later).not.toBe(paths[0])
    expect((await issued(later)).statement).toMatchObject({ objects: { count: 0 }, rows: {}, kept: [] })
  })

  it('lists what a legal hold keeps; a later receipt confirms its deletion', async () => {
    const holds = createLegalHolds(drape.database)
    await upload('suspect')
    await settleUploads()
    const held = [{ accountId: drape.accountId, externalUserId: 'suspect' }]
    await holds.publish('kubernetes', [{ name: 'shop/court', holds: held }])
    const path = await erase('suspect')
    const { statement } = await issued(path)
    expect(statement.objects.count).toBe(0)
    expect(statement.kept).toEqual([{ what: 'objects', count: 1, reason: expect.stringContaining('legal hold') }])
    expect(JSON.stringify(statement)).not.toMatch(/court/)
    await holds.publish('kubernetes', [])
    await settleUploads()
    const later = await erase('suspect')
    expect((await issued(later)).statement).toMatchObject({ objects: { count: 1 }, kept: [] })
  })

  it('is accessible only to its account', async () => {
    const path = await erase('somebody')
    const other = await drape.createAccount(1)
    expect(await drape.call('GET', path, { key: other.apiKey })).toMatchObject({
      status: 404,
      body: { code: 'ERASURE_NOT_FOUND' },
    })
    expect((await drape.call('GET', '/tryon/v1/erasures/era_1')).status).toBe(404)
  })

  it('is reported by a webhook, and counts webhooks that still contain the customer', async () => {
    const webhooks = createWebhooks(drape.database)
    const eventTypes = ['customer.erased', 'erasure.confirmed'] as const
    const { id } = await webhooks.insert({
      ...{
        accountId: drape.accountId,
        url: receiver.url,
        eventTypes,
        secret: 'whsec_c2VjcmV0IG9mIHRoZSByZWNlaXZlcg==',
      },
    })
    receiver.mood = { status: 500 }
    const path = await erase('reported')
    await until(() => receiver.received.length > 0)
    expect((await issued(path)).statement.kept).toEqual([{ what: 'webhooks', count: 1, reason: expect.any(String) }])
    receiver.mood = { status: 204 }
    await webhooks.update(id, { isActive: true })
    const erasureId = path.split('/').at(-1)
    const events = () =>
      receiver.received.map(({ message }) => message).filter(({ data }) => data.erasureId === erasureId)
    await until(() => events().some(({ type }) => type === 'erasure.confirmed'))
    expect(events().find(({ type }) => type === 'customer.erased')?.data).toEqual({
      accountId: drape.accountId,
      externalUserId: 'reported',
      erasureId,
    })
    expect(events().find(({ type }) => type === 'erasure.confirmed')?.data).toEqual({
      accountId: drape.accountId,
      erasureId,
    })
    await webhooks.delete(id)
  })

  it('stays valid after a rotation of the key', async () => {
    const path = await erase('rotated')
    const receipt = await issued(path)
    const other = await startProgram('api', { ...drape.env, RECEIPT_KEY: makeKey() })
    await until(async () => (await keyIds()).length === 2)
    expect(verifyReceipt(JSON.stringify(receipt), await keyIds()).status).toBe('valid')
    await other.end()
  })
})
