import { createReadStream } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { afterAll, describe, expect, it } from 'vitest'
import { createAccounts } from '../../api/accounts/accounts.store.ts'
import {
  createDrapeClient,
  DrapeConnectionError,
  DrapeGenerationError,
  DrapeTimeoutError,
  type Generation,
  isApiError,
  type OutputInput,
  readPicture,
} from '../../api/client/node.ts'
import { decodeImage } from '../../api/shared/image/image.ts'
import { createSafetyReviews } from '../../api/trust/appeals/safety-reviews.store.ts'
import { createCaller } from '../support/accepted.ts'
import { readSample, startDrape } from '../support/drape.ts'
import { refuseGeneration } from '../support/refused.ts'
import { until } from '../support/until.ts'

const PERSON = new URL('../../scripts/samples/persons/down-half-teal.jpg', import.meta.url)
const MOCK = { engine: 'mock' } as const

describe('the client against the service', async () => {
  const person = await readSample('persons/down-half-teal.jpg')
  const shirt = await readSample('garments/tshirt-mustard.jpg')
  const drape = await startDrape({ credits: 3 })
  const client = createDrapeClient({ url: `${drape.api.url}/`, apiKey: drape.apiKey, retries: 0 })
  await drape.startWorker()
  afterAll(() => drape?.stop())

  it('runs a try-on, reports its progress and downloads the result', async () => {
    const changes: Generation[] = []
    const call = client.tryOn({
      person,
      product: {
        externalId: 'shirt-1',
        title: 'T-shirt',
        images: [{ source: shirt, classifications: { view: 'front' } }],
      },
    })
    const generation = await call.wait({ onProgress: (change) => changes.push(change) })
    const { generationId } = await call
    expect(generation).toMatchObject({ generationId, status: 'COMPLETED', productExternalId: 'shirt-1' })
    expect(changes.at(-1)).toMatchObject({ status: 'COMPLETED', updatedAt: generation.updatedAt })
    expect(new Set(changes.map(({ updatedAt, progress }) => `${updatedAt} ${progress}`)).size).toBe(changes.length)
    const result = (await client.generations.download(generationId)) as Blob
    expect((await decodeImage(Buffer.from(await result.arrayBuffer()))).width).toBeGreaterThan(100)
    expect(await client.account.credits()).toEqual({ creditBalance: 2 })
    expect(await client.generations.wait(generationId)).toMatchObject({ generationId, status: 'COMPLETED' })
  })

  it('runs an outfit of a known product and a new one', async () => {
    await client.products.upsert({ externalId: 'trousers-1', title: 'Trousers', images: [{ source: shirt }] })
    const products = ['trousers-1', { title: 'Shirt', layer: 'outerwear' as const, images: [shirt] }]
    const call = client.outfit({ person, products, output: MOCK })
    expect((await call).layers).toMatchObject([{ productExternalId: 'trousers-1' }, { layer: 'outerwear' }])
    const { layers } = await call.wait()
    expect(layers).toMatchObject([{ productExternalId: 'trousers-1', applied: true }, { applied: true }])
    await client.products.delete('trousers-1')
  })

  it('sends a mask as bytes, as the photo', async () => {
    const masked = (image: NonNullable<OutputInput['mask']>['image']) =>
      client.tryOn({ person, product: { images: [shirt] }, output: { ...MOCK, mask: { image, keep: true } } })
    expect(await masked(person).wait()).toMatchObject({ status: 'COMPLETED' })
    const { imageId } = await client.images.upload(person, { crop: false })
    for (const image of [{ source: person }, { id: imageId }, { source: { id: imageId } }]) await masked(image)
    const refused = { code: 'INVALID_IMAGE', details: [{ path: 'output.mask.image' }] }
    await expect(masked(Buffer.from('no image'))).rejects.toMatchObject(refused)
    await expect(masked('https://shop.example/mask.png' as never)).rejects.toMatchObject({ code: 'VALIDATION_FAILED' })
  })

  it('lists the engines', async () => {
    // The state of an engine is unknown while Redis responds slowly.
    const engines = await until(async () => {
      const listed = (await client.engines.list()).engines
      return listed.some(({ name, state }) => name === 'mock' && state === 'ready') && listed
    })
    expect(engines).toMatchObject([{ name: 'warp' }, { name: 'mock', credits: 0 }])
  })

  it('uploads photos from a Buffer, a Blob, a Node stream, a web stream and a path', async () => {
    const inputs = [
      person,
      new Blob([new Uint8Array(person)]),
      createReadStream(PERSON),
      new Blob([new Uint8Array(person)]).stream(),
      await readPicture(fileURLToPath(PERSON)),
    ]
    const uploads = await Promise.all(
      inputs.map((input) => client.images.upload(input, { crop: false, keepForDays: 1 })),
    )
    expect(new Set(uploads.map(({ imageId }) => imageId)).size).toBe(inputs.length)
    const stored = await Promise.all(uploads.map(async ({ imageUrl }) => (await fetch(imageUrl)).bytes()))
    for (const bytes of stored) expect(Buffer.compare(bytes, stored[0])).toBe(0)
    expect((await decodeImage(Buffer.from(stored[0]))).width).toBeGreaterThan(100)
  })

  it('manages products and tries one on by its externalId', async () => {
    for (const externalId of ['a/1', 'b 2']) {
      const product = await client.products.upsert({
        externalId,
        images: [{ source: shirt }],
        metadata: { externalId },
      })
      expect(product).toMatchObject({ externalId, metadata: { externalId }, validForDays: null })
    }
    const { imageId } = await client.images.upload(person)
    const input = { person: { id: imageId }, product: 'a/1', output: MOCK, externalUserId: 'user 1' }
    const { generationId } = await client.tryOn(input).wait()
    expect(await client.generations.get(generationId)).toMatchObject({ status: 'COMPLETED', engine: { name: 'mock' } })
    expect(await client.products.get('b 2')).toMatchObject({ title: null })
    const first = await client.products.list({ limit: 1 })
    expect(first).toMatchObject({ count: 1, hasMore: true })
    const all: string[] = []
    for await (const { externalId } of client.products.each({ limit: 1 })) all.push(externalId)
    expect(all.toSorted()).toEqual(['a/1', 'b 2', 'shirt-1'])
    expect(await client.products.statistics('a/1', { from: '2020-01-01' })).toHaveProperty('totalGenerations')
    const analytics = await client.analytics.get({ from: '2026-01-01', to: '2026-01-02' })
    expect(analytics).toMatchObject({ timeZone: 'UTC', days: [{ day: '2026-01-01' }, { visitors: 0 }] })
    await client.products.delete('b 2')
    await expect(client.products.get('b 2')).rejects.toMatchObject({ code: 'PRODUCT_NOT_FOUND', status: 404 })
    await client.customers.erase('user 1')
    expect(await client.generations.download(generationId)).toBeNull()
    expect(await client.account.get()).toMatchObject({ id: drape.accountId, isActive: true })
  })

  it('throws DrapeGenerationError when a generation fails', async () => {
    const failing = await client.tryOn({ person, product: { images: [{ url: `${drape.api.url}/nothing.jpg` }] } })
    const failure = await client.generations.wait(failing.generationId).catch((error) => error)
    expect(failure).toBeInstanceOf(DrapeGenerationError)
    expect(failure).toMatchObject({ code: 'PRODUCT_IMAGE_FETCH_FAILED', generation: { status: 'FAILED' } })
    expect(failure.details).toEqual([{ path: 'products[0].images[0]', message: failure.message }])
  })

  it.each(['nonsense', '', '/tryon', 'ftp://shop.example', 'localhost:8080'])('rejects the URL %j at once', (url) => {
    expect(() => createDrapeClient({ url })).toThrow(/^url must be the address of the service, for example https:/)
  })

  it('throws API errors with their codes', async () => {
    const [other, poor, slow] = await Promise.all([
      drape.createAccount(1),
      drape.createAccount(0),
      drape.createAccount(1, { writesPerMinute: 1 }),
    ])
    const as = (apiKey?: string) => createDrapeClient({ url: drape.api.url, apiKey, retries: 0 })
    const product = { images: [shirt] }
    const theirs = await as(other.apiKey).tryOn({ person, product })
    const throttled = as(slow.apiKey)
    await throttled.generations.cancel('gen_unknown').catch(() => {})
    const failures: Record<string, Promise<unknown>> = {
      MISSING_API_KEY: as().account.get(),
      INVALID_API_KEY: as('sk_wrong').account.credits(),
      FORBIDDEN: client.generations.get(theirs.generationId),
      VALIDATION_FAILED: client.tryOn({ person, product, output: { seed: -1 } }),
      EXTERNAL_ID_REQUIRED: client.products.upsert({ externalId: '', images: [shirt] }),
      PRODUCT_IMAGES_REQUIRED: client.products.upsert({ externalId: 'new' }),
      CUSTOMER_IMAGE_REQUIRED: client.tryOn({ product } as never),
      INVALID_IMAGE_INPUT: client.products.upsert({ externalId: 'new', images: [{} as never] }),
      INVALID_IMAGE: client.images.upload(Buffer.from('short')),
      UNSUPPORTED_IMAGE_TYPE: client.images.upload(Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"/>')),
      CUSTOMER_IMAGE_FETCH_FAILED: client.tryOn({ person: { url: 'http://127.0.0.1:9/me.jpg' }, product }),
      FILE_TOO_LARGE: client.images.upload(new Uint8Array(10 * 1024 * 1024 + 1)),
      INSUFFICIENT_CREDITS: as(poor.apiKey).tryOn({ person, product }),
      RATE_LIMITED: throttled.images.upload(person),
      PRODUCT_NOT_FOUND: client.tryOn({ person, product: 'unknown' }),
      GENERATION_NOT_FOUND: client.generations.wait('gen_unknown'),
      RESERVED_EXTERNAL_ID: client.products.upsert({ externalId: '_anon_1', images: [shirt] }),
    }
    const codes = await Promise.all(
      Object.entries(failures).map(([code, call]) =>
        call.then(
          () => `${code} was not thrown`,
          (error) => (isApiError(error) ? error.code : String(error)),
        ),
      ),
    )
    expect(codes).toEqual(Object.keys(failures))
    const invalid = await client.tryOn({ person, product, output: { seed: -1 } }).catch((error) => error)
    expect(isApiError(invalid, 'VALIDATION_FAILED') && invalid.details[0].path).toBe('output.seed')
    expect(invalid.requestId).toMatch(/./)
    const limited = await throttled.images.upload(person).catch((error) => error)
    expect(isApiError(limited, 'RATE_LIMITED') && limited.retryAfter).toBeGreaterThan(0)
  })

  it('replays the response for a reused Idempotency-Key, and rejects a different request under it', async () => {
    const product = { images: [shirt] }
    const once = { idempotencyKey: 'order-17' }
    const first = await client.tryOn({ person, product, output: MOCK }, once)
    expect(await client.tryOn({ person, product, output: MOCK }, once)).toEqual(first)
    const changed = client.tryOn({ person, product, output: { ...MOCK, seed: 1 } }, once)
    await expect(changed).rejects.toMatchObject({ code: 'IDEMPOTENCY_KEY_REUSED', status: 422 })
  })

  it('appeals a refusal, and reads the decision', async () => {
    const caller = await createCaller(drape.database, 10)
    const apiKey = await createAccounts(drape.database).insertKey(caller.accountId, 'secret')
    const { generations } = createDrapeClient({ url: drape.api.url, apiKey, retries: 0 })
    const id = await refuseGeneration(drape.database, caller)
    expect((await generations.get(id)).appealUrl).toContain('/appeal/')
    expect(await generations.findAppeal(id)).toBeNull()
    expect(await generations.appeal(id, 'It is a shirt.')).toMatchObject({ state: 'OPEN', byShopper: false })
    const decision = { version: 1, decision: 'ALLOWED', answer: 'It is.' } as const
    await createSafetyReviews(drape.database).decide(id, decision)
    expect(await generations.findAppeal(id)).toMatchObject({ state: 'ALLOWED', answer: 'It is.' })
    await expect(generations.findAppeal('gen_unknown')).rejects.toMatchObject({ code: 'GENERATION_NOT_FOUND' })
  })

  it('stops waiting on timeout or abort, and the generation stays pending until it is cancelled', async () => {
    const alone = await startDrape()
    const impatient = createDrapeClient({ url: alone.api.url, apiKey: alone.apiKey })
    const call = impatient.tryOn({ person, product: { images: [shirt] } })
    await expect(call.wait({ timeout: 300 })).rejects.toThrow(DrapeTimeoutError)
    const { generationId } = await call
    const stop = new AbortController()
    const reason = new Error('the page was left')
    const waiting = impatient.generations.wait(generationId, {
      signal: stop.signal,
      onProgress: () => stop.abort(reason),
    })
    await expect(waiting).rejects.toBe(reason)
    await expect(impatient.account.get({ signal: AbortSignal.abort(reason) })).rejects.toBe(reason)
    expect(await impatient.generations.get(generationId)).toMatchObject({ status: 'PENDING' })
    expect(await impatient.generations.cancel(generationId)).toMatchObject({ errorCode: 'GENERATION_CANCELLED' })
    await expect(impatient.generations.wait(generationId)).rejects.toMatchObject({ code: 'GENERATION_CANCELLED' })
    await alone.stop()
    await expect(createDrapeClient({ url: alone.api.url, retries: 0 }).account.get()).rejects.toThrow(
      DrapeConnectionError,
    )
  })

  it('rejects a missing or too large file before it sends a request', async () => {
    await expect(readPicture('/nowhere/me.jpg')).rejects.toMatchObject({ code: 'ENOENT' })
    let pulled = 0
    const endless = new ReadableStream<Uint8Array>({
      pull: (controller) => controller.enqueue(new Uint8Array(1024 * 1024).fill(pulled++)),
    })
    await expect(client.images.upload(endless)).rejects.toMatchObject({ code: 'FILE_TOO_LARGE', status: 413 })
    expect(pulled).toBeLessThan(20)
  })
})
