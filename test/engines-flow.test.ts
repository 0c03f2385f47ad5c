import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { AccountSettings } from '../api/accounts/account-settings.ts'
import { createAccounts } from '../api/accounts/accounts.store.ts'
import { sql } from '../api/shared/database/database.ts'
import { type Drape, formOf, readSample, shrink, startDrape } from './support/drape.ts'
import { changeEngineManifest, copyTinyEngine } from './support/tiny-engine.ts'
import { until } from './support/until.ts'

describe('engines of the installation', () => {
  let drape: Drape
  let files: Record<string, Buffer>

  beforeAll(async () => {
    files = {
      me: await shrink('scripts/samples/persons/down-half-teal.jpg'),
      shirt: await shrink('scripts/samples/garments/tshirt-navy.jpg'),
      worn: await readSample('persons/grace-hopper.jpg'),
    }
    // The engine of each order decides here, so none is replaced.
    drape = await startDrape({ defaultEngines: true })
  })
  afterAll(() => drape?.stop())

  const order = (engine: string | undefined, members: object = {}) => {
    const body = {
      products: [{ images: [{ source: { fileKey: 'shirt' } }] }],
      person: { image: { source: { fileKey: 'me' } } },
      output: { engine },
      ...members,
    }
    return drape.call('POST', '/tryon/v1/try-on', { body: formOf(body, files) })
  }
  const list = async (): Promise<Record<string, { state: string }>> => {
    const { body } = await drape.call('GET', '/tryon/v1/engines')
    return Object.fromEntries(body.engines.map((engine: { name: string }) => [engine.name, engine]))
  }
  const publish = (name: string, maxSlots: number) =>
    drape.database.query(sql.unsafe`
      insert into published_engines (namespace, name, license, max_slots, start_seconds) values ('shop', ${name}, 'Apache-2.0', ${maxSlots}, 45)
      on conflict (namespace, name) do update set max_slots = excluded.max_slots`)
  const isState = (name: string, state: string) => until(async () => (await list())[name]?.state === state)

  it('come from the configuration without a controller, and their try-ons wait for a worker', async () => {
    // The API may have to connect to Redis first.
    await until(async () => Object.keys(await list()).length === 2)
    expect(await list()).toMatchObject({
      warp: { state: 'scaling_from_zero', isDefault: true, credits: 1, version: null },
      mock: { state: 'scaling_from_zero', isDefault: false, credits: 0, kind: 'test' },
    })
    expect((await order('warp')).status).toBe(201)
  })

  it('are listed in the error of a call with an unknown engine, before the charge', async () => {
    const balance = await drape.balance()
    const { status, body } = await order('fashn-vton')
    expect(status).toBe(400)
    expect(body).toMatchObject({
      code: 'VALIDATION_FAILED',
      details: [{ path: 'output.engine', message: 'must be one of warp, mock' }],
    })
    expect(await drape.balance()).toBe(balance)
  })

  it('are refused before the charge without a worker or pool, and accepted with a pool at zero', async () => {
    const balance = await drape.balance()
    await publish('fashn-vton', 0)
    await isState('fashn-vton', 'unavailable')
    // A controller publishes all pools: none of them runs warp.
    for (const engine of ['fashn-vton', 'warp']) {
      const { status, body, headers } = await order(engine)
      expect([status, body.code, headers.get('retry-after')]).toEqual([503, 'SERVICE_UNAVAILABLE', '30'])
    }
    expect(await drape.balance()).toBe(balance)
    await publish('fashn-vton', 4)
    await isState('fashn-vton', 'scaling_from_zero')
    expect((await list())['fashn-vton']).toMatchObject({
      license: 'Apache-2.0',
      kind: 'photo',
      expectedWaitSeconds: 45,
    })
    expect((await order('fashn-vton')).status).toBe(201)
    expect(await drape.balance()).toBe(balance - 1)
    // The next one waits for the start of a worker and for the first one.
    const expected = async () => (await list())['fashn-vton'] as { expectedWaitSeconds?: number } | undefined
    await until(async () => (await expected())?.expectedWaitSeconds === 55)
  })

  it('are refused before the charge when a try-on would start later than maxWaitSeconds', async () => {
    const balance = await drape.balance()
    const count = () => drape.database.oneFirst(sql.unsafe`select count(*)::int from images`)
    const images = await count()
    const refused = await order('fashn-vton', { maxWaitSeconds: 10 })
    expect(refused).toMatchObject({
      status: 503,
      body: {
        code: 'SERVICE_UNAVAILABLE',
        details: [{ path: 'maxWaitSeconds', estimatedStartSeconds: 55, estimatedSeconds: 65 }],
      },
    })
    expect(refused.headers.get('retry-after')).toBe('45')
    expect(await drape.balance()).toBe(balance)
    expect(await count()).toBe(images)

    const { status, body } = await order('fashn-vton', { maxWaitSeconds: 55 })
    expect([status, body]).toMatchObject([201, { estimatedStartSeconds: 55, estimatedSeconds: 65 }])
    const generation = `/tryon/v1/generations/${body.generationId}`
    const shown = await until(async () => {
      const { body: seen } = await drape.call('GET', generation)
      return seen.estimatedStartSeconds === 55 && seen
    })
    expect(shown).toMatchObject({ status: 'PENDING', queuePosition: 2, estimatedSeconds: 65 })
    const response = await fetch(`${drape.api.url}${generation}/events`, {
      headers: { 'x-api-key': drape.apiKey },
    })
    const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader()
    const event = (await reader?.read())?.value ?? ''
    await reader?.cancel()
    expect(JSON.parse(event.slice(event.indexOf('{')))).toMatchObject({
      estimatedStartSeconds: 55,
      estimatedSeconds: 65,
    })
  })

  it.each([0, 3601, 1.5, 'soon'])('are refused with a maxWaitSeconds of %j', async (maxWaitSeconds) => {
    expect(await order('mock', { maxWaitSeconds })).toMatchObject({
      status: 400,
      body: { details: [{ path: 'maxWaitSeconds' }] },
    })
  })

  it('accept the garment types that their Engine resource names, in lists and in calls', async () => {
    await drape.database.query(sql.unsafe`
      insert into published_engines (namespace, name, license, max_slots, garment_types)
      values ('shop', 'atelier', 'Apache-2.0', 4, '["on_model", "flat_lay"]'), ('shop', 'warp', 'Apache-2.0', 4, '["flat_lay"]')`)
    await isState('atelier', 'scaling_from_zero')
    expect(await list()).toMatchObject({
      atelier: { garmentTypes: ['flat_lay', 'on_model'], kind: null, credits: 1 },
      warp: { garmentTypes: ['flat_lay'] },
    })
    const worn = { classifications: { type: 'on_model' } }
    const source = { url: 'https://shop.example/worn.jpg' }
    await drape.call('POST', '/tryon/v1/products', { body: { externalId: 'worn', images: [{ source, ...worn }] } })
    const balance = await drape.balance()
    for (const products of [[{ images: [{ source: { fileKey: 'shirt' }, ...worn }] }], [{ externalId: 'worn' }]]) {
      expect(await order('warp', { products })).toMatchObject({
        status: 422,
        body: { code: 'MISSING_REQUIRED_CLASSIFICATION', details: { key: 'flat_lay' } },
      })
      expect((await order('atelier', { products })).status).toBe(201)
    }
    expect(await drape.balance()).toBe(balance - 2)
    await drape.database.query(sql.unsafe`delete from published_engines where name in ('atelier', 'warp')`)
  })

  it('can have any name that a worker registers, be the default of an account and accept on-model images', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'drape-engines-'))
    try {
      await copyTinyEngine(join(folder, 'studio'))
      await changeEngineManifest(join(folder, 'studio'), (manifest) => {
        manifest.name = 'studio'
        manifest.accepts.garmentTypes = ['on_model']
      })
      expect((await order('studio')).status).toBe(400)
      const worker = await drape.startWorker({ ENGINES: 'studio', ENGINE_DIR: folder, QUEUES: 'try-on' })
      await isState('studio', 'ready')
      await createAccounts(drape.database).update(drape.accountId, { settings: { defaultEngine: 'studio' } })
      await until(async () => ((await list()).studio as { isDefault?: boolean }).isDefault)
      expect((await list()).studio).toMatchObject({ garmentTypes: ['on_model'], kind: 'photo', state: 'ready' })
      const images = [{ source: { fileKey: 'worn' }, classifications: { on_model: true } }]
      const { status, body } = await order(undefined, { products: [{ images, title: 'T-shirt' }] })
      expect([status, body]).toMatchObject([201, { status: 'PENDING' }])
      expect(await drape.finish(body.generationId)).toMatchObject({ status: 'COMPLETED', engine: { name: 'studio' } })
      const balance = await drape.balance()
      const { body: trousers } = await order(undefined, { products: [{ images, title: 'Trousers' }] })
      expect(await drape.finish(trousers.generationId)).toMatchObject({
        status: 'FAILED',
        errorCode: 'MISSING_REQUIRED_CLASSIFICATION',
        errorMessage: expect.stringContaining('shows no person who wears bottoms'),
      })
      expect(await drape.balance()).toBe(balance)
      const flat = [{ source: { fileKey: 'shirt' }, classifications: { type: 'flat_lay' } }]
      expect(await order('studio', { products: [{ images: flat }] })).toMatchObject({
        status: 422,
        body: { details: { key: 'on_model' } },
      })
      await createAccounts(drape.database).update(drape.accountId, { settings: { defaultEngine: null } })
      await worker.end()
    } finally {
      await rm(folder, { recursive: true, force: true })
    }
  })

  describe('with fallback engines', () => {
    const chain = async (settings: AccountSettings) => {
      const { apiKey: key } = await drape.createAccount(20, { ...settings, writesPerMinute: 1000 })
      const person = await drape.call('POST', '/tryon/v1/images/upload', {
        key,
        body: formOf(undefined, { file: files.me }),
      })
      const request = async (engine: string | undefined, { output = {}, ...members }: { output?: object } = {}) => {
        const images = [{ source: { url: 'https://shop.example/shirt.jpg' } }]
        const source = { id: person.body.imageId }
        const body = {
          products: [{ images }],
          person: { image: { source } },
          output: { engine, ...output },
          ...members,
        }
        const answer = await drape.call('POST', '/tryon/v1/try-on', { key, body })
        const { engineName, requestedEngine } = answer.body
        return { ...answer, engines: [answer.status, engineName, requestedEngine] }
      }
      const balance = async () => (await drape.call('GET', '/tryon/v1/account/credits', { key })).body.creditBalance
      return { key, request, balance }
    }
    const resource = (name: string, maxSlots: number, { types = '["flat_lay"]', start = 45 } = {}) =>
      drape.database.query(sql.unsafe`
        insert into published_engines (namespace, name, license, max_slots, start_seconds, garment_types)
        values ('shop', ${name}, 'Apache-2.0', ${maxSlots}, ${start}, ${types}::jsonb)`)

    beforeAll(async () => {
      await drape.database.query(sql.unsafe`delete from outbox`)
      await drape.database.query(sql.unsafe`delete from published_engines`)
      await resource('slow', 4, { start: 300 })
      await resource('worn', 4, { types: '["on_model"]', start: 10 })
      await resource('quick', 4, { start: 20 })
      await resource('quicker', 4, { start: 5 })
      await resource('mock', 4)
      await resource('gone', 0)
      await isState('quicker', 'scaling_from_zero')
      await isState('gone', 'unavailable')
    })
    afterAll(() => drape.database.query(sql.unsafe`delete from published_engines`))

    it('fall back if a try-on would start later than the account allows, at the price of the engine used', async () => {
      const { key, request, balance } = await chain({
        fallbackEngines: ['quick', 'mock'],
        fallbackAfterSeconds: 60,
      })
      const { engines, body } = await request('slow')
      expect(engines).toEqual([201, 'quick', 'slow'])
      expect(body.estimatedStartSeconds).toBe(20)
      expect(await balance()).toBe(19)
      const polled = await drape.call('GET', `/tryon/v1/generations/${body.generationId}`, { key })
      expect(polled.body).toMatchObject({ status: 'PENDING', engineName: 'quick', requestedEngine: 'slow' })
      expect((await request('quick')).engines).toEqual([201, 'quick', undefined])
      expect((await request('slow', { output: { fallback: false } })).engines).toEqual([201, 'slow', undefined])
      // Batch work does not fall back for its start time.
      expect((await request('slow', { priority: 'batch' } as object)).engines).toEqual([201, 'slow', undefined])
    })

    it('fall back from the default engine of the account, free of charge to mock', async () => {
      const settings = { defaultEngine: 'slow', fallbackEngines: ['mock'], fallbackAfterSeconds: 60 }
      const { request, balance } = await chain(settings)
      expect((await request(undefined)).engines).toEqual([201, 'mock', 'slow'])
      expect(await balance()).toBe(20)
    })

    it('use the first fallback that is in time, else the earliest, else the requested engine', async () => {
      const by = async (fallbackEngines: string[], fallbackAfterSeconds?: number) =>
        (await (await chain({ fallbackEngines, fallbackAfterSeconds })).request('slow')).engines
      expect(await by(['quicker', 'quick'], 60)).toEqual([201, 'quicker', 'slow'])
      expect(await by(['quick', 'quicker'], 10)).toEqual([201, 'quicker', 'slow'])
      expect(await by(['quick', 'quicker'], 1)).toEqual([201, 'quicker', 'slow'])
      expect(await by(['gone', 'unheard-of', 'slow'], 60)).toEqual([201, 'slow', undefined])
      expect(await by(['quick'], 3000)).toEqual([201, 'slow', undefined])
      // Without fallbackAfterSeconds only an unavailable engine falls back.
      expect(await by(['quick'])).toEqual([201, 'slow', undefined])
    })

    it('fall back only to engines that accept the product', async () => {
      const { key, request } = await chain({ fallbackEngines: ['worn', 'quick'], fallbackAfterSeconds: 60 })
      const product = (classifications: object) => [
        { images: [{ source: { url: 'https://shop.example/shirt.jpg' }, classifications }] },
      ]
      const engineFor = async (products: object) => (await request('slow', { products } as object)).engines
      expect(await engineFor(product({ type: 'flat_lay' }))).toEqual([201, 'quick', 'slow'])
      const [stored] = product({ flat_lay: true })
      await drape.call('POST', '/tryon/v1/products', { key, body: { externalId: 'stored', ...stored } })
      expect(await engineFor([{ externalId: 'stored' }])).toEqual([201, 'quick', 'slow'])
      expect(await engineFor([{ externalId: 'missing' }])).toEqual([404, undefined, undefined])
    })

    it('fall back from an unavailable engine, in batch work too, unless the call forbids it', async () => {
      const { request } = await chain({ fallbackEngines: ['quick'] })
      expect((await request('gone')).engines).toEqual([201, 'quick', 'gone'])
      expect((await request('gone', { priority: 'batch' } as object)).engines).toEqual([201, 'quick', 'gone'])
      expect((await request('gone', { output: { fallback: false } })).engines).toEqual([503, undefined, undefined])
    })

    it('apply maxWaitSeconds to the engine used', async () => {
      const { request } = await chain({ fallbackEngines: ['quick'], fallbackAfterSeconds: 60 })
      const within = (maxWaitSeconds: number) => request('slow', { maxWaitSeconds } as object)
      expect((await within(60)).engines).toEqual([201, 'quick', 'slow'])
      expect(await within(10)).toMatchObject({
        status: 503,
        body: { details: [{ estimatedStartSeconds: expect.any(Number) }] },
      })
    })
  })

  it.each(['Studio', 'a b', '', 'x'.repeat(48), 'constructor', 7])('cannot be named %j', async (name) => {
    expect(await order(name as string)).toMatchObject({ status: 400, body: { details: [{ path: 'output.engine' }] } })
  })

  it('are ready once a worker runs them, as the worker describes them', async () => {
    const worker = await drape.startWorker({ ENGINES: 'mock' })
    await isState('mock', 'ready')
    const expected = async () => (await list()).mock as { expectedWaitSeconds?: number }
    await until(async () => (await expected()).expectedWaitSeconds === 0)
    expect((await list()).mock).toMatchObject({
      version: expect.stringMatching(/^\d/),
      license: 'Apache-2.0',
      categories: expect.arrayContaining(['tops', 'outerwear']),
      expectedWaitSeconds: 0,
    })
    const { status, body } = await order('mock', { maxWaitSeconds: 1 })
    expect([status, body]).toMatchObject([201, { estimatedStartSeconds: 0 }])
    await worker.end()
    // It may be restarting: a worker was here just now.
    await isState('mock', 'scaling_from_zero')
    expect((await order('mock')).status).toBe(201)
  })
})
