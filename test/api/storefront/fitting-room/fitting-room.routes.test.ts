import { afterAll, beforeEach, describe, expect, it } from 'vitest'
import { createAccounts } from '../../../../api/accounts/accounts.store.ts'
import { Type } from '../../../../api/shared/contract/schema.ts'
import { rowType, sql } from '../../../../api/shared/database/database.ts'
import { createShops } from '../../../../api/shops/shops.store.ts'
import { secondsToNextWeek } from '../../../../api/storefront/fitting-room/fitting-room.routes.ts'
import { formOf, readSample, startDrape } from '../../../support/drape.ts'
import { startProgram } from '../../../support/process.ts'
import { createDevelopmentShop, createSignedShop, type TestShop } from '../../../support/shop.ts'
import { pathSignedByShopify } from '../../../support/shop-proxies.ts'
import { startShopifyAdmin } from '../../../support/shopify-admin.ts'
import { until } from '../../../support/until.ts'

const WEEK_SECONDS = 7 * 86_400
const SHIRT = 'gid://shopify/Product/7001'

describe('POST /public/fitting-room', async () => {
  let headers: Record<string, string>

  const drape = await startDrape({ credits: 10_000, env: { PROXY_HOPS: '1' } })
  const shop = await createDevelopmentShop(drape)
  const sister = await createDevelopmentShop(drape, 'sister.test')
  const photo = await readSample('persons/down-half-teal.jpg')
  const imageId = await upload(shop.headers)
  await createProduct(SHIRT)
  afterAll(() => drape.stop())

  let shoppers = 0
  beforeEach(async () => {
    headers = newShopper(shop)
    await give(headers)
  })
  /** Makes the photo of the tests that of another shopper, as if that shopper had uploaded it. */
  const give = (by: Readonly<Record<string, string>>, of = shop) =>
    drape.database.query(sql.unsafe`
      update images set external_user_id = ${`${of.id}:browser:${by['x-service-anonymous-id']}`} where id = ${imageId}`)

  const newShopper = (of: TestShop) => ({ ...of.headers, 'x-service-anonymous-id': `anon_shopper-${shoppers++}` })
  async function upload(by: Readonly<Record<string, string>>): Promise<string> {
    const body = formOf(undefined, { file: photo })
    const answer = await drape.call('POST', '/public/upload-image', { key: null, headers: by, body })
    expect(answer.status).toBe(201)
    return answer.body.fileId
  }
  const uploadByServer = async (externalUserId?: string, key?: string): Promise<string> =>
    (await drape.upload(photo, { externalUserId }, key)).imageId
  async function createProduct(externalId: string, { key = drape.apiKey, classifications = {} } = {}) {
    const images = [{ source: { url: `https://shop.example/${encodeURIComponent(externalId)}.jpg` }, classifications }]
    expect((await drape.call('POST', '/tryon/v1/products', { key, body: { externalId, images } })).status).toBe(200)
  }
  const enter = (changes: object = {}, by: Readonly<Record<string, string>> = headers) =>
    drape.call('POST', '/public/fitting-room', {
      key: null,
      headers: by,
      body: { userImageId: imageId, productId: SHIRT, ...changes },
    })
  const accepted = async (changes: object = {}, by = headers): Promise<string> => {
    const answer = await enter(changes, by)
    expect(answer).toMatchObject({ status: 200, body: { jobId: expect.stringMatching(/^gen_/) } })
    return answer.body.jobId
  }
  const productOf = (jobId: string) =>
    drape.database.oneFirst(sql.unsafe`select product_external_id from generations where id = ${jobId}`)
  const offers = async (engine: string) => {
    const { body } = await drape.call('GET', '/tryon/v1/engines')
    return body.engines.some(({ name }: { name: string }) => name === engine)
  }
  const update = (statement: ReturnType<typeof sql.unsafe>) => drape.database.query(statement)
  /** A shop of its own account, and one of its shoppers with a photo. */
  async function openShop(credits = 100, engines: { account?: string; shop?: string; fallback?: string } = {}) {
    const fallbackEngines = engines.fallback === undefined ? undefined : [engines.fallback]
    const account = await drape.createAccount(credits, { defaultEngine: engines.account, fallbackEngines })
    const domain = `shop-${shoppers++}.test`
    const { id } = await createShops(drape.database).insert({
      accountId: account.id,
      platform: 'development',
      domain,
      requiresConsent: false,
      addressGenerations: 1_000_000,
      visitorGenerations: 1_000_000,
      defaultEngine: engines.shop,
    })
    const by = newShopper({ id, domain, headers: { 'x-drape-shop': domain } })
    await createProduct(SHIRT, { key: account.apiKey })
    return { id, account, by, userImageId: await upload(by) }
  }

  it('runs once per Idempotency-Key, and again after it was blocked', async () => {
    const { id, account, by, userImageId } = await openShop(1)
    const keyed = (key: string) => enter({ userImageId }, { ...by, 'idempotency-key': key })
    const first = await keyed('wish-1')
    expect(first).toMatchObject({ status: 200, body: { jobId: expect.stringMatching(/^gen_/) } })
    const again = await keyed('wish-1')
    expect(again.body).toEqual(first.body)
    expect(again.headers.get('idempotent-replay')).toBe('true')
    const asked = sql.unsafe`select count(*)::int from generations where shop_id = ${id}`
    expect(await drape.database.oneFirst(asked)).toBe(1)
    expect(await keyed('wish-2')).toMatchObject({ status: 402, body: { code: 'QUOTA_EXCEEDED' } })
    await createAccounts(drape.database).addCredits({ accountId: account.id, credits: 1, note: null })
    expect(await keyed('wish-2')).toMatchObject({ status: 200 })
    expect(await drape.database.oneFirst(asked)).toBe(2)
  })

  describe('with further products', () => {
    const gid = (id: string) => `gid://shopify/Product/${id}`
    const create = async (key: string, id: string, title: string) => {
      const images = [{ source: { url: `https://shop.example/${id}.jpg` } }]
      const body = { externalId: id, title, images }
      expect((await drape.call('POST', '/tryon/v1/products', { key, body })).status).toBe(200)
    }
    const open = async (credits: number, engine?: string) => {
      const shopOfOutfits = await openShop(credits, { shop: engine })
      const { apiKey } = shopOfOutfits.account
      await create(apiKey, '7101', 'T-shirt')
      await create(apiKey, '7102', 'Black jeans')
      await create(apiKey, '7103', 'Red dress')
      await create(apiKey, '7104', 'Item 17')
      return shopOfOutfits
    }
    const wear = (userImageId: string, by: Readonly<Record<string, string>>, ids: readonly string[]) =>
      enter({ userImageId, productId: gid('7101'), withProductIds: ids.map(gid) }, by)

    it('makes an outfit, which counts as one try-on of the shopper and costs one for each product', async () => {
      const { id, account, by, userImageId } = await open(5)
      const { status, body } = await wear(userImageId, by, ['7102'])
      expect(status).toBe(200)
      const made = await drape.database.one(sql.unsafe`
        select shop_id, cost, layers, product_external_id, shopper_hash is not null as counts from generations where id = ${body.jobId}`)
      expect(made).toEqual({
        shop_id: id,
        cost: 2,
        counts: true,
        product_external_id: '7101',
        layers: [
          { layer: 'tops', externalId: '7101', title: 'T-shirt', cost: 1 },
          { layer: 'bottoms', externalId: '7102', title: 'Black jeans', cost: 1 },
        ],
      })
      expect((await createAccounts(drape.database).find(account.id))?.balance).toBe(3)
      // The photo of another shopper.
      expect(await wear(userImageId, { ...by, 'x-service-anonymous-id': 'anon_other' }, ['7102'])).toMatchObject({
        status: 404,
        body: { code: 'IMAGE_NOT_FOUND' },
      })
    })

    it.each([
      [
        'an unknown product',
        ['7102', '7999'],
        404,
        { code: 'PRODUCT_NOT_FOUND', message: expect.stringContaining(gid('7999')) },
      ],
      [
        'a product that cannot be worn with it',
        ['7103'],
        400,
        // The call cannot name layers.
        {
          message: expect.stringMatching(/Leave one out\.$/),
          details: [{ path: 'productId' }, { path: 'withProductIds[0]' }],
        },
      ],
      ['a product without a category', ['7102', '7104'], 400, { details: [{ path: 'withProductIds[1]' }] }],
      [
        'the product itself',
        ['7101'],
        400,
        { details: [{ path: 'withProductIds[0]', message: 'names the same product as productId' }] },
      ],
      ['more than 4 products', ['1', '2', '3', '4'], 400, { details: [{ path: 'withProductIds' }] }],
    ])('refuses %s, and charges nothing', async (_, ids, status, body) => {
      const { account, by, userImageId } = await open(5)
      expect(await wear(userImageId, by, ids)).toMatchObject({ status, body })
      expect((await createAccounts(drape.database).find(account.id))?.balance).toBe(5)
    })

    it('is refused for shops whose engine renders no outfits, and shoppers see that beforehand', async () => {
      const offer = async (by: Readonly<Record<string, string>>) =>
        (await drape.call('GET', '/public/check-credits', { key: null, headers: by })).body
      const able = await open(5)
      expect(await offer(able.by)).toEqual({ allowed: true, outfits: true })
      await update(sql.unsafe`
        insert into published_engines (namespace, name, license, max_slots) values ('shop', 'plain', 'Apache-2.0', 4)`)
      await until(() => offers('plain'))
      const { by, userImageId } = await open(5, 'plain')
      expect(await offer(by)).toEqual({ allowed: true })
      expect(await wear(userImageId, by, ['7102'])).toMatchObject({ status: 400, body: { code: 'VALIDATION_FAILED' } })
      await update(sql.unsafe`delete from published_engines`)
    })

    it('is refused without the extension for outfits', async () => {
      const { account, by, userImageId } = await open(5)
      const bare = await startProgram('api', { ...drape.env, FEATURES: 'storefront' })
      const ask = (path: string, init: RequestInit = {}) =>
        fetch(`${bare.url}/public/${path}`, { ...init, headers: { ...by, 'content-type': 'application/json' } })
      const body = { userImageId, productId: gid('7101'), withProductIds: [gid('7102')] }
      const answer = await ask('fitting-room', { method: 'POST', body: JSON.stringify(body) })
      expect(await answer.json()).toMatchObject({ status: 400, details: [{ path: 'withProductIds' }] })
      expect(await (await ask('check-credits')).json()).toEqual({ allowed: true })
      await bare.end()
      expect((await createAccounts(drape.database).find(account.id))?.balance).toBe(5)
    })
  })

  it('runs before batch jobs of its account, even if it requests batch', async () => {
    const { account, by, userImageId } = await openShop()
    const id = await uploadByServer(undefined, account.apiKey)
    const order = async (priority: string | null) => {
      const body = { products: [{ externalId: SHIRT }], person: { image: { source: { id } } }, priority }
      const answer = await drape.call('POST', '/tryon/v1/try-on', { key: account.apiKey, body })
      expect(answer.status).toBe(201)
      return answer.body.generationId
    }
    const batch = [await order('batch'), await order('batch')]
    const ids = [
      await order('interactive'),
      await accepted({ userImageId, priority: 'batch' }, by),
      await order(null),
      ...batch,
    ]
    const positions: number[] = []
    for (const id of ids) {
      const { body } = await drape.call('GET', `/tryon/v1/generations/${id}`, { key: account.apiKey })
      positions.push(body.queuePosition)
    }
    expect(positions).toEqual(positions.toSorted((a, b) => a - b))
    expect(new Set(positions).size).toBe(ids.length)
  })

  it('accepts garments worn by a model if the Engine resource of the default engine does', async () => {
    const publish = (name: string, garmentTypes: readonly string[]) =>
      update(sql.unsafe`
        insert into published_engines (namespace, name, license, max_slots, garment_types)
        values ('shop', ${name}, 'Apache-2.0', 4, ${sql.jsonb([...garmentTypes])})`)
    await publish('warp', ['flat_lay'])
    await publish('studio', ['flat_lay', 'on_model'])
    const worn = 'gid://shopify/Product/7900'
    const enterBy = async (defaultEngine: string) => {
      const { account, by, userImageId } = await openShop(10, { shop: defaultEngine })
      await createProduct(worn, { key: account.apiKey, classifications: { type: 'on_model' } })
      return enter({ userImageId, productId: worn }, by)
    }
    const Accepted = Type.Object({ engine: Type.String(), types: Type.Array(Type.String()) })
    // Until the service knows both engines it uses that of the installation.
    const { types } = await until(async () => {
      const { status, body } = await enterBy('studio')
      if (status !== 200) return false
      const { engine, ...made } = await drape.database.one(sql.type(rowType(Accepted))`
        select generations.engine, payload->'garmentTypes' as types from generations join outbox on generation_id = generations.id
        where generations.id = ${body.jobId}`)
      return engine === 'studio' && made
    })
    expect(types).toEqual(['flat_lay', 'on_model'])
    expect(await enterBy('warp')).toMatchObject({ status: 422, body: { code: 'MISSING_REQUIRED_CLASSIFICATION' } })
    await update(sql.unsafe`delete from published_engines`)
  })

  it('has the time that a pool without workers needs to start, as a try-on of the server API has', async () => {
    await update(sql.unsafe`
      insert into published_engines (namespace, name, license, max_slots, start_seconds, warmup_seconds)
      values ('shop', 'cold', 'Apache-2.0', 4, 240, 900)`)
    await until(() => offers('cold'))
    const { account, by, userImageId } = await openShop(10, { account: 'cold', shop: 'cold' })
    const id = await uploadByServer(undefined, account.apiKey)
    const order = async (output: object) => {
      const body = { products: [{ externalId: SHIRT }], person: { image: { source: { id } } }, output }
      const answer = await drape.call('POST', '/tryon/v1/try-on', { key: account.apiKey, body })
      return String(answer.body.generationId)
    }
    const ids = [await accepted({ userImageId }, by), await order({}), await order({ deadlineSeconds: 60 })]
    const deadlines = await drape.database.anyFirst(sql.unsafe`
      select round(extract(epoch from deadline_at - created_at))::int from generations
      where id = any(${sql.array(ids, 'text')}) order by created_at`)
    expect(deadlines).toEqual([1140, 1140, 60])
    await update(sql.unsafe`delete from published_engines`)
    await until(async () => !(await offers('cold')))
  })

  it('runs on a fallback engine of the account, for its price, while nothing runs the engine of the shop', async () => {
    await update(sql.unsafe`
      insert into published_engines (namespace, name, license, max_slots) values ('shop', 'gone', 'Apache-2.0', 0), ('shop', 'mock', 'Apache-2.0', 4)`)
    await until(() => offers('gone'))
    const { account, by, userImageId } = await openShop(10, { shop: 'gone', fallback: 'mock' })
    const jobId = await accepted({ userImageId }, by)
    expect(
      await drape.database.one(sql.unsafe`
        select engine, requested_engine as "requestedEngine", cost from generations where id = ${jobId}`),
    ).toEqual({ engine: 'mock', requestedEngine: 'gone', cost: 0 })
    const credits = await drape.call('GET', '/tryon/v1/account/credits', { key: account.apiKey })
    expect(credits.body.creditBalance).toBe(10)
    await update(sql.unsafe`delete from published_engines`)
    await until(async () => !(await offers('gone')))
  })

  it.each([
    [{}, 'warp', 'warp'],
    [{ account: 'mock' }, 'mock', 'mock'],
    [{ account: 'mock', shop: 'warp' }, 'warp', 'mock'],
    [{ account: 'an engine of another version' }, 'warp', 'warp'],
  ])(
    'runs with the default engines %j on %s, and calls of the account on %s',
    async (engines, ofShopper, ofAccount) => {
      const { account, by, userImageId } = await openShop(100, engines)
      const engineOf = async (id: string) =>
        drape.database.oneFirst(sql.unsafe`select engine from generations where id = ${id}`)
      const key = account.apiKey
      const id = await uploadByServer(undefined, key)
      const engineOfCall = async (output: object) => {
        const body = { products: [{ externalId: SHIRT }], person: { image: { source: { id } } }, output }
        return engineOf((await drape.call('POST', '/tryon/v1/try-on', { key, body })).body.generationId)
      }
      expect(await engineOf(await accepted({ userImageId }, by))).toBe(ofShopper)
      expect([await engineOfCall({}), await engineOfCall({ engine: null })]).toEqual([ofAccount, ofAccount])
      expect([await engineOfCall({ engine: 'mock' }), await engineOfCall({ engine: 'warp' })]).toEqual(['mock', 'warp'])
      const { body } = await drape.call('GET', '/tryon/v1/engines', { key })
      const defaults = body.engines.filter(({ isDefault }: { isDefault: boolean }) => isDefault)
      expect(defaults).toMatchObject([{ name: ofAccount }])
    },
  )

  it('returns no response of another shopper with the same Idempotency-Key', async () => {
    const { by, userImageId } = await openShop()
    const keyed = { 'idempotency-key': 'shared-wish' }
    const first = await enter({ userImageId }, { ...by, ...keyed })
    expect(first.status).toBe(200)
    const other = { ...by, 'x-service-anonymous-id': `anon_shopper-${shoppers++}` }
    expect(await enter({ userImageId }, { ...other, ...keyed })).toMatchObject({ body: { code: 'IMAGE_NOT_FOUND' } })
    expect((await enter({ userImageId }, { ...by, ...keyed })).body).toEqual(first.body)
  })

  it('accepts a try-on as the server API would without any options, for one credit', async () => {
    const before = await drape.balance()
    const answer = await enter()
    expect(answer).toMatchObject({ status: 200 })
    expect(Object.keys(answer.body).sort()).toEqual(['jobId', 'message'])
    expect(await drape.balance()).toBe(before - 1)
    const plain = await drape.tryOn({
      products: [{ externalId: SHIRT }],
      person: { image: { source: { id: imageId } } },
    })
    const rows = await drape.database.any(sql.unsafe`
      select engine, cost, options, round(extract(epoch from deadline_at - created_at)) as deadline, images_expire_at as kept,
        shop_id as "shopId", external_user_id as "externalUserId"
      from generations where id in (${answer.body.jobId}, ${plain}) order by id`)
    const externalUserId = `${shop.id}:browser:${headers['x-service-anonymous-id']}`
    expect(rows[0]).toEqual(Object.assign({}, rows[1], { shopId: shop.id, externalUserId }))
    expect(rows[1]).toMatchObject({ shopId: null, externalUserId: null })
    expect(await createAccounts(drape.database).findLedgerGaps()).toEqual([])
  })

  it.each([
    ['nothing', undefined],
    ['a list', []],
    ['no photo', { userImageId: undefined }],
    ['an empty photo', { userImageId: '' }],
    ['a number for a photo', { userImageId: 7 }],
    ['no product', { productId: undefined }],
    ['a bare id', { productId: '7001' }],
    ['another kind of gid', { productId: 'gid://shopify/Order/7001' }],
    ['a variant for a product', { productId: 'gid://shopify/ProductVariant/7001' }],
    ['a gid without id', { productId: 'gid://shopify/Product/' }],
    ['a gid with a path', { productId: 'gid://shopify/Product/7001/../1' }],
    ['a gid in two lines', { productId: 'gid://shopify/Product/7001\n' }],
    ['a product for a variant', { variantId: SHIRT }],
    ['an empty variant', { variantId: '' }],
  ])('refuses a body with %s', async (_, changes) => {
    const isObject = changes !== undefined && !Array.isArray(changes)
    const body = isObject ? Object.assign({ userImageId: imageId, productId: SHIRT }, changes) : changes
    const answer = await drape.call('POST', '/public/fitting-room', { key: null, headers, body })
    expect(answer).toMatchObject({ status: 400, body: { code: 'VALIDATION_FAILED', message: expect.any(String) } })
  })

  describe('finds the product', () => {
    it('by its full gid rather than by its ID alone', async () => {
      await createProduct('gid://shopify/Product/7002')
      await createProduct('7002')
      await createProduct('7003')
      expect(await productOf(await accepted({ productId: 'gid://shopify/Product/7002' }))).toBe(
        'gid://shopify/Product/7002',
      )
      expect(await productOf(await accepted({ productId: 'gid://shopify/Product/7003' }))).toBe('7003')
    })

    it('only in its account, and until it expires', async () => {
      const other = await drape.createAccount(1)
      await createProduct('7004', { key: other.apiKey })
      await createProduct('7005')
      await update(sql.unsafe`update products set expires_at = now() - interval '1 second' where external_id = '7005'`)
      for (const id of ['7004', '7005', '7006', '_anon_7']) {
        const answer = await enter({ productId: `gid://shopify/Product/${id}` })
        expect(answer).toMatchObject({ status: 404, body: { code: 'PRODUCT_NOT_FOUND', message: expect.any(String) } })
      }
    })

    it('on the platform of the shop, and stores it', async () => {
      const admin = await startShopifyAdmin()
      const variant = { id: 'gid://shopify/ProductVariant/81', images: ['https://cdn.example/blue.jpg'] }
      const [productId, front] = ['gid://shopify/Product/8001', 'https://cdn.example/front.jpg']
      admin.products.push({ id: productId, title: 'Shirt', description: 'Linen', images: [front], variants: [variant] })
      const signing = { domain: 'shirts.myshopify.com', secret: 'hush' }
      await createSignedShop(drape, signing, { adminUrl: admin.url, adminToken: admin.token })
      const signed = (path: string) => pathSignedByShopify(`/public/${path}`, signing)
      const form = formOf(undefined, { file: photo })
      const browser = { key: null, headers: { 'x-service-anonymous-id': 'anon_linen' } }
      const sent = await drape.call('POST', signed('upload-image'), { ...browser, body: form })
      const ask = (product: string) =>
        drape.call('POST', signed('fitting-room'), {
          ...browser,
          body: { userImageId: sent.body.fileId, productId: product, variantId: variant.id },
        })
      expect((await ask(productId)).status).toBe(200)
      expect(await ask('gid://shopify/Product/8002')).toMatchObject({
        status: 404,
        body: { code: 'PRODUCT_NOT_FOUND' },
      })
      await admin.stop()
      // It is stored now.
      expect((await ask(productId)).status).toBe(200)
      expect(await ask('gid://shopify/Product/8003')).toMatchObject({
        status: 503,
        body: { code: 'SERVICE_UNAVAILABLE' },
      })
      const kept = await drape.call('GET', `/tryon/v1/products/${encodeURIComponent(productId)}`)
      expect(kept.body).toMatchObject({
        title: 'Shirt',
        images: [{ sourceUrl: variant.images[0] }, { sourceUrl: front }],
        metadata: { shop: signing.domain, productId, variantId: variant.id },
      })
    })

    it('unless none of its images is usable', async () => {
      await createProduct('7007', { classifications: { type: 'detail' } })
      const answer = await enter({ productId: 'gid://shopify/Product/7007' })
      expect(answer).toMatchObject({ status: 422, body: { code: 'MISSING_REQUIRED_CLASSIFICATION' } })
    })
  })

  describe('accepts a photo', () => {
    const nameless = () => ({ 'x-drape-shop': shop.domain })

    it('that was uploaded without a header from the same network address', async () => {
      const jobId = await accepted({ userImageId: await upload(nameless()) }, nameless())
      const polled = await drape.call('GET', `/public/generation/${jobId}`, { key: null, headers: nameless() })
      expect(polled.status).toBe(200)
    })

    it('that a browser uploaded, without its header, but not the result', async () => {
      const userImageId = await upload(headers)
      const jobId = await accepted({ userImageId }, nameless())
      const made = await accepted({ userImageId }, headers)
      const poll = (id: string, by: Record<string, string>) =>
        drape.call('GET', `/public/generation/${id}`, { key: null, headers: by })
      expect([(await poll(jobId, nameless())).status, (await poll(made, nameless())).status]).toEqual([200, 404])
    })

    it('that the server of the account uploaded without an end user', async () => {
      const userImageId = await uploadByServer()
      for (const by of [nameless(), headers]) await accepted({ userImageId }, by)
    })

    it('that the server of the account uploaded for the customer that the proxy signs', async () => {
      const real = await createSignedShop(drape, { domain: 'signs.myshopify.com', secret: 'hush' })
      const body = { userImageId: await uploadByServer('77'), productId: SHIRT }
      const enterAs = (customer: string) => {
        const path = pathSignedByShopify('/public/fitting-room', real, [['logged_in_customer_id', customer]])
        return drape.call('POST', path, { key: null, headers: { 'x-service-anonymous-id': 'anon_signs' }, body })
      }
      expect(await enterAs('77')).toMatchObject({ status: 200 })
      for (const other of ['78', '']) expect(await enterAs(other)).toMatchObject({ status: 404 })
    })
  })

  describe('refuses a photo', () => {
    const missing = { status: 404, body: { code: 'IMAGE_NOT_FOUND', message: expect.any(String) } }

    it('that does not exist or has expired', async () => {
      const userImageId = await upload(headers)
      await update(sql.unsafe`update images set expires_at = now() where id = ${userImageId}`)
      for (const id of ['img_nothing', userImageId, 'gen_1'])
        expect(await enter({ userImageId: id })).toMatchObject(missing)
    })

    it('of another shopper, another shop or another account', async () => {
      const foreign = await openShop()
      const ofServer = await uploadByServer(undefined, foreign.account.apiKey)
      const [ofSister, ofOther] = [await upload(newShopper(sister)), await upload(newShopper(shop))]
      for (const id of [foreign.userImageId, ofServer, ofSister, ofOther]) {
        expect(await enter({ userImageId: id })).toMatchObject(missing)
      }
      expect(await enter({ userImageId: imageId }, newShopper(sister))).toMatchObject(missing)
    })

    it('of another visitor of the same network address', async () => {
      const nameless = { 'x-drape-shop': shop.domain }
      const [ofBrowser, ofAddress] = [await upload(headers), await upload(nameless)]
      for (const [userImageId, by] of [
        [ofBrowser, { ...nameless, 'x-forwarded-for': '203.0.113.9' }],
        [ofBrowser, { ...nameless, 'x-service-anonymous-id': 'anon_other' }],
        [ofAddress, headers],
        [ofAddress, { ...nameless, 'x-forwarded-for': '203.0.113.9' }],
        [ofAddress, { 'x-drape-shop': sister.domain }],
      ] as const) {
        expect(await enter({ userImageId }, by)).toMatchObject(missing)
      }
    })

    it('that the server of the account uploaded for an end user', async () => {
      const userImageId = await uploadByServer('user-1')
      for (const by of [headers, { 'x-drape-shop': shop.domain }]) {
        expect(await enter({ userImageId }, by)).toMatchObject(missing)
      }
    })

    it('before the product is fetched', async () => {
      expect(await enter({ userImageId: 'img_nothing', productId: 'gid://shopify/Product/0' })).toMatchObject(missing)
    })
  })

  describe('is blocked', () => {
    const quota = { jobId: '', message: expect.any(String), code: 'QUOTA_EXCEEDED' }
    const billing = { jobId: '', message: expect.any(String), code: 'BILLING_NOT_ALLOWED' }

    it('by the monthly limit of the shop, and by that of the account', async () => {
      const one = await openShop()
      await update(sql.unsafe`update shops set monthly_generations = 1 where id = ${one.id}`)
      const other = await openShop()
      await update(sql.unsafe`
        update accounts set settings = settings || '{"monthlyGenerations":1}' where id = ${other.account.id}`)
      for (const { by, userImageId } of [one, other]) {
        await accepted({ userImageId }, by)
        const { status, body } = await enter({ userImageId }, by)
        expect({ status, body }).toEqual({ status: 402, body: quota })
      }
    })

    it('by the plan of the shop, from the next call', async () => {
      const { id, by, userImageId } = await openShop()
      for (const change of [sql.fragment`billing_allowed = false`, sql.fragment`plan_ends_at = now()`]) {
        await accepted({ userImageId }, by)
        await update(sql.unsafe`update shops set ${change} where id = ${id}`)
        const { status, body } = await enter({ userImageId }, by)
        expect({ status, body }).toEqual({ status: 402, body: billing })
        await update(sql.unsafe`update shops set billing_allowed = true, plan_ends_at = null where id = ${id}`)
      }
    })

    it('after exactly 10 per week, even for 30 concurrent calls', async () => {
      const before = await drape.balance()
      const answers = await Promise.all(Array.from({ length: 30 }, () => enter()))
      const refused = answers.filter(({ status }) => status === 429)
      expect(refused).toHaveLength(20)
      expect(answers.filter(({ status }) => status === 200)).toHaveLength(10)
      expect(await drape.balance()).toBe(before - 10)
      for (const answer of refused) {
        const seconds = Number(answer.headers.get('retry-after'))
        expect(seconds).toBeGreaterThan(0)
        expect(seconds).toBeLessThanOrEqual(WEEK_SECONDS)
        expect(answer.body).toEqual({
          jobId: '',
          message: expect.any(String),
          code: 'RATE_LIMIT_EXCEEDED',
          period: 'week',
        })
      }
    })

    it('by the weekly limit of a customer in any browser', async () => {
      const { id, ...real } = await createSignedShop(drape, { domain: 'real.myshopify.com', secret: 'hush' })
      const signed = (path: string, customer: string) =>
        pathSignedByShopify(`/public/${path}`, real, [['logged_in_customer_id', customer]])
      const browser = () => ({ 'x-service-anonymous-id': `anon_browser-${shoppers++}` })
      const form = formOf(undefined, { file: photo })
      const sent = await drape.call('POST', signed('upload-image', '77'), { key: null, headers: browser(), body: form })
      const body = { userImageId: sent.body.fileId, productId: SHIRT }
      const ask = (customer: string) =>
        drape.call('POST', signed('fitting-room', customer), { key: null, headers: browser(), body })
      const statuses: number[] = []
      for (let i = 0; i < 11; i++) statuses.push((await ask('77')).status)
      expect(statuses).toEqual([...Array(10).fill(200), 429])
      expect(await ask('78')).toMatchObject({ status: 404, body: { code: 'IMAGE_NOT_FOUND' } })
      const other = await drape.call('POST', signed('upload-image', '78'), {
        key: null,
        headers: browser(),
        body: formOf(undefined, { file: photo }),
      })
      body.userImageId = other.body.fileId
      expect((await ask('78')).status).toBe(200)
      const owners = await drape.database.anyFirst(sql.unsafe`
        select distinct external_user_id from generations where shop_id = ${id} order by 1`)
      expect(owners).toEqual([`${id}:customer:77`, `${id}:customer:78`])
    })
  })

  it('refunds and erases generations of an erased shopper', async () => {
    const userImageId = await upload(headers)
    const before = await drape.balance()
    const jobId = await accepted({ userImageId })
    const customer = encodeURIComponent(`${shop.id}:browser:${headers['x-service-anonymous-id']}`)
    expect((await drape.call('DELETE', `/tryon/v1/customers/${customer}`)).status).toBe(204)
    expect(await drape.balance()).toBe(before)
    const row = await drape.database.one(sql.unsafe`
      select status, external_user_id as "externalUserId", image_id as "imageId" from generations where id = ${jobId}`)
    expect(row).toEqual({ status: 'FAILED', externalUserId: null, imageId: null })
    expect(await enter({ userImageId })).toMatchObject({ status: 404, body: { code: 'IMAGE_NOT_FOUND' } })
  })
})

describe('the next week', () => {
  it.each([
    ['2026-11-16T00:00:00.000Z', WEEK_SECONDS],
    ['2026-11-16T00:00:00.999Z', WEEK_SECONDS],
    ['2026-11-21T15:00:00.000Z', 33 * 3600],
    ['2026-11-22T23:59:59.000Z', 1],
    ['2026-11-22T23:59:59.999Z', 1],
    ['2026-12-31T12:00:00.000Z', 3.5 * 86_400],
    ['1970-01-05T00:00:00.000Z', WEEK_SECONDS],
  ])('begins on Monday: at %s in %d seconds', (now, seconds) => {
    expect(secondsToNextWeek(Date.parse(now))).toBe(seconds)
  })
})
