import { afterAll, describe, expect, it } from 'vitest'
import { createApiKeys } from '../../../../api/accounts/api-keys.store.ts'
import { UNRESTRICTED } from '../../../../api/accounts/restrictions.ts'
import { createGenerations } from '../../../../api/shared/generations/generations.store.ts'
import { acceptForShop, completeForShop } from '../../../support/completed.ts'
import { formOf, readSample, startDrape } from '../../../support/drape.ts'
import { readEvents } from '../../../support/events.ts'
import { startProgram } from '../../../support/process.ts'
import { createDevelopmentShop } from '../../../support/shop.ts'

const FIELDS = ['appealUrl', 'createdAt', 'errorCode', 'errorMessage', 'generationId', 'status', 'updatedAt']
const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/

describe('a shopper’s generation', async () => {
  const drape = await startDrape({ env: { DEFAULT_ENGINE: 'mock', PROXY_HOPS: '1' } })
  const shop = await createDevelopmentShop(drape)
  const sister = await createDevelopmentShop(drape, 'sister.test')
  const photo = await readSample('persons/down-half-teal.jpg')
  afterAll(() => drape.stop())

  const get = (id: string, { headers }: { headers: Readonly<Record<string, string>> } = shop) =>
    drape.call('GET', `/public/generation/${id}`, { key: null, headers })
  const follow = (id: string, { headers }: { headers: Readonly<Record<string, string>> } = shop) =>
    fetch(`${drape.api.url}/public/generation/${id}/events`, { headers })

  it('is created from an upload and a product of the catalog, and polled until its end', async () => {
    const worker = await drape.startWorker()
    const form = formOf(undefined, { file: photo })
    const upload = await drape.call('POST', '/public/upload-image', { key: null, headers: shop.headers, body: form })
    const product = { externalId: 'gid://shopify/Product/1', images: [{ source: { fileKey: 'shirt' } }] }
    await drape.call('POST', '/tryon/v1/products', { body: formOf(product, { shirt: photo }) })
    const { body } = await drape.call('POST', '/public/fitting-room', {
      key: null,
      headers: shop.headers,
      body: { userImageId: upload.body.fileId, productId: 'gid://shopify/Product/1' },
    })

    const events = await follow(body.jobId)
    expect(events.headers.get('content-type')).toMatch(/^text\/event-stream/)
    const statuses: string[] = []
    for await (const { data } of readEvents(events)) {
      const image = data.status === 'COMPLETED' ? ['resultImageUrl'] : []
      expect(Object.keys(data).sort()).toEqual([...FIELDS, ...image].sort())
      statuses.push(data.status)
    }
    expect(statuses.at(-1)).toBe('COMPLETED')

    const { status, headers, body: generation } = await get(body.jobId)
    expect(status).toBe(200)
    expect(headers.get('cache-control')).toBe('no-store')
    expect(generation).toEqual({
      generationId: body.jobId,
      status: 'COMPLETED',
      resultImageUrl: expect.stringContaining(drape.api.url),
      errorMessage: null,
      errorCode: null,
      appealUrl: null,
      createdAt: expect.stringMatching(TIME),
      updatedAt: expect.stringMatching(TIME),
    })
    const result = await fetch(generation.resultImageUrl)
    expect({ status: result.status, type: result.headers.get('content-type') }).toEqual({
      status: 200,
      type: 'image/jpeg',
    })
    await worker.end()
  })

  it('has null values and no image while it waits', async () => {
    const id = await acceptForShop(drape, { shopId: shop.id })
    const { body } = await get(id)
    expect(Object.keys(body).sort()).toEqual(FIELDS)
    expect(body).toMatchObject({ generationId: id, errorMessage: null, errorCode: null })
  })

  it('has the reason of a failure', async () => {
    const id = await acceptForShop(drape, { shopId: shop.id })
    const generations = createGenerations(drape.database)
    await generations.start({ id, attempt: 1, worker: 'test' })
    await generations.fail({ id, attempt: 1, code: 'PRODUCT_IMAGE_FETCH_FAILED', message: 'No image.' })
    expect((await get(id)).body).toMatchObject({
      status: 'FAILED',
      errorMessage: 'No image.',
      errorCode: 'PRODUCT_IMAGE_FETCH_FAILED',
    })
  })

  it('is returned by any replica', async () => {
    const { generationId } = await completeForShop(drape, { shopId: shop.id, image: photo })
    const replica = await startProgram('api', drape.env)
    const answer = await fetch(`${replica.url}/public/generation/${generationId}`, { headers: shop.headers })
    expect(await answer.json()).toMatchObject({ generationId, status: 'COMPLETED' })
    await replica.end()
  })

  it('is returned to its visitor only', async () => {
    const id = await acceptForShop(drape, { shopId: shop.id })
    const ofSister = await acceptForShop(drape, { shopId: sister.id })
    const ofServer = await drape.tryOn(
      {
        products: [{ images: [{ source: { url: 'https://shop.example/a.jpg' } }] }],
        person: { image: { source: { fileKey: 'me' } } },
      },
      { me: photo },
    )
    const missing = { status: 404, body: { code: 'GENERATION_NOT_FOUND', status: 404 } }
    for (const foreign of [ofSister, ofServer, 'gen_nothing', 'img_1', '..%2F..', 'gen_%27']) {
      expect(await get(foreign)).toMatchObject(missing)
      expect((await follow(foreign)).status).toBe(404)
    }
    expect(await get(id, sister)).toMatchObject(missing)
    const onlyShop = { 'x-drape-shop': shop.domain }
    for (const headers of [onlyShop, { ...onlyShop, 'x-service-anonymous-id': 'anon_stranger' }]) {
      expect(await get(id, { headers })).toMatchObject(missing)
      expect((await follow(id, { headers })).status).toBe(404)
    }
    const unsigned = await get(id, { headers: {} })
    expect(unsigned).toMatchObject({ status: 401, body: { code: 'PROXY_SIGNATURE_INVALID' } })
    // The account that pays for the shop sees it.
    expect((await drape.call('GET', `/tryon/v1/generations/${id}`)).status).toBe(200)
  })

  it('is cancelled by its visitor only, and stays unchanged once it has ended', async () => {
    const cancel = (id: string, { headers }: { headers: Readonly<Record<string, string>> } = shop) =>
      drape.call('POST', `/public/generation/${id}/cancel`, { key: null, headers })
    const id = await acceptForShop(drape, { shopId: shop.id })
    const ofSister = await acceptForShop(drape, { shopId: sister.id })
    const missing = { status: 404, body: { code: 'GENERATION_NOT_FOUND' } }
    const stranger = { headers: { 'x-drape-shop': shop.domain, 'x-service-anonymous-id': 'anon_stranger' } }
    for (const answer of [await cancel(ofSister), await cancel(id, sister), await cancel(id, stranger)])
      expect(answer).toMatchObject(missing)
    expect(await cancel(id, { headers: {} })).toMatchObject({ status: 401 })
    const { key } = await createApiKeys(drape.database).insert(drape.accountId, 'secret', {
      ...UNRESTRICTED,
      scopes: ['read'],
    })
    const reading = { headers: { ...stranger.headers, 'x-api-key': key } }
    expect(await cancel(id, reading)).toMatchObject({ status: 403, body: { code: 'FORBIDDEN' } })
    expect((await get(id, reading)).status).toBe(200)
    expect((await get(id)).body.status).toBe('PENDING')
    const events = await follow(id)
    for (let i = 0; i < 2; i++) {
      const { status, body } = await cancel(id)
      expect([status, body.status, body.errorCode]).toEqual([200, 'FAILED', 'GENERATION_CANCELLED'])
    }
    const followed = []
    for await (const { data } of readEvents(events)) followed.push(data.status)
    expect(followed.at(-1)).toBe('FAILED')
    const { generationId } = await completeForShop(drape, { shopId: shop.id, image: photo })
    expect((await cancel(generationId)).body).toMatchObject({ status: 'COMPLETED' })
  })

  it('without a name of a visitor belongs to the network address', async () => {
    const nameless = { 'x-drape-shop': shop.domain }
    const form = formOf(undefined, { file: photo })
    const sent = await drape.call('POST', '/public/upload-image', { key: null, headers: nameless, body: form })
    const product = { externalId: 'gid://shopify/Product/2', images: [{ source: { fileKey: 'shirt' } }] }
    await drape.call('POST', '/tryon/v1/products', { body: formOf(product, { shirt: photo }) })
    const body = { userImageId: sent.body.fileId, productId: product.externalId }
    const { jobId } = (await drape.call('POST', '/public/fitting-room', { key: null, headers: nameless, body })).body
    expect((await get(jobId, { headers: nameless })).status).toBe(200)
    // A visitor with a name may be any other one of the network.
    expect((await get(jobId)).status).toBe(404)
    const elsewhere = { ...nameless, 'x-forwarded-for': '203.0.113.9' }
    expect((await get(jobId, { headers: elsewhere })).status).toBe(404)
  })

  it('is returned to the server of the shop, by its key', async () => {
    const id = await acceptForShop(drape, { shopId: shop.id, shopper: 'customer:6' })
    const path = `/public/generation/${id}`
    const ask = (key: string) => drape.call('GET', path, { key, headers: { 'x-drape-shop': shop.domain } })
    expect(await get(id)).toMatchObject({ status: 404 })
    expect(await ask(drape.apiKey)).toMatchObject({ status: 200, body: { generationId: id } })
    const { apiKey: foreign } = await drape.createAccount(0)
    for (const key of [foreign, `${drape.apiKey}x`]) {
      expect(await ask(key)).toMatchObject({ status: 401, body: { code: 'INVALID_API_KEY' } })
    }
    expect(await drape.call('GET', path, { headers: sister.headers })).toMatchObject({ status: 404 })
  })

  it('loses its image when its shopper is erased', async () => {
    const { generationId } = await completeForShop(drape, { shopId: shop.id, shopper: 'customer:5', image: photo })
    const customer = await drape.call('GET', `/public/generation/${generationId}`, { headers: shop.headers })
    const { resultImageUrl } = customer.body
    expect((await fetch(resultImageUrl)).status).toBe(200)
    await drape.call('DELETE', `/tryon/v1/customers/${encodeURIComponent(`${shop.id}:customer:5`)}`)
    expect((await fetch(resultImageUrl)).status).toBe(404)
    const { body } = await drape.call('GET', `/public/generation/${generationId}`, { headers: shop.headers })
    expect(body).toMatchObject({ status: 'COMPLETED', imagesExpired: true })
    expect(body).not.toHaveProperty('resultImageUrl')
  })
})
