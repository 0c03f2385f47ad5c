import { createHmac, randomUUID } from 'node:crypto'
import { afterAll, describe, expect, it } from 'vitest'
import { createConsents } from '../../../../api/consents/consents.store.ts'
import { sql } from '../../../../api/shared/database/database.ts'
import { createRetention } from '../../../../api/shared/retention/retention.store.ts'
import { customerShopperId } from '../../../../api/shops/shopper.ts'
import { createShops } from '../../../../api/shops/shops.store.ts'
import { createEvents } from '../../../../api/storefront/events/events.store.ts'
import { createShares } from '../../../../api/storefront/share/shares.store.ts'
import { createShopPrivacy } from '../../../../api/storefront/shops/shop-privacy.store.ts'
import { readSample, startDrape } from '../../../support/drape.ts'
import { until } from '../../../support/until.ts'

const PATH = '/webhooks/shopify'

const ORDER = {
  id: 820982911946154500,
  admin_graphql_api_id: 'gid://shopify/Order/820982911946154500',
  name: '#9999',
  currency: 'EUR',
  total_price: '409.94',
  created_at: '2026-01-05T12:00:00+01:00',
  email: 'jon@example.com',
  contact_email: 'jon@example.com',
  phone: '+49 30 1234',
  browser_ip: '203.0.113.7',
  customer: { id: 207119551, email: 'jon@example.com', first_name: 'Jon' },
  billing_address: { address1: '123 Billing Street', city: 'Billtown' },
  shipping_address: { address1: '123 Shipping Street', city: 'Shippington' },
  note_attributes: [
    { name: 'gift', value: 'yes' },
    { name: '_drape_anonymous_id', value: 'anon_jons-browser' },
  ],
  line_items: [
    { product_id: 632910392, variant_id: 808950810, quantity: 1, price: '199.00', title: 'Shirt' },
    { product_id: null, variant_id: null, quantity: 2, price: '0.00', title: 'Tip' },
  ],
}

const REDACTION = {
  shop_domain: 'the shop itself',
  customer: { id: 207119551, email: 'jon@example.com' },
  orders_to_redact: [299938],
  data_request: { id: 9999 },
}

const ODD = ['', '\0', '\ud800', '1e999', 'x'.repeat(9999), '9'.repeat(30), -1, 1e300, 0.5, null, true, [], {}, [null]]

/** Yields the payload with each member, at any depth, replaced by each odd value. */
function* oddly(payload: unknown): Generator<unknown> {
  yield* ODD
  if (typeof payload !== 'object' || payload === null) return
  for (const [name, part] of Object.entries(payload)) {
    for (const odd of oddly(part)) {
      yield Array.isArray(payload) ? payload.with(Number(name), odd) : { ...payload, [name]: odd }
    }
  }
}

describe('POST /webhooks/shopify', async () => {
  let shops = 0

  const drape = await startDrape({ credits: 1000 })
  await drape.startWorker()
  const person = await readSample('persons/down-half-teal.jpg')
  const shirt = await readSample('garments/tshirt-navy.jpg')
  afterAll(() => drape.stop())

  const createShop = async (platform: 'shopify' | 'plugin' = 'shopify', accountId = drape.accountId) => {
    const domain = `shop-${shops++}.myshopify.com`
    const { id } = await createShops(drape.database).insert({
      accountId,
      platform,
      domain,
      secret: 'hush',
      adminToken: 'shpat_1',
    })
    return { id, domain }
  }
  const sign = (body: string, secret = 'hush') => createHmac('sha256', secret).update(body).digest('base64')
  const post = (body: string, headers: Record<string, string>) =>
    drape.call('POST', PATH, { key: null, body, headers: { 'content-type': 'application/json', ...headers } })
  const headersOf = (domain: string, topic: string, body: string): Record<string, string> => ({
    'X-Shopify-Topic': topic,
    'X-Shopify-Shop-Domain': domain,
    'X-Shopify-Webhook-Id': randomUUID(),
    'X-Shopify-Hmac-Sha256': sign(body),
  })
  const sendWebhook = (domain: string, topic: string, payload: object, headers: Record<string, string> = {}) => {
    const body = JSON.stringify(payload)
    return post(body, { ...headersOf(domain, topic, body), ...headers })
  }
  const eventsOf = (shopId: string) =>
    drape.database.any(sql.unsafe`
      select name, anonymous_id, customer_id, customer_email, customer_signed, properties, happened_at from event_details
      where shop_id = ${shopId} order by insert_id`)
  const count = (from: ReturnType<typeof sql.fragment>) =>
    drape.database.oneFirst(sql.unsafe`select count(*)::int from ${from}`) as Promise<number>
  const DONE = { status: 200, body: { success: true } }
  const REFUSED = { status: 401, body: { code: 'WEBHOOK_SIGNATURE_INVALID' } }

  it('stores the anonymous ID of an order, from a publishable key or a proxy', async () => {
    for (const value of ['anon_0198c6a4-7d3e-4c35-9a6a-1f2c1de0b0aa', '0198c6a4-7d3e-4c35-9a6a-1f2c1de0b0aa']) {
      const { id, domain } = await createShop()
      const order = { ...ORDER, note_attributes: [{ name: '_drape_anonymous_id', value }] }
      expect(await sendWebhook(domain, 'orders/create', order)).toMatchObject(DONE)
      expect(await eventsOf(id)).toMatchObject([
        { name: 'order:created', anonymous_id: 'anon_0198c6a4-7d3e-4c35-9a6a-1f2c1de0b0aa' },
      ])
    }
  })

  it('accepts an order of 3 MB with a valid signature only, and refuses more than 4 MB', async () => {
    const { id, domain } = await createShop()
    const line = { ...ORDER.line_items[0], title: 'Shirt', properties: [{ name: 'gift wrap', value: 'x'.repeat(700) }] }
    const order = { ...ORDER, line_items: Array.from({ length: 3700 }, () => line) }
    const body = JSON.stringify(order).replaceAll('632910392', '866550311766439021')
    expect(body.length).toBeGreaterThan(3_000_000)
    expect(
      await post(body, { ...headersOf(domain, 'orders/create', body), 'X-Shopify-Hmac-Sha256': sign('{}') }),
    ).toMatchObject(REFUSED)
    expect(await post(body, headersOf(domain, 'orders/create', body))).toMatchObject(DONE)
    expect(await eventsOf(id)).toMatchObject([{ name: 'order:created' }])
    const larger = JSON.stringify({ ...order, note: 'x'.repeat(2 * 1024 * 1024) })
    expect(await post(larger, headersOf(domain, 'orders/create', larger))).toMatchObject({
      status: 400,
      body: { code: 'VALIDATION_FAILED', details: [{ message: 'is larger than 4 MB' }] },
    })
  })

  describe('verifies the signature', () => {
    it('accepts either of two secrets', async () => {
      const { domain } = await createShop()
      await createShops(drape.database).addSecret(domain, 'hush hush')
      expect(await sendWebhook(domain, 'app/other', { a: 1 })).toMatchObject(DONE)
      const hmac = sign('{"a":1}', 'hush hush')
      expect(await sendWebhook(domain, 'app/other', { a: 1 }, { 'X-Shopify-Hmac-Sha256': hmac })).toMatchObject(DONE)
    })

    it('signs the bytes of the body, however the JSON is formatted', async () => {
      const { domain } = await createShop()
      const body = ' {"a" : "ü€",\n "b": 1.0}\n'
      expect(await post(body, headersOf(domain.toUpperCase(), 'app/other', body))).toMatchObject(DONE)
    })

    it.each<[string, (honest: Record<string, string>, body: string) => Record<string, string>]>([
      ['without a signature', ({ 'X-Shopify-Hmac-Sha256': _, ...others }) => others],
      ['with an empty signature', (honest) => ({ ...honest, 'X-Shopify-Hmac-Sha256': '' })],
      ['with another secret', (honest, body) => ({ ...honest, 'X-Shopify-Hmac-Sha256': sign(body, 'rush') })],
      ['with no secret', (honest, body) => ({ ...honest, 'X-Shopify-Hmac-Sha256': sign(body, '') })],
      ['over another body', (honest) => ({ ...honest, 'X-Shopify-Hmac-Sha256': sign('{}') })],
      [
        'in hexadecimal',
        (honest, body) => ({
          ...honest,
          'X-Shopify-Hmac-Sha256': createHmac('sha256', 'hush').update(body).digest('hex'),
        }),
      ],
      ['without padding', (honest, body) => ({ ...honest, 'X-Shopify-Hmac-Sha256': sign(body).replace('=', '') })],
      ['with trailing bytes', (honest, body) => ({ ...honest, 'X-Shopify-Hmac-Sha256': `${sign(body)}AA==` })],
      ['as a list', (honest, body) => ({ ...honest, 'X-Shopify-Hmac-Sha256': `${sign(body)}, ${sign(body)}` })],
      ['without a shop domain', ({ 'X-Shopify-Shop-Domain': _, ...others }) => others],
      ['for an unknown shop', (honest) => ({ ...honest, 'X-Shopify-Shop-Domain': 'nobody.myshopify.com' })],
    ])('refuses a webhook %s', async (_, forge) => {
      const { id, domain } = await createShop()
      const body = JSON.stringify(ORDER)
      expect(await post(body, forge(headersOf(domain, 'orders/create', body), body))).toMatchObject(REFUSED)
      expect(await eventsOf(id)).toEqual([])
    })

    it('refuses webhooks for shops of other platforms', async () => {
      const { domain } = await createShop('plugin')
      expect(await sendWebhook(domain, 'orders/create', ORDER)).toMatchObject(REFUSED)
    })

    it('ignores other topics', async () => {
      const { id, domain } = await createShop()
      for (const topic of ['orders/updated', 'ORDERS/CREATE', '__proto__', '']) {
        expect(await sendWebhook(domain, topic, ORDER)).toMatchObject(DONE)
      }
      expect(await eventsOf(id)).toEqual([])
    })

    it('refuses an invalid body', async () => {
      const { domain } = await createShop()
      const broken = '{"id":'
      expect(await post(broken, headersOf(domain, 'orders/create', broken))).toMatchObject({ status: 400 })
      expect(await sendWebhook(domain, 'orders/create', { name: 'no id' })).toMatchObject({ status: 400 })
      expect(await sendWebhook(domain, 'customers/redact', { shop_domain: domain })).toMatchObject({ status: 400 })
    })
  })

  it.each([
    ['orders/create', ORDER],
    ['customers/data_request', REDACTION],
    ['customers/redact', REDACTION],
    ['shop/redact', REDACTION],
  ])('answers 200 or 400 to any payload of %s', async (topic, payload) => {
    const { domain } = await createShop()
    const deliverOddly = async (odd: unknown) => {
      const told =
        typeof odd === 'object' && odd !== null && 'shop_domain' in odd ? { ...odd, shop_domain: domain } : odd
      const { status } = await sendWebhook(domain, topic, told as object)
      expect([200, 400], JSON.stringify(odd).slice(0, 500)).toContain(status)
    }
    // Few concurrent requests, so that each response is in time.
    const left = [...oddly(payload)]
    while (left.length > 0) await Promise.all(left.splice(0, 10).map(deliverOddly))
  })

  describe('for an order', () => {
    it('stores items, customer ID and anonymous ID, and no address', async () => {
      const { id, domain } = await createShop()
      expect(await sendWebhook(domain, 'orders/create', ORDER)).toMatchObject(DONE)
      expect(await eventsOf(id)).toEqual([
        {
          name: 'order:created',
          anonymous_id: 'anon_jons-browser',
          customer_id: '207119551',
          customer_email: null,
          customer_signed: true,
          happened_at: expect.any(Date),
          properties: {
            order_id: '820982911946154500',
            name: '#9999',
            currency: 'EUR',
            total: 409.94,
            line_items: [
              {
                product_id: 'gid://shopify/Product/632910392',
                variant_id: 'gid://shopify/ProductVariant/808950810',
                quantity: 1,
                price: 199,
              },
              { product_id: null, variant_id: null, quantity: 2, price: 0 },
            ],
          },
        },
      ])
    })

    it('stores the order once for repeated and concurrent deliveries', async () => {
      const { id, domain } = await createShop()
      const same = { 'X-Shopify-Webhook-Id': 'b54557e4-bdd9-4b37-8a5f-bf7d70bcd043' }
      const answers = await Promise.all(
        Array.from({ length: 8 }, () => sendWebhook(domain, 'orders/create', ORDER, same)),
      )
      for (const answer of answers) expect(answer).toMatchObject(DONE)
      await sendWebhook(domain, 'orders/create', ORDER, same)
      expect(await eventsOf(id)).toHaveLength(1)
      await sendWebhook(domain, 'orders/create', { ...ORDER, id: 2 })
      expect(await eventsOf(id)).toHaveLength(2)
    })

    it('accepts an order of a guest with few fields', async () => {
      const { id, domain } = await createShop()
      expect(await sendWebhook(domain, 'orders/create', { id: '7', customer: null, line_items: null })).toMatchObject(
        DONE,
      )
      expect(await eventsOf(id)).toMatchObject([
        { customer_id: null, anonymous_id: null, properties: { order_id: '7', total: null, line_items: [] } },
      ])
    })
  })

  /** A customer of the shop with a photo, a result that is shared, a lead and events. */
  const live = async (shop: { id: string; domain: string }, customerId: string, email: string) => {
    const externalUserId = customerShopperId(shop.id, customerId)
    const photo = await drape.upload(person, { externalUserId: email })
    const generationId = await drape.tryOn(
      {
        products: [{ externalId: 'shirt', images: [{ source: { fileKey: 'shirt' } }] }],
        person: { image: { source: { id: photo.imageId } } },
        externalUserId: email,
        output: { engine: 'mock' },
      },
      { shirt },
    )
    await drape.database.query(sql.unsafe`update generations set shop_id = ${shop.id} where id = ${generationId}`)
    const { resultImageUrl } = await drape.finish(generationId)
    // As if the customer had done all of this in the shop.
    for (const table of ['images', 'objects', 'generations']) {
      await drape.database.query(sql.unsafe`
        update ${sql.identifier([table])} set external_user_id = ${externalUserId} where external_user_id = ${email}`)
    }
    await createShares(drape.database).findOrInsert({
      token: `token-${generationId}`,
      generationId,
      accountId: drape.accountId,
      shopId: shop.id,
      ownerIds: null,
      domain: shop.domain,
    })
    await leaveLead(shop.id, email)
    const origin = { sessionId: null, productId: null, variantId: null, context: {}, anonymousId: 'anon_x' }
    await createEvents(drape.database, { forward: true }).insert({
      origin: {
        ...origin,
        accountId: drape.accountId,
        shopId: shop.id,
        customerId,
        customerEmail: email,
        customerSigned: true,
      },
      events: [
        {
          name: 'widget:button_click',
          insertId: randomUUID(),
          happenedAt: new Date(),
          properties: JSON.stringify({ email, customer: customerId }),
          productId: null,
          generationId: null,
        },
      ],
    })
    return { customerId, email, generationId, links: [photo.imageUrl, resultImageUrl] as string[] }
  }
  const statusesOf = (links: readonly string[]) => Promise.all(links.map(async (link) => (await fetch(link)).status))
  const customerOf = ({ customerId, email }: { customerId: string; email: string }) => ({
    id: Number(customerId),
    email,
    phone: null,
  })
  /** Kept by us, and on its way to the platform once more. */
  async function leaveLead(shopId: string, email: string): Promise<void> {
    await drape.database.query(sql.unsafe`
      insert into leads (shop_id, email, marketing_consent, tags) values (${shopId}, ${email}, true, '["widget-lead"]')`)
    await drape.database.query(sql.unsafe`
      insert into lead_outbox (shop_id, email, marketing_consent, dead_at) values (${shopId}, ${email}, true, now())`)
  }
  const namedIn = async (table: string, { customerId, email }: { customerId: string; email: string }) =>
    count(sql.fragment`
      (select row_to_json(t)::text as row from ${sql.identifier([table])} as t) as rows
      where row ilike ${`%${email}%`} or row like ${`%"${customerId}"%`}`)

  describe('for the data of a customer', () => {
    it('stores a report once per data request', async () => {
      const shop = await createShop()
      const anna = await live(shop, '901', 'anna@example.com')
      const visitor = { accountId: drape.accountId, shopId: shop.id, shopperId: `${shop.id}:customer:901` }
      await createConsents(drape.database).give(visitor, { version: 'neutral-1', language: 'en' })
      const request = { shop_domain: shop.domain, customer: customerOf(anna), data_request: { id: 1 } }
      await Promise.all([1, 2, 3].map(() => sendWebhook(shop.domain, 'customers/data_request', request)))
      expect(await createShopPrivacy(drape.database).listDataRequests(shop.domain)).toEqual([
        {
          shop: shop.domain,
          requestId: '1',
          customerId: '901',
          email: 'anna@example.com',
          createdAt: expect.any(Date),
          held: {
            photos: [
              { id: expect.stringMatching(/^img_/), createdAt: expect.any(String), expiresAt: expect.any(String) },
            ],
            generations: [
              { id: anna.generationId, productId: 'shirt', status: 'COMPLETED', createdAt: expect.any(String) },
            ],
            events: { 'widget:button_click': 1 },
            consents: [{ version: 'neutral-1', givenAt: expect.any(String), withdrawnAt: null }],
            lead: { marketingConsent: true, tags: ['widget-lead'], createdAt: expect.any(String) },
            waitingLead: { marketingConsent: true, createdAt: expect.any(String) },
          },
        },
      ])
    })

    it('deletes the report after its retention', async () => {
      const shop = await createShop()
      const request = { shop_domain: shop.domain, customer: { id: 1 }, data_request: { id: 3 } }
      await sendWebhook(shop.domain, 'customers/data_request', request)
      const retention = createRetention(drape.database)
      const isThere = () => count(sql.fragment`data_requests where shop_id = ${shop.id}`)
      await retention.deleteOld('dataRequests', 10)
      expect(await isThere()).toBe(1)
      await drape.database.query(sql.unsafe`
        update data_requests set created_at = created_at - interval '91 days' where shop_id = ${shop.id}`)
      await retention.deleteOld('dataRequests', 10)
      expect(await isThere()).toBe(0)
    })

    it('erases the customer and no other', async () => {
      const shop = await createShop()
      const [anna, berta] = [await live(shop, '902', 'anna2@example.com'), await live(shop, '903', 'berta@example.com')]
      const request = { shop_domain: shop.domain, customer: customerOf(anna) }
      await sendWebhook(shop.domain, 'orders/create', { ...ORDER, customer: { id: 902 } })
      await sendWebhook(shop.domain, 'customers/data_request', { ...request, data_request: { id: 2 } })
      const redaction = { ...request, customer: { ...request.customer, email: 'Anna2@Example.com' } }
      expect(await sendWebhook(shop.domain, 'customers/redact', redaction)).toMatchObject(DONE)
      expect(await statusesOf(anna.links)).toEqual([404, 404])
      expect(await statusesOf(berta.links)).toEqual([200, 200])
      for (const table of [
        'leads',
        'lead_outbox',
        'event_details',
        'event_batches',
        'data_requests',
        'generations',
        'images',
        'objects',
      ]) {
        expect(await namedIn(table, anna), table).toBe(0)
      }
      expect(await eventsOf(shop.id)).toHaveLength(3)
      expect(await namedIn('leads', berta)).toBe(1)
      expect(await namedIn('event_details', berta)).toBe(1)
      const reduced = ['order:created', 'widget:button_click'].map((name) =>
        expect.objectContaining({ name, anonymous_id: null, properties: {} }),
      )
      expect(await eventsOf(shop.id)).toEqual(expect.arrayContaining(reduced))
      expect(await sendWebhook(shop.domain, 'customers/redact', redaction)).toMatchObject(DONE)
    })

    it('erases a guest by e-mail address or orders', async () => {
      const shop = await createShop()
      await sendWebhook(shop.domain, 'orders/create', { ...ORDER, id: 55 })
      await leaveLead(shop.id, 'guest@example.com')
      const request = { shop_domain: shop.domain, customer: { email: 'guest@example.com' }, orders_to_redact: [55] }
      expect(await sendWebhook(shop.domain, 'customers/redact', request)).toMatchObject(DONE)
      expect(await count(sql.fragment`leads where shop_id = ${shop.id}`)).toBe(0)
      expect(await count(sql.fragment`lead_outbox where shop_id = ${shop.id}`)).toBe(0)
      expect(await eventsOf(shop.id)).toEqual([
        expect.objectContaining({ name: 'order:created', customer_id: null, properties: {} }),
      ])
    })

    it('erases what the server stored under the ID of the customer, if the account has no other shop', async () => {
      const photo = await readSample('persons/astronaut.jpg')
      for (const [shopCount, left] of [
        [1, 0],
        [2, 1],
      ]) {
        const { id: accountId, apiKey: key } = await drape.createAccount(5)
        const made = []
        for (let i = 0; i < shopCount; i++) made.push(await createShop('shopify', accountId))
        await drape.upload(photo, { externalUserId: '905' }, key)
        const request = { shop_domain: made[0].domain, customer: { id: 905 } }
        expect(await sendWebhook(made[0].domain, 'customers/redact', request)).toMatchObject(DONE)
        expect(await count(sql.fragment`images where account_id = ${accountId}`)).toBe(left)
      }
    })

    it('refuses a payload that names another shop', async () => {
      const [shop, other] = [await createShop(), await createShop()]
      for (const topic of ['customers/data_request', 'customers/redact', 'shop/redact']) {
        const request = { shop_domain: other.domain, customer: { id: 1 } }
        expect(await sendWebhook(shop.domain, topic, request)).toMatchObject(REFUSED)
      }
      expect((await createShops(drape.database).findByDomain(shop.domain))?.isActive).toBe(true)
    })

    it('answers 503 while an erasure is blocked, completes it, and answers 200 to a retry', async () => {
      const shop = await createShop()
      const anna = await live(shop, '904', 'anna4@example.com')
      const request = { shop_domain: shop.domain, customer: customerOf(anna) }
      const held = Promise.withResolvers<void>()
      const isHeld = Promise.withResolvers<void>()
      const holding = drape.database.transaction(async (transaction) => {
        await transaction.query(sql.unsafe`select from leads where shop_id = ${shop.id} for update`)
        isHeld.resolve()
        await held.promise
      })
      await isHeld.promise
      const late = await sendWebhook(shop.domain, 'customers/redact', request)
      expect(late).toMatchObject({ status: 503, body: { code: 'SERVICE_UNAVAILABLE' } })
      expect(late.headers.get('retry-after')).toBe('1')
      held.resolve()
      await holding
      await until(async () => (await namedIn('events', anna)) === 0)
      expect(await sendWebhook(shop.domain, 'customers/redact', request)).toMatchObject(DONE)
    })
  })

  describe('for the redaction of a shop', () => {
    it('closes the shop and erases all of its shoppers, and none of other shops', async () => {
      const [shop, other] = [await createShop(), await createShop()]
      const [anna, berta] = [
        await live(shop, '905', 'anna5@example.com'),
        await live(shop, '906', 'berta6@example.com'),
      ]
      const carla = await live(other, '907', 'carla@example.com')
      await sendWebhook(shop.domain, 'customers/data_request', { shop_domain: shop.domain, customer: customerOf(anna) })
      const request = { shop_id: 954889, shop_domain: shop.domain }
      expect(await sendWebhook(shop.domain, 'shop/redact', request)).toMatchObject(DONE)
      expect(await statusesOf([...anna.links, ...berta.links])).toEqual([404, 404, 404, 404])
      expect(await statusesOf(carla.links)).toEqual([200, 200])
      for (const table of ['leads', 'lead_outbox', 'event_details', 'event_batches', 'share_links', 'data_requests']) {
        const ofShop = (id: string) => count(sql.fragment`${sql.identifier([table])} where shop_id = ${id}`)
        expect(await ofShop(shop.id), table).toBe(0)
        if (table !== 'data_requests') expect(await ofShop(other.id), table).toBeGreaterThan(0)
      }
      expect(await createShops(drape.database).findByDomain(shop.domain)).toMatchObject({
        isActive: false,
        adminToken: null,
        secrets: [{ secret: 'hush' }],
      })
      expect(await sendWebhook(shop.domain, 'shop/redact', request)).toMatchObject(DONE)
    })
  })
})
