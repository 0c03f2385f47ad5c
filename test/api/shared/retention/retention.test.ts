import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { v7 as uuidv7 } from 'uuid'
import { afterAll, describe, expect, it } from 'vitest'
import { createAccounts } from '../../../../api/accounts/accounts.store.ts'
import { Type } from '../../../../api/shared/contract/schema.ts'
import { rowType, sql } from '../../../../api/shared/database/database.ts'
import { resultKeyOf } from '../../../../api/shared/generations/generation.ts'
import { createGenerations } from '../../../../api/shared/generations/generations.store.ts'
import { createRedis } from '../../../../api/shared/queue/redis.ts'
import { createObjects, type NewObject } from '../../../../api/shared/storage/objects.store.ts'
import { createStorage } from '../../../../api/shared/storage/storage.ts'
import { createLog } from '../../../../api/shared/telemetry/log.ts'
import { createCommandLine } from '../../../support/command-line.ts'
import { formOf, readSample, readSmallPerson, startDrape } from '../../../support/drape.ts'
import { spawnProcess, startProgram, type TestProgram } from '../../../support/process.ts'

const PHOTO = 'image/jpeg'
const Stored = rowType(Type.Object({ key: Type.String(), kind: Type.String(), bytes: Type.Integer() }))

describe('retention', async () => {
  let worker: TestProgram | null = null

  const drape = await startDrape({ credits: 1000 })
  const storage = await createStorage(drape.env.STORAGE_URL, { publicUrl: '', signingSecret: '' })
  const person = await readSmallPerson()
  const shirt = await readSample('garments/tshirt-navy.jpg')
  afterAll(() => drape.stop())

  const startWorker = async () => {
    worker = await drape.startWorker()
  }
  const stopWorker = async () => {
    await worker?.end()
    worker = null
  }
  const upload = async (externalUserId?: string, key = drape.apiKey) => {
    const body = formOf(undefined, { file: person })
    if (externalUserId) body.set('externalUserId', externalUserId)
    return (await drape.call('POST', '/tryon/v1/images/upload', { body, key })).body
  }
  const tryOn = (imageId: string, more: object = {}, headers = {}) =>
    drape.call('POST', '/tryon/v1/try-on', {
      headers,
      body: formOf(
        {
          products: [{ externalId: 'shirt', images: [{ source: { fileKey: 'shirt' } }] }],
          person: { image: { source: { id: imageId } } },
          ...more,
        },
        { shirt },
      ),
    })
  const erase = (customer: string, key = drape.apiKey) =>
    drape.call('DELETE', `/tryon/v1/customers/${encodeURIComponent(customer)}`, { key })
  const files = async (folder: string) => {
    const names = await readdir(drape.env.STORAGE_URL.slice('file:'.length), { recursive: true })
    return names.filter((name) => name.startsWith(`${folder}/`) && /\.\w+$/.test(name))
  }
  /** Number of rows in the whole database that contain this text. */
  const countRows = async (text: string) => {
    const tables = await drape.database.anyFirst(sql.unsafe`
      select table_name::text from information_schema.tables where table_schema = 'public' and table_type = 'BASE TABLE'`)
    const counts = await Promise.all(
      tables.map((table) =>
        drape.database.oneFirst(sql.unsafe`
          select count(*)::int from ${sql.identifier([table as string])} as row where position(${text} in row::text) > 0`),
      ),
    )
    return counts.reduce((sum: number, count) => sum + (count as number), 0)
  }
  /** Objects of one byte. */
  const storeAll = async (keys: readonly string[], about: Omit<NewObject, 'key'>) => {
    const objects = createObjects(drape.database)
    const store = async (key: string) => {
      await objects.insert({ key, ...about })
      await storage.put(key, Buffer.from('x'), { contentType: PHOTO })
    }
    for (let from = 0; from < keys.length; from += 50) await Promise.all(keys.slice(from, from + 50).map(store))
  }
  const countUnfinished = () => drape.database.oneFirst(sql.unsafe`select count(*)::int from outbox`) as Promise<number>
  const sweep = (...options: readonly string[]) =>
    spawnProcess({
      command: process.execPath,
      args: ['scripts/drape.ts', 'sweep', '--json', ...options],
      cwd: process.cwd(),
      env: { ...process.env, ...drape.env },
    })
  const swept = async () => {
    const { answered } = createCommandLine(drape.env.DATABASE_URL, drape.env)
    return answered('sweep')
  }

  describe('erasing a customer', () => {
    it('deletes every photo and result at every link, and keeps the records', async () => {
      await startWorker()
      const photo = await upload('user-1')
      const other = await upload('user-2')
      const key = { 'idempotency-key': 'erased' }
      const output = { engine: 'mock' }
      const { generationId } = (await tryOn(photo.imageId, { externalUserId: 'user-1', output }, key)).body
      const { generationId: kept } = (await tryOn(other.imageId, { externalUserId: 'user-2', output })).body
      const result = await drape.finish(generationId)
      await drape.finish(kept)
      expect(result.ingredientSalt).toMatch(/^[0-9a-f]{64}$/)
      const links = [photo.imageUrl, result.resultImageUrl]
      for (const link of links) expect((await fetch(link)).status).toBe(200)

      expect(await erase('user-1')).toMatchObject({ status: 204, body: null })
      for (const link of links) expect((await fetch(link)).status).toBe(404)
      expect((await tryOn(photo.imageId)).body).toMatchObject({ code: 'VALIDATION_FAILED' })
      expect(await drape.call('GET', `/tryon/v1/generations/${generationId}`)).toMatchObject({
        status: 200,
        body: { generationId, status: 'COMPLETED', imagesExpired: true },
      })
      // Without the salt, a copy of the result cannot be linked to a photo.
      const { body } = await drape.call('GET', `/tryon/v1/generations/${generationId}`)
      expect(body).not.toHaveProperty('ingredientSalt')
      expect(body).not.toHaveProperty('resultImageUrl')
      expect(await countRows('user-1')).toBe(0)
      const left = [...(await files('persons')), ...(await files('results'))]
      const resultKey = resultKeyOf({ accountId: drape.accountId, generationId, attempt: 1, format: 'jpeg' })
      expect(left.filter((name) => name.includes(photo.imageId) || name === resultKey)).toEqual([])

      expect((await fetch(other.imageUrl)).status).toBe(200)
      expect((await drape.call('GET', `/tryon/v1/generations/${kept}`)).body.resultImageUrl).toEqual(expect.any(String))
      expect((await tryOn(photo.imageId, { externalUserId: 'user-1', output }, key)).body.generationId).toBe(
        generationId,
      )
      expect((await erase('user-1')).status).toBe(204)
      expect((await erase('nobody, never')).status).toBe(204)
      await stopWorker()
    })

    it('deletes the mask and every result of a try-on with several, also of one that another made of the photo, and those of a dead worker', async () => {
      const { imageId } = await upload('user-9')
      const { generationId: lost } = (await tryOn(imageId, { externalUserId: 'user-10' })).body
      const dead = `results/${drape.accountId}/${lost}-dead.jpg`
      await createGenerations(drape.database).start({ id: lost, attempt: 1, worker: 'w' })
      await createObjects(drape.database).insertResult({ key: dead, bytes: 6, id: lost, attempt: 1 })
      await storage.put(dead, person, { contentType: PHOTO })
      await startWorker()
      const mask = { image: { source: { id: (await upload()).imageId } } }
      const output = { engine: 'mock', count: 3, seed: 7, mask, changedMask: true }
      const balance = await drape.balance()
      const shown = []
      for (const externalUserId of ['user-9', 'user-10'])
        shown.push(await drape.finish((await tryOn(imageId, { externalUserId, output })).body.generationId))
      await stopWorker()
      expect(await drape.balance()).toBe(balance)
      const links = shown.flatMap(({ resultImageUrl, results }) => {
        expect(results.map(({ seed }: { seed: number }) => seed)).toEqual([7, 8, 9])
        expect(results[0].imageUrl).toBe(resultImageUrl)
        return results.flatMap((result: { imageUrl: string; changedMaskUrl: string }) => [
          result.imageUrl,
          result.changedMaskUrl,
        ])
      })
      expect(new Set(links).size).toBe(12)
      const masks = async () => (await files('persons')).filter((name) => name.includes('/mask_'))
      expect(await masks()).toHaveLength(2)
      for (const link of links) expect((await fetch(link)).status).toBe(200)
      expect((await erase('user-9')).status).toBe(204)
      for (const link of links) expect((await fetch(link)).status).toBe(404)
      expect(await masks()).toEqual([])
      expect(await storage.exists(dead)).toBe(false)
      for (const { generationId } of shown) {
        const { body } = await drape.call('GET', `/tryon/v1/generations/${generationId}`)
        expect(body).toMatchObject({ status: 'COMPLETED', imagesExpired: true })
        expect(JSON.stringify(body)).not.toMatch(/imageUrl|MaskUrl/)
      }
    })

    it('does not affect the same customer ID in other accounts', async () => {
      const stranger = await drape.createAccount(1)
      const photo = await upload('user-3', stranger.apiKey)
      await erase('user-3')
      expect((await fetch(photo.imageUrl)).status).toBe(200)
      await erase('user-3', stranger.apiKey)
      expect((await fetch(photo.imageUrl)).status).toBe(404)
    })

    it('accepts any customer ID, also with a slash, a percent sign or non-ASCII letters', async () => {
      for (const id of ['a/b', '50%', 'käufer 7', '../x']) {
        const photo = await upload(id)
        expect((await erase(id)).status).toBe(204)
        expect((await fetch(photo.imageUrl)).status).toBe(404)
      }
    })

    it('deletes photos uploaded without a customer ID but used with one, and inline photos, but not those of others', async () => {
      const { imageId } = await upload('owner-1')
      await tryOn(imageId, { externalUserId: 'user-4' })
      const before = await files('persons')
      const photo = await upload()
      await tryOn(photo.imageId, { externalUserId: 'user-4' })
      const along = await drape.call('POST', '/tryon/v1/try-on', {
        body: formOf(
          {
            products: [{ externalId: 'shirt' }],
            person: { image: { source: { fileKey: 'me' } } },
            externalUserId: 'user-4',
          },
          { me: person },
        ),
      })
      expect(along.status).toBe(201)
      expect((await files('persons')).length).toBeGreaterThan(before.length)
      expect((await erase('user-4')).status).toBe(204)
      expect((await files('persons')).toSorted()).toEqual(before.toSorted())
      expect((await fetch(photo.imageUrl)).status).toBe(404)
    })

    it('deletes the upload of a mask that only the customer used', async () => {
      const [{ imageId }, own, shared] = [await upload(), await upload(), await upload()]
      const outputOf = ({ imageId: id }: { imageId: string }) => ({
        engine: 'mock',
        mask: { image: { source: { id } } },
      })
      await tryOn(imageId, { externalUserId: 'user-11', output: outputOf(own) })
      await tryOn(imageId, { externalUserId: 'user-11', output: outputOf(shared) })
      await tryOn(imageId, { externalUserId: 'user-12', output: outputOf(shared) })
      expect((await erase('user-11')).status).toBe(204)
      expect((await fetch(own.imageUrl)).status).toBe(404)
      expect((await fetch(shared.imageUrl)).status).toBe(200)
      expect(
        await drape.database.any(sql.unsafe`select from generations where mask_image_id = ${own.imageId}`),
      ).toHaveLength(0)
      expect((await erase('user-12')).status).toBe(204)
      expect((await fetch(shared.imageUrl)).status).toBe(404)
    })

    it('deletes the mask that another end user had from an upload of the customer', async () => {
      const output = { engine: 'mock', mask: { image: { source: { id: (await upload('user-13')).imageId } } } }
      const masks = async () => (await files('persons')).filter((name) => name.includes('/mask_'))
      for (const [maker, erased] of [
        ['user-14', 'user-14'],
        ['user-15', 'user-13'],
      ]) {
        const before = await masks()
        const { imageId } = await upload()
        expect((await tryOn(imageId, { externalUserId: maker, output })).status).toBe(201)
        expect(await masks()).toHaveLength(before.length + 1)
        expect((await erase(erased)).status).toBe(204)
        expect(await masks()).toEqual(before)
        expect((await erase(maker)).status).toBe(204)
      }
    })

    it('cancels waiting generations with a refund, and removes their jobs', async () => {
      const before = await drape.balance()
      const { imageId } = await upload('user-5')
      const redis = createRedis(drape.env.REDIS_URL, {
        role: 'consumer',
        log: createLog({ process: 'test', level: 'silent' }),
      })
      // A worker that takes nothing of what the relay hands over.
      const idle = { worker: 'idle', slots: 1, queues: ['try-on'], engines: ['mock', 'warp'] } as const
      await redis.announce({ ...idle, seconds: 600 })
      const answers = await Promise.all([1, 2, 3].map(() => tryOn(imageId, { externalUserId: 'user-5' })))
      const ids = answers.map(({ body }) => body.generationId)
      while ((await countJobs(ids)) === 0) await sleep(50)
      await redis.withdraw(idle)
      await redis.close()
      expect((await erase('user-5')).status).toBe(204)
      for (const { body } of answers) {
        const generation = await drape.call('GET', `/tryon/v1/generations/${body.generationId}`)
        expect(generation.body).toMatchObject({ status: 'FAILED', errorCode: 'GENERATION_CANCELLED' })
      }
      expect(await drape.balance()).toBe(before)
      expect(await createAccounts(drape.database).findLedgerGaps()).toEqual([])
      expect(await countRows('user-5')).toBe(0)
      expect(await countJobs(ids)).toBe(0)
      expect(await countUnfinished()).toBe(0)
    })

    it('prevents a running job from writing afterwards', async () => {
      const generations = createGenerations(drape.database)
      const objects = createObjects(drape.database)
      const { imageId } = await upload('user-6')
      const { generationId: id } = (await tryOn(imageId, { externalUserId: 'user-6' })).body
      await generations.start({ id, attempt: 1, worker: 'w' })
      await erase('user-6')
      expect(await objects.insertResult({ key: `results/a/${id}-1.jpg`, bytes: 1, id, attempt: 1 })).toBe(false)
    })

    it('sweeps objects that a running job was writing', async () => {
      const generations = createGenerations(drape.database)
      const objects = createObjects(drape.database)
      const { imageId } = await upload('user-7')
      const { generationId: id } = (await tryOn(imageId, { externalUserId: 'user-7' })).body
      const key = `results/${drape.accountId}/${id}-1.jpg`
      await generations.start({ id, attempt: 1, worker: 'w' })
      expect(await objects.insertResult({ key, bytes: person.length, id, attempt: 1 })).toBe(true)
      await erase('user-7')
      expect(await countRows('user-7')).toBe(0)
      // The worker puts the bytes only now, and dies.
      await storage.put(key, person, { contentType: PHOTO })
      await drape.database.query(sql.unsafe`update objects set expires_at = now() where key = ${key}`)
      await swept()
      expect(await storage.exists(key)).toBe(false)
    })

    it('resumes after the API is killed', async () => {
      const keys = Array.from({ length: 1500 }, (_, i) => `persons/${drape.accountId}/many-${i}.jpg`)
      const about = {
        accountId: drape.accountId,
        externalUserId: 'user-8',
        kind: 'person',
        bytes: 1,
        expiresAt: null,
      } as const
      await storeAll(keys, about)
      const { imageId } = await upload('user-8')
      await tryOn(imageId, { externalUserId: 'user-8' })
      const call = (url: string) =>
        fetch(`${url}/tryon/v1/customers/user-8`, { method: 'DELETE', headers: { 'x-api-key': drape.apiKey } })
      for (const ms of [3, 40]) {
        const api = await startProgram('api', drape.env, { separate: true })
        const erasing = call(api.url).catch(() => null)
        await sleep(ms)
        await api.end('SIGKILL')
        await erasing
      }
      expect((await erase('user-8')).status).toBe(204)
      expect(await countRows('user-8')).toBe(0)
      expect((await files('persons')).filter((name) => name.includes('many-') || name.includes(imageId))).toEqual([])
      expect(await countUnfinished()).toBe(0)
    })

    it('deletes stored responses with links to deleted images', async () => {
      await startWorker()
      const uploadOnce = async () => {
        const body = formOf(undefined, { file: person })
        body.set('externalUserId', 'user-9')
        return (await drape.call('POST', '/tryon/v1/images/upload', { body, headers: { 'idempotency-key': 'nine' } }))
          .body
      }
      const photo = await uploadOnce()
      const form = () =>
        formOf(
          {
            products: [{ externalId: 'shirt' }],
            person: { image: { source: { id: photo.imageId } } },
            externalUserId: 'user-9',
          },
          {},
        )
      const sync = () =>
        drape.call('POST', '/tryon/v1/try-on/sync', { body: form(), headers: { 'idempotency-key': 'sync' } })
      const first = await sync()
      expect(first).toMatchObject({ status: 201, body: { status: 'COMPLETED' } })
      await erase('user-9')
      // Objects whose bytes may still arrive, and the list of erased objects until the receipt is issued.
      expect(await countRows(photo.imageId)).toBeLessThanOrEqual(4)
      const again = await sync()
      expect(again.body).toMatchObject({ generationId: first.body.generationId, imagesExpired: true })
      expect((await uploadOnce()).imageId).not.toBe(photo.imageId)
      await stopWorker()
    })
  })

  describe('a sweep', () => {
    const expire = (what: string, id: string) =>
      drape.database.query(sql.unsafe`
        update objects set expires_at = now() - interval '1 second' where position(${id} in key) > 0 and kind = ${what}`)

    it('deletes only expired photos and results, objects and rows, and reports the counts', async () => {
      await startWorker()
      const [old, young] = [await upload(), await upload()]
      const { generationId } = (await tryOn(old.imageId, { output: { engine: 'mock' } })).body
      const { generationId: kept } = (await tryOn(young.imageId, { output: { engine: 'mock' } })).body
      const [result, keptResult] = [await drape.finish(generationId), await drape.finish(kept)]
      await stopWorker()
      await swept()
      const resultKey = resultKeyOf({ accountId: drape.accountId, generationId, attempt: 1, format: 'jpeg' })
      const stored = await drape.database.any(sql.type(Stored)`
        select key, kind, bytes from objects
        where position(${old.imageId} in key) > 0 or key = ${resultKey} or kind = 'product'`)
      for (const { key, bytes } of stored) expect(bytes, key).toBe((await storage.get(key))?.length)
      expect(new Set(stored.map(({ kind }) => kind))).toEqual(new Set(['person', 'product', 'result']))
      // The photo, the cropped view that a worker had time to make, and the result; and one that was stored before sizes were.
      for (const [kind, id] of [
        ['person', old.imageId],
        ['result', resultKey],
      ] as const)
        await expire(kind, id)
      const unsized = {
        key: `results/${drape.accountId}/unsized.jpg`,
        accountId: drape.accountId,
        externalUserId: null,
      }
      await createObjects(drape.database).insert({ ...unsized, kind: 'result', bytes: null, expiresAt: new Date(0) })
      await drape.database.query(sql.unsafe`
        update generations set images_expire_at = now() where id = ${generationId}`)
      const expired = stored.filter(({ kind }) => kind !== 'product')
      const bytes = expired.reduce((sum, object) => sum + object.bytes, 0)
      expect(await swept()).toMatchObject({ objects: expired.length + 1, bytes })
      for (const link of [old.imageUrl, result.resultImageUrl]) expect((await fetch(link)).status).toBe(404)
      for (const link of [young.imageUrl, keptResult.resultImageUrl]) expect((await fetch(link)).status).toBe(200)
      expect((await tryOn(old.imageId)).body.code).toBe('VALIDATION_FAILED')
      expect((await drape.call('GET', `/tryon/v1/generations/${generationId}`)).body).toMatchObject({
        status: 'COMPLETED',
        imagesExpired: true,
      })
      expect((await files('persons')).filter((name) => name.includes(old.imageId))).toEqual([])
    })

    it('keeps images under a legal hold, and deletes nothing if the policies cannot be read', async () => {
      const [held, free] = [await upload('held'), await upload('free')]
      for (const { imageId } of [held, free]) await expire('person', imageId)
      const folder = await mkdtemp(join(tmpdir(), 'drape-policies-'))
      const policies = join(folder, 'policies.yaml')
      const sweepWith = async (text: string) => {
        await writeFile(policies, text)
        const running = await sweep('--policies', policies)
        return { code: await running.ended, output: running.output() }
      }
      const [head, name] = ['apiVersion: drape.dev/v1alpha1\nkind: RetentionPolicy\n', 'metadata: { name: days }\n']
      // The last is what kubectl prints of several policies.
      const unusable = [`${head}${name}spec: { ttlSeconds: 1 }\n`, '', 'apiVersion: v1\nkind: List\nitems: []\n']
      for (const text of unusable) expect(await sweepWith(text)).toMatchObject({ code: 2 })
      expect((await fetch(free.imageUrl)).status).toBe(200)
      const hold = `{ accountId: ${drape.accountId}, externalUserId: held, reason: a dispute }`
      expect(await sweepWith(`${head}${name}spec: { ttlSeconds: 86400, legalHold: [${hold}] }\n`)).toMatchObject({
        code: 0,
      })
      expect((await fetch(held.imageUrl)).status).toBe(200)
      expect((await fetch(free.imageUrl)).status).toBe(404)
      await rm(folder, { recursive: true })
    })

    it('deletes expired products at once, and their images once no generation needs them', async () => {
      const { imageId } = await upload()
      const expired = { externalId: 'fashion', images: [{ source: { fileKey: 'only' } }] }
      const answer = await drape.call('POST', '/tryon/v1/try-on', {
        body: formOf(
          { products: [expired], person: { image: { source: { id: imageId } } } },
          { only: Buffer.concat([shirt, Buffer.from('1')]) },
        ),
      })
      expect(answer.status).toBe(201)
      const [key] = (await drape.database.anyFirst(sql.unsafe`
        select images->0->>'objectKey' from products where external_id = 'fashion'`)) as string[]
      await drape.database.query(sql.unsafe`update products set expires_at = now() where external_id = 'fashion'`)
      expect((await swept()).products).toBe(1)
      expect(await storage.exists(key)).toBe(true)
      await drape.database.query(sql.unsafe`
        update objects set expires_at = expires_at - interval '1 hour' where key = ${key}`)
      await swept()
      expect(await storage.exists(key)).toBe(false)
      expect(await countRows(key)).toBe(2)
    })

    it('deletes leftovers of refused calls and dead workers', async () => {
      const poor = await drape.createAccount(0)
      const image = Buffer.concat([shirt, Buffer.from('2')])
      const refused = await drape.call('POST', '/tryon/v1/try-on', {
        key: poor.apiKey,
        body: formOf(
          {
            products: [{ images: [{ source: { fileKey: 'image' } }] }],
            person: { image: { source: { fileKey: 'me' } } },
          },
          { image, me: person },
        ),
      })
      expect(refused.status).toBe(402)
      expect(await files(`products/${poor.id}`)).toHaveLength(1)
      expect(await files(`persons/${poor.id}`)).toHaveLength(0)

      const generations = createGenerations(drape.database)
      const { generationId: id } = (await tryOn((await upload()).imageId)).body
      const key = `results/${drape.accountId}/${id}-1.jpg`
      await generations.start({ id, attempt: 1, worker: 'w' })
      await createObjects(drape.database).insertResult({ key, bytes: person.length, id, attempt: 1 })
      await storage.put(key, person, { contentType: PHOTO })

      const orphan = `products/${poor.id}/${uuidv7()}/fetched.bin`
      await createObjects(drape.database).insert({
        key: orphan,
        accountId: poor.id,
        externalUserId: null,
        kind: 'product',
        bytes: person.length,
        expiresAt: null,
      })
      await storage.put(orphan, person, { contentType: 'application/octet-stream' })

      await swept()
      await drape.database.query(sql.unsafe`
        update objects set expires_at = expires_at - interval '61 minutes'
        where account_id = ${poor.id} or key = ${key}`)
      await swept()
      expect(await files(`products/${poor.id}`)).toEqual([])
      expect(await storage.exists(key)).toBe(false)
    })

    it('can be killed, and run concurrently', async () => {
      const keys = Array.from({ length: 2200 }, (_, i) => `results/${drape.accountId}/due-${i}.jpg`)
      const expiresAt = new Date(Date.now() - 1000)
      const about = { accountId: drape.accountId, externalUserId: null, kind: 'result', bytes: 1, expiresAt } as const
      await storeAll(keys, about)
      const killed = await sweep()
      await sleep(450)
      await killed.end('SIGKILL')
      const counts = await Promise.all([swept(), swept(), swept()])
      const total = counts.reduce((sum, { objects }) => sum + objects, 0)
      expect(total).toBeLessThanOrEqual(2200)
      expect((await files('results')).filter((name) => name.includes('due-'))).toEqual([])
      expect(await countRows('due-')).toBe(0)
    })
  })

  /** Number of jobs in Redis that name one of these generations. */
  async function countJobs(generationIds: readonly string[]): Promise<number> {
    const { createClient } = await import('redis')
    const client = await createClient({ url: drape.env.REDIS_URL }).connect()
    try {
      const keys = await client.keys('bull:try-on*:gen_*')
      return keys.filter((key) => generationIds.some((id) => key.includes(id))).length
    } finally {
      client.destroy()
    }
  }
})
