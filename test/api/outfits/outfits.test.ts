import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, describe, expect, it } from 'vitest'
import { createAccounts } from '../../../api/accounts/accounts.store.ts'
import { createApiKeys } from '../../../api/accounts/api-keys.store.ts'
import { UNRESTRICTED } from '../../../api/accounts/restrictions.ts'
import { sql } from '../../../api/shared/database/database.ts'
import { formOf, readSample, readSmallPerson, startDrape } from '../../support/drape.ts'
import { createDevelopmentShop } from '../../support/shop.ts'
import { until } from '../../support/until.ts'

const PATH = '/tryon/v1/outfits'
const LIMITS = { writesPerMinute: 1_000_000, readsPerMinute: 1_000_000 }
/** A worker fails with it. */
const UNREACHABLE = 'https://shop.invalid/coat.jpg'

describe('an outfit', async () => {
  const garment = await readSample('garments/tshirt-navy.jpg')
  const held: ServerResponse[] = []
  let isSlow = false
  const shop = createServer(({ url }, response) => {
    if (isSlow && url?.endsWith('slow')) held.push(response)
    else response.end(garment)
  })
  await new Promise<void>((resolve) => shop.listen(0, '127.0.0.1', resolve))
  const { port } = shop.address() as AddressInfo
  const address = `http://127.0.0.1:${port}/1.jpg`
  const drape = await startDrape({ credits: 40, env: { FETCH_ALLOW_PORTS: String(port), ENGINES: 'warp,mock,plain' } })
  let worker = await drape.startWorker({}, { separate: true })
  afterAll(async () => {
    await drape.stop()
    shop.closeAllConnections()
    shop.close()
  })

  const upload = async (key = drape.apiKey) => {
    const body = formOf(undefined, { file: await readSmallPerson() })
    return (await drape.call('POST', '/tryon/v1/images/upload', { key, body })).body.imageId as string
  }
  const imageId = await upload()
  const person = { image: { source: { id: imageId } } }
  const images = [{ source: { url: address } }]
  const trousers = { title: 'Black trousers', images }
  const shirt = { title: 'T-shirt', images }
  const coat = { title: 'Winter coat', images }
  const post = (products: readonly object[], more: object = {}, options: object = {}) =>
    drape.call('POST', PATH, { body: { products, person, ...more }, ...options })
  const balanceOf = async (id: string) => (await createAccounts(drape.database).find(id))?.balance
  const assertBalanced = async () => expect(await createAccounts(drape.database).findLedgerGaps()).toEqual([])

  it('is one generation, with a charge and an outcome for each product', async () => {
    const before = await drape.balance()
    const { status, body } = await post([coat, shirt, trousers])
    expect({ status, layers: body.layers }).toEqual({
      status: 201,
      layers: ['outerwear', 'tops', 'bottoms'].map((layer) => ({
        layer,
        productExternalId: expect.stringMatching(/^_anon_/),
      })),
    })
    expect(new Set(body.layers.map((layer: { productExternalId: string }) => layer.productExternalId)).size).toBe(3)
    // Without a measured pace, an engine is expected to take 3 seconds for each product.
    expect(body.estimatedSeconds - body.estimatedStartSeconds).toBe(9)
    expect(await drape.balance()).toBe(before - 3)
    const { layers, ...generation } = await drape.finish(body.generationId)
    expect(generation).toMatchObject({ status: 'COMPLETED', category: null, resultImageUrl: expect.any(String) })
    expect(layers).toEqual(
      body.layers.map((layer: object) => ({ ...layer, applied: true, quality: null, warnings: expect.any(Array) })),
    )
    for (const { productExternalId } of layers) {
      const { body: found } = await drape.call('GET', `/tryon/v1/products/${productExternalId}/stats`)
      expect(found).toMatchObject({ totalGenerations: 1, completedGenerations: 1 })
    }
    await assertBalanced()
  })

  it('costs one try-on in all where the account says so', async () => {
    const account = await drape.createAccount(1, { ...LIMITS, outfitPricing: 'outfit' })
    const shown = await drape.call('GET', '/tryon/v1/account', { key: account.apiKey })
    expect(shown.body.outfitPricing).toBe('outfit')
    const own = { image: { source: { id: await upload(account.apiKey) } } }
    const answer = await post([shirt, trousers], { person: own, partial: 'allowed' }, { key: account.apiKey })
    expect(answer.status).toBe(201)
    expect(await balanceOf(account.id)).toBe(0)
  })

  it.each([
    ['two bottoms', [trousers, { title: 'Jeans', images }], 'products[0] (bottoms) and products[1] (bottoms)'],
    [
      'dress and skirt',
      [coat, { title: 'Red dress', images }, { title: 'Skirt', images }],
      'products[1] (one-pieces) and products[2] (bottoms)',
    ],
    ['two tops', [shirt, { title: 'Cardigan', images }], 'products[0] (tops) and products[1] (tops)'],
    ['an unknown category', [shirt, { title: 'Item 17', images }], 'The category of products[1] is unknown'],
    ['a hat', [shirt, { title: 'Bath robe', images }], 'The category of products[1] is other'],
    [
      'the same product',
      [
        { ...shirt, externalId: 's' },
        { ...shirt, externalId: 's', layer: 'outerwear' },
      ],
      'same product',
    ],
  ])('is refused for %s, with the products named', async (_, products, words) => {
    const before = await drape.balance()
    const { status, body } = await post(products)
    expect({ status, code: body.code }).toEqual({ status: 400, code: 'VALIDATION_FAILED' })
    expect(body.message).toContain(words)
    expect(body.details.map(({ path }: { path: string }) => path).join()).toMatch(/products\[\d\]/)
    expect(await drape.balance()).toBe(before)
  })

  it.each([
    ['one product', [shirt]],
    ['five products', [shirt, trousers, coat, coat, coat]],
    ['an unknown layer', [{ ...shirt, layer: 'hat' }, trousers]],
    ['no object', [shirt, 'trousers']],
    ['no list', { 0: shirt }],
  ])('is refused for %s', async (_, products) => {
    expect(await post(products as object[])).toMatchObject({ status: 400, body: { code: 'VALIDATION_FAILED' } })
  })

  it('takes the layer of the call, else what the catalogue knows', async () => {
    const cardigan = { ...shirt, title: 'Cardigan', layer: 'outerwear' }
    expect((await post([cardigan, shirt])).body.layers[0].layer).toBe('outerwear')
    await drape.call('POST', '/tryon/v1/products', { body: { externalId: 'known', ...trousers } })
    const { body } = await post([shirt, { externalId: 'known' }])
    expect(body.layers[1]).toEqual({ productExternalId: 'known', layer: 'bottoms' })
    const { body: product } = await drape.call('GET', '/tryon/v1/products/known')
    expect(product.lastUsedAt).toEqual(expect.any(String))
  })

  it('stores and charges nothing if one product or the credits are missing', async () => {
    const account = await drape.createAccount(2)
    const { apiKey: key, id } = account
    const own = { person: { image: { source: { id: await upload(key) } } } }
    const fresh = { ...shirt, externalId: 'fresh' }
    const missing = await post([fresh, { externalId: 'none', layer: 'bottoms' }], own, { key })
    expect(missing).toMatchObject({ status: 404, body: { code: 'PRODUCT_NOT_FOUND' } })
    expect(await post([fresh, { externalId: 'none' }], own, { key })).toMatchObject({ status: 404 })
    expect(await post([fresh, trousers, coat], own, { key })).toMatchObject({ status: 402 })
    const detail = [{ source: { url: address }, classifications: { type: 'detail' } }]
    const unusable = await post([fresh, { ...trousers, externalId: 'detail', images: detail }], own, { key })
    expect(unusable.body).toMatchObject({
      code: 'MISSING_REQUIRED_CLASSIFICATION',
      message: expect.stringContaining('detail'),
    })
    expect((await drape.call('GET', '/tryon/v1/products/fresh', { key })).status).toBe(404)
    expect(await balanceOf(id)).toBe(2)
    expect((await post([fresh, trousers], own, { key })).status).toBe(201)
    expect(await balanceOf(id)).toBe(0)
    await assertBalanced()
  })

  it('uses no products of other accounts', async () => {
    const other = await drape.createAccount(2)
    const { body } = await post([shirt, trousers])
    const foreign = body.layers.map(({ layer, productExternalId }: { layer: string; productExternalId: string }) => ({
      layer,
      externalId: productExternalId,
    }))
    const own = { person: { image: { source: { id: await upload(other.apiKey) } } } }
    for (const products of [foreign, [coat, foreign[1]], [coat, { externalId: foreign[1].externalId }]])
      expect(await post(products, own, { key: other.apiKey })).toMatchObject({
        status: 403,
        body: { code: 'FORBIDDEN' },
      })
    expect(await post([shirt, trousers], {}, { key: other.apiKey })).toMatchObject({ status: 403 })
    expect(await balanceOf(other.id)).toBe(2)
  })

  it('has one result, and no mask', async () => {
    for (const [name, value] of [
      ['count', 2],
      ['mask', { image: { source: { id: imageId } } }],
      ['changedMask', true],
    ] as const)
      expect(await post([shirt, trousers], { output: { engine: 'mock', [name]: value } })).toMatchObject({
        status: 400,
        body: { code: 'VALIDATION_FAILED', details: [{ path: `output.${name}` }] },
      })
  })

  it('needs an engine that draws outfits', async () => {
    const { status, body } = await post([shirt, trousers], { output: { engine: 'plain' } })
    expect({ status, details: body.details }).toEqual({
      status: 400,
      details: [{ path: 'output.engine', message: 'must be an engine that renders outfits: warp, mock' }],
    })
    const { engines } = (await drape.call('GET', '/tryon/v1/engines')).body
    const able = engines.map(({ name, outfits }: { name: string; outfits: boolean }) => [name, outfits])
    expect(Object.fromEntries(able)).toEqual({ warp: true, mock: true, plain: false })
  })

  it('is accepted once under one idempotency key, which fits no other order', async () => {
    const before = await drape.balance()
    const headers = { 'idempotency-key': 'outfit-1' }
    const [first, second] = [
      await post([shirt, trousers], {}, { headers }),
      await post([shirt, trousers], {}, { headers }),
    ]
    expect(second.body).toEqual(first.body)
    expect(await post([trousers, shirt], {}, { headers })).toMatchObject({ body: { code: 'IDEMPOTENCY_KEY_REUSED' } })
    expect(await drape.balance()).toBe(before - 2)
  })

  const broken = { title: 'Winter coat', images: [{ source: { url: UNREACHABLE } }] }

  it('fails as a whole and is refunded if a product fails', async () => {
    const before = await drape.balance()
    const { body } = await post([shirt, broken])
    const generation = await drape.finish(body.generationId)
    expect(generation).toMatchObject({
      status: 'FAILED',
      errorCode: 'PRODUCT_IMAGE_FETCH_FAILED',
      errorDetails: [{ path: 'products[1].images[0]' }],
    })
    expect(generation.layers).toEqual(body.layers)
    expect(await drape.balance()).toBe(before)
    await assertBalanced()
  })

  it('may lack products, whose price is refunded', async () => {
    const before = await drape.balance()
    const { body } = await post([broken, shirt, trousers], { partial: 'allowed', output: { format: 'webp' } })
    const generation = await drape.finish(body.generationId)
    expect(generation).toMatchObject({ status: 'COMPLETED', warnings: expect.arrayContaining(['PRODUCT_LEFT_OUT']) })
    expect(generation.layers).toEqual([
      { ...body.layers[0], applied: false, errorCode: 'PRODUCT_IMAGE_FETCH_FAILED', errorMessage: expect.any(String) },
      { ...body.layers[1], applied: true, quality: null, warnings: [] },
      { ...body.layers[2], applied: true, quality: null, warnings: [] },
    ])
    const statisticsOf = async (i: number) =>
      (await drape.call('GET', `/tryon/v1/products/${generation.layers[i].productExternalId}/stats`)).body
    expect(await statisticsOf(0)).toMatchObject({ totalGenerations: 1, completedGenerations: 0, failedGenerations: 1 })
    expect(await statisticsOf(1)).toMatchObject({ totalGenerations: 1, completedGenerations: 1, failedGenerations: 0 })
    expect((await fetch(generation.resultImageUrl)).headers.get('content-type')).toBe('image/webp')
    expect(await drape.balance()).toBe(before - 2)
    const none = await post([broken, { ...broken, title: 'Jeans' }], { partial: 'allowed' })
    expect(await drape.finish(none.body.generationId)).toMatchObject({ status: 'FAILED' })
    expect(await drape.balance()).toBe(before - 2)
    await assertBalanced()
  })

  it('is shared as the products that its image shows', async () => {
    const { body } = await post([broken, shirt, trousers], { partial: 'allowed' })
    const { generationId, layers } = await drape.finish(body.generationId)
    const { headers } = await createDevelopmentShop(drape)
    const shared = await drape.call('POST', '/public/share-generation', { headers, body: { generationId } })
    const { product } = (await drape.call('GET', `/s/${shared.body.shareToken}`, { key: null })).body
    const productId = layers[1].productExternalId
    expect(product).toEqual({ productId, title: 'T-shirt + Black trousers', description: null, imageUrl: null })
  })

  it('refunds nothing for a product that was left out if the price is that of the outfit', async () => {
    const account = await drape.createAccount(1, { ...LIMITS, outfitPricing: 'outfit' })
    const { apiKey: key, id } = account
    const own = { person: { image: { source: { id: await upload(key) } } }, partial: 'allowed' }
    const { body } = await post([shirt, broken], own, { key })
    const path = `/tryon/v1/generations/${body.generationId}`
    await until(async () => (await drape.call('GET', path, { key })).body.status === 'COMPLETED')
    expect(await balanceOf(id)).toBe(0)
    const failing = await post([shirt, broken], own, { key })
    expect(failing.status).toBe(402)
    await assertBalanced()
  })

  it('accepts files, four products of which two are outerwear, and a test key', async () => {
    const products = [coat, { ...coat, title: 'Cardigan', layer: 'outerwear' }, shirt, trousers].map((product) => ({
      ...product,
      images: [{ source: { fileKey: 'garment' } }],
    }))
    const { key } = await createApiKeys(drape.database).insert(drape.accountId, 'secret', {
      ...UNRESTRICTED,
      isTest: true,
    })
    for (const by of [drape.apiKey, key]) {
      const data = { products, person: { image: { source: { fileKey: 'me' } } } }
      const body = formOf(data, { me: await readSmallPerson(), garment })
      const answer = await drape.call('POST', PATH, { body, key: by })
      expect(answer.body.layers.map(({ layer }: { layer: string }) => layer)).toEqual([
        'outerwear',
        'outerwear',
        'tops',
        'bottoms',
      ])
      const path = `/tryon/v1/generations/${answer.body.generationId}`
      const ended = await until(async () => {
        const { body: generation } = await drape.call('GET', path, { key: by })
        return generation.status === 'COMPLETED' && generation
      })
      expect(ended.layers.every(({ applied }: { applied: boolean }) => applied)).toBe(true)
    }
  })

  it('refuses reserved IDs and products without images, with the product named', async () => {
    const reserved = await post([shirt, { ...trousers, externalId: '_anon_x' }])
    expect(reserved).toMatchObject({ status: 409, body: { code: 'RESERVED_EXTERNAL_ID' } })
    const bare = await post([shirt, { externalId: 'bare', title: 'Jeans' }])
    expect(bare.body).toMatchObject({
      code: 'PRODUCT_IMAGES_REQUIRED',
      details: [{ path: 'products[1].images' }],
    })
    expect((await post([shirt, { title: 'Jeans' }])).body).toMatchObject({ details: [{ path: 'products[1].images' }] })
  })

  it('spends exactly the credits of calls that create the same products at once in other orders', async () => {
    const account = await drape.createAccount(13)
    const { apiKey: key, id } = account
    const own = { person: { image: { source: { id: await upload(key) } } } }
    const both = [
      { ...shirt, externalId: 'a' },
      { ...trousers, externalId: 'b' },
    ]
    const answers = await Promise.all(
      Array.from({ length: 16 }, (_, i) => post(i % 2 ? both : both.toReversed(), own, { key })),
    )
    const statuses = answers.map(({ status }) => status).toSorted()
    expect(statuses).toEqual([...Array(6).fill(201), ...Array(10).fill(402)])
    expect(await balanceOf(id)).toBe(1)
    await assertBalanced()
  })

  it('is finished and charged once if its worker is killed between two products', async () => {
    const before = await drape.balance()
    isSlow = true
    const slow = { ...shirt, images: [{ source: { url: `${address}?slow` } }] }
    const { body } = await post([slow, trousers])
    const path = `/tryon/v1/generations/${body.generationId}`
    // The trousers are drawn.
    await until(async () => (await drape.call('GET', path)).body.progress === 0.5)
    await worker.end('SIGKILL')
    isSlow = false
    worker = await drape.startWorker({}, { separate: true })
    const generation = await drape.finish(body.generationId)
    expect(generation.layers.map(({ applied }: { applied: boolean }) => applied)).toEqual([true, true])
    expect(await drape.balance()).toBe(before - 2)
    const charges = sql.unsafe`select count(*)::int from ledger where generation_id = ${body.generationId}`
    expect(await drape.database.oneFirst(charges)).toBe(1)
    await assertBalanced()
  })
})
