import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { CreateBucketCommand, PutObjectCommand, PutObjectLegalHoldCommand, S3Client } from '@aws-sdk/client-s3'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { Nullable, Type } from '../../api/shared/contract/schema.ts'
import { rowType, sql } from '../../api/shared/database/database.ts'
import { createStorage, type ObjectStorage } from '../../api/shared/storage/storage.ts'
import { sweepOnce } from '../../scripts/commands/sweep.ts'
import { type Drape, readSample, startDrape } from '../support/drape.ts'
import { type S3Server, startS3Server } from '../support/s3-server.ts'
import { until } from '../support/until.ts'

const Row = rowType(Type.Object({ key: Type.String(), externalUserId: Nullable(Type.String()) }))
const LOCKED = 'locked'
const server = await startS3Server()

describe.skipIf('unavailable' in server)('an object that the storage refuses to delete', () => {
  const { endpoint, credentials } = server as S3Server
  let drape: Drape
  let storage: ObjectStorage
  let client: S3Client

  beforeAll(async () => {
    client = new S3Client({ endpoint, region: 'us-east-1', forcePathStyle: true, credentials })
    await client.send(new CreateBucketCommand({ Bucket: LOCKED, ObjectLockEnabledForBucket: true }))
    const STORAGE_URL = `s3://${LOCKED}?endpoint=${encodeURIComponent(endpoint)}&pathStyle=true`
    process.env.AWS_ACCESS_KEY_ID = credentials.accessKeyId
    process.env.AWS_SECRET_ACCESS_KEY = credentials.secretAccessKey
    drape = await startDrape({
      env: {
        STORAGE_URL,
        AWS_ACCESS_KEY_ID: credentials.accessKeyId,
        AWS_SECRET_ACCESS_KEY: credentials.secretAccessKey,
      },
    })
    storage = await createStorage(STORAGE_URL, { publicUrl: '', signingSecret: '' })
  })
  afterAll(async () => {
    storage?.close()
    client?.destroy()
    await drape?.stop()
    await (server as S3Server).stop()
  })

  const lock = (key: string, Status: 'ON' | 'OFF') =>
    client.send(new PutObjectLegalHoldCommand({ Bucket: LOCKED, Key: key, LegalHold: { Status } }))
  const age = (owner: string) =>
    drape.database.query(sql.unsafe`
      update objects set created_at = now() - interval '1 hour' where external_user_id = ${owner}`)
  const sweep = () => sweepOnce(drape.database, { storage, policies: undefined })
  const rows = (keys: readonly string[]) =>
    drape.database.any(sql.type(Row)`
      select key, external_user_id as "externalUserId" from objects where key = any(${sql.array([...keys], 'text')})`)

  /** Keys of 3 photos of a customer; the middle one is locked. */
  async function createPhotos(externalUserId: string): Promise<[string, string, string]> {
    const file = await readSample('persons/down-half-teal.jpg')
    const keys: string[] = []
    for (let i = 0; i < 3; i++) {
      const { imageId } = await drape.upload(file, { externalUserId })
      keys.push(`persons/${drape.accountId}/${imageId}.jpg`)
    }
    await age(externalUserId)
    await lock(keys[1], 'ON')
    return keys as [string, string, string]
  }
  const stored = (keys: readonly string[]) => Promise.all(keys.map((key) => storage.exists(key)))

  it('does not block a sweep, is counted, and is deleted when its lock ends', async () => {
    const keys = await createPhotos('swept')
    await drape.database.query(sql.unsafe`
      update objects set expires_at = now() - interval '1 minute' where external_user_id = 'swept'`)
    expect(await sweep()).toMatchObject({ objects: 2, refusedObjects: 1 })
    expect(await stored(keys)).toEqual([false, true, false])
    expect(await rows(keys)).toMatchObject([{ key: keys[1] }])
    expect(await sweep()).toMatchObject({ objects: 0, refusedObjects: 1 })
    await lock(keys[1], 'OFF')
    expect(await sweep()).toMatchObject({ objects: 1, refusedObjects: 0 })
    expect([await stored(keys), await rows(keys)]).toEqual([[false, false, false], []])
  })

  it('does not keep younger objects from deletion when the oldest 1,600 are refused', async () => {
    const name = (i: number) => `persons/${drape.accountId}/many-${i}.jpg`
    const put = (i: number) =>
      client.send(
        new PutObjectCommand({
          Bucket: LOCKED,
          Key: name(i),
          Body: 'x',
          ContentType: 'image/jpeg',
          ...(i < 1600 && { ObjectLockLegalHoldStatus: 'ON' }),
        }),
      )
    const keys = Array.from({ length: 1603 }, (_, i) => name(i))
    for (let i = 0; i < keys.length; i += 50) await Promise.all(keys.slice(i, i + 50).map((_, n) => put(i + n)))
    await drape.database.query(sql.unsafe`
      insert into objects (key, account_id, kind, bytes, expires_at)
      select key, ${drape.accountId}, 'person', 1, now() - interval '2 hours' + place * interval '1 second'
      from unnest(${sql.array(keys, 'text')}) with ordinality as listed (key, place)`)
    try {
      expect(await sweep()).toMatchObject({ objects: 3, refusedObjects: 1600 })
      expect(await stored(keys.slice(1599))).toEqual([true, false, false, false])
      expect(await rows(keys)).toHaveLength(1600)
    } finally {
      await drape.database.query(sql.unsafe`delete from objects where key like '%/many-%'`)
    }
  })

  it('does not block an erasure: other objects are deleted, and the receipt waits', async () => {
    const keys = await createPhotos('erased')
    const { status, headers } = await drape.call('DELETE', '/tryon/v1/customers/erased')
    expect(status).toBe(204)
    expect(await stored(keys)).toEqual([false, true, false])
    expect(await rows(keys)).toEqual([{ key: keys[1], externalUserId: null }])
    const receipt = await drape.call('GET', headers.get('location') ?? '')
    expect(receipt.body).toMatchObject({ status: 'PENDING' })
    const noted = await drape.database.one(
      sql.type(rowType(Type.Object({ count: Type.Integer() })))`
        select count(*) as count from erased_objects where key = any(${sql.array(keys, 'text')})`,
    )
    expect(noted.count).toBe(3)
    await lock(keys[1], 'OFF')
    expect(await sweep()).toMatchObject({ objects: 1, refusedObjects: 0 })
    expect(await stored(keys)).toEqual([false, false, false])
  })

  it('keeps the receipt of an erasure waiting also when it is all that the end user has, and the operator is warned', async () => {
    const keys = await createPhotos('kept')
    for (const key of keys) await lock(key, 'ON')
    const { status, headers } = await drape.call('DELETE', '/tryon/v1/customers/kept')
    expect(status).toBe(204)
    expect(await stored(keys)).toEqual([true, true, true])
    await drape.database.query(sql.unsafe`
      update objects set created_at = now() - interval '1 hour' where key = any(${sql.array([...keys], 'text')})`)
    await drape.database.query(sql.unsafe`
      update erasures set cached_until = now(), check_at = now(), requested_at = now() - interval '2 hours' where issued_at is null`)
    await until(async () => {
      const { body } = await drape.call('GET', headers.get('location') ?? '')
      expect(body).toMatchObject({ status: 'PENDING', receipt: null })
      return body.waitsFor === 'storage'
    })
    await until(async () => {
      const text = await (await fetch(`${drape.api.probeUrl}/metrics`)).text()
      return Number(/^drape_erasures_oldest_seconds (.+)$/m.exec(text)?.[1]) >= 7200
    })
    for (const key of keys) await lock(key, 'OFF')
    await sweep()
    expect(await stored(keys)).toEqual([false, false, false])
  })
})

describe('a server that refuses the whole request because of one object', () => {
  const LIMIT = 40
  const keysOf = (count: number) => Array.from({ length: count }, (_, i) => `persons/p-${i}-.jpg`)

  /** Answers 403 to each deletion that names a refused key. */
  async function withServer(refused: (body: string) => boolean, use: (storage: ObjectStorage) => Promise<void>) {
    let requests = 0
    const program = createServer(async (request, response) => {
      requests++
      const isRefused = refused(await text(request))
      response.writeHead(isRefused ? 403 : 200, { 'content-type': 'application/xml' })
      response.end(isRefused ? '<Error><Code>AccessDenied</Code></Error>' : '<DeleteResult></DeleteResult>')
    })
    await new Promise<void>((resolve) => program.listen(0, '127.0.0.1', resolve))
    process.env.AWS_ACCESS_KEY_ID = 'drape'
    process.env.AWS_SECRET_ACCESS_KEY = 'drape-test-secret'
    const endpoint = encodeURIComponent(`http://127.0.0.1:${(program.address() as AddressInfo).port}`)
    const storage = await createStorage(`s3://images?endpoint=${endpoint}&pathStyle=true`, {
      publicUrl: '',
      signingSecret: '',
    })
    await use(storage)
    storage.close()
    program.close().closeAllConnections()
    return requests
  }

  it('does not prevent the deletion of other objects with few requests', async () => {
    const requests = await withServer(
      (body) => body.includes('p-300-'),
      (storage) =>
        expect(storage.delete(keysOf(500))).rejects.toMatchObject({
          keys: new Set(['persons/p-300-.jpg']),
          retryable: true,
        }),
    )
    expect(requests).toBeLessThan(LIMIT)
  })

  it('deletes other objects when the first of them are refused', async () => {
    const keys = keysOf(500)
    await withServer(
      (body) => /p-1?\d-/.test(body),
      (storage) =>
        expect(storage.delete(keys)).rejects.toMatchObject({ keys: new Set(keys.slice(0, 20)), retryable: true }),
    )
  })

  it('gets no request per object when it refuses all', async () => {
    const requests = await withServer(
      () => true,
      (storage) => expect(storage.delete(keysOf(5000))).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE' }),
    )
    expect(requests).toBeLessThan(LIMIT)
  })
})
