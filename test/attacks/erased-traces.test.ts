import { randomUUID } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import pg from 'pg'
import { createClient } from 'redis'
import { afterAll, describe, expect, it } from 'vitest'
import { createConsents } from '../../api/consents/consents.store.ts'
import { sql } from '../../api/shared/database/database.ts'
import { createEvents } from '../../api/storefront/events/events.store.ts'
import { createShares } from '../../api/storefront/share/shares.store.ts'
import { readTables } from '../../scripts/documents/privacy.ts'
import { APP_CONTEXT, appHeaders, eventOf, PAGE_CONTEXT } from '../support/analytics-events.ts'
import { completeForShop } from '../support/completed.ts'
import { type CallOptions, formOf, readSmallPerson, startDrape } from '../support/drape.ts'
import { createDevelopmentShop, type TestShop } from '../support/shop.ts'
import { createShopperCalls } from '../support/shopper-calls.ts'
import { until } from '../support/until.ts'

const CUSTOMER = 'zoe-4711471147'
const EMAIL = 'zoe@example.com'
/** The widget of the browser sends its ID with the prefix in a header, and without in events. */
const CLIENT = '6f9619ff-8b86-4011-b42d-00c04fc964aa'
const BROWSER = `anon_${CLIENT}`
const BROWSER_EMAIL = 'ada@example.com'
/** What pages report of a customer, in the ways in which they write it. */
const HIDDEN = {
  email: EMAIL,
  customer: { id: CUSTOMER },
  text: `Hello ${EMAIL.toUpperCase()}`,
  size: 'M',
  url: `/?e=${encodeURIComponent(EMAIL)}`,
  [CUSTOMER]: 1,
  of: [{ number: 4711471147 }],
}
/** Receipts wait for keys of Redis that live at most this long. */
const COUNTER_MS = 300_000

/** Tables whose comments declare personal data. */
const DECLARED = Object.entries(readTables()).flatMap(([name, { about }]) => (about === null ? [] : [`table ${name}`]))

describe('an erased end user', async () => {
  const outputs: (() => string)[] = []

  const person = await readSmallPerson()
  const drape = await startDrape({ credits: 100 })
  const shops = [await createDevelopmentShop(drape), await createDevelopmentShop(drape, 'other.test')]
  const client = new pg.Client({ connectionString: drape.env.DATABASE_URL })
  await client.connect()
  const worker = await drape.startWorker()
  outputs.push(drape.api.output, worker.output)
  afterAll(async () => {
    await client?.end()
    await drape?.stop()
  })

  /** Every place of the service that contains one of the texts, as `table name`, `redis key`, `storage key` or `log`. */
  async function search(texts: readonly string[]): Promise<string[]> {
    const has = (content: string) => texts.some((text) => content.includes(text))
    const { rows } = await client.query<{ name: string }>(`
      select oid::regclass::text as name from pg_class
      where relnamespace = current_schema()::regnamespace and relkind = 'r' order by 1`)
    const found: string[] = []
    for (const { name } of rows) {
      const { rows: named } = await client.query(
        `select from ${name} as row where exists (select from unnest($1::text[]) as text where strpos(row::text, text) > 0) limit 1`,
        [texts],
      )
      if (named.length > 0) found.push(`table ${name.replace(/_\d{8}$/, '')}`)
    }
    found.push(...(await searchRedis(has)))
    const root = new URL(drape.env.STORAGE_URL).pathname
    for (const entry of await readdir(root, { recursive: true, withFileTypes: true })) {
      const path = join(entry.parentPath, entry.name)
      const content = entry.isFile() ? await readFile(path, 'latin1') : ''
      if (has(path) || has(content)) found.push(`storage ${path.slice(root.length + 1).split('/', 1)[0]}`)
    }
    if (outputs.some((output) => has(output()))) found.push('log')
    return [...new Set(found)].sort()
  }

  async function searchRedis(has: (content: string) => boolean): Promise<string[]> {
    const redis = await createClient({ url: drape.env.REDIS_URL }).connect()
    const read: Record<string, (key: string) => Promise<unknown>> = {
      string: (key) => redis.get(key),
      hash: (key) => redis.hGetAll(key),
      list: (key) => redis.lRange(key, 0, -1),
      set: (key) => redis.sMembers(key),
      zset: (key) => redis.zRange(key, 0, -1),
      stream: (key) => redis.xRange(key, '-', '+'),
      none: async () => null,
    }
    const found: string[] = []
    for await (const keys of redis.scanIterator()) {
      for (const key of keys) {
        const [type, ttl] = [await redis.type(key), await redis.pTTL(key)]
        const content = `${key} ${JSON.stringify(await read[type](key))}`
        if (has(content) && !(ttl >= 0 && ttl <= COUNTER_MS)) found.push(`redis ${key}`)
      }
    }
    const channels = await redis.pubSubChannels('*')
    if (channels.some(has)) found.push('redis channels')
    redis.destroy()
    return found
  }

  const inShop = (shop: TestShop, id = BROWSER) => ({
    key: null,
    headers: { ...shop.headers, 'x-service-anonymous-id': id },
  })

  /** These endpoints answer 200 and ask for another attempt when the service is busy. */
  const send = (path: string, options: CallOptions) =>
    until(async () => (await drape.call('POST', path, options)).body.success)

  /** What others make of a photo: another end user, and a call without any. Returns the keys of the results. */
  async function useAsOthers(imageId: string): Promise<string[]> {
    const calls = createShopperCalls(drape, person)
    const ids = [await calls.tryOn(imageId, 'a friend'), await calls.tryOn(imageId)]
    for (const id of ids) expect(await drape.finish(id)).toMatchObject({ status: 'COMPLETED' })
    const keys = await drape.database.anyFirst(sql.unsafe`
      select result_key from generations where image_id = ${imageId} and result_key is not null`)
    expect(keys).toHaveLength(ids.length)
    return keys.map(String)
  }

  /** What a shop's page and app, and the server of the account, send of the customer. Returns the IDs of photos, and the keys of results. */
  async function leaveAsCustomer(): Promise<string[]> {
    const imageId = await createShopperCalls(drape, person).upload(CUSTOMER)
    const results = await useAsOthers(imageId)
    const { imageId: cropped } = await drape.upload(person, { externalUserId: CUSTOMER })
    const generationIds = [await createShopperCalls(drape, person).tryOn(imageId, CUSTOMER)]
    await drape.finish(generationIds[0])
    for (const { id: shopId, domain } of shops) {
      const externalUserId = `${shopId}:customer:${CUSTOMER}`
      const { generationId } = await completeForShop(drape, { shopId, shopper: `customer:${CUSTOMER}`, image: person })
      await createShares(drape.database).findOrInsert({
        token: `t-${generationId}`,
        generationId,
        accountId: drape.accountId,
        shopId,
        domain,
        ownerIds: null,
      })
      await drape.database.query(sql.unsafe`
        insert into leads (shop_id, email, owner_ids) values (${shopId}, ${EMAIL}, array[${externalUserId}, 'another'])`)
      await drape.database.query(sql.unsafe`
        insert into lead_outbox (shop_id, email, marketing_consent, owner_ids, dead_at)
        values (${shopId}, ${EMAIL}, true, array[${externalUserId}], now())`)
      const visitor = { accountId: drape.accountId, shopId, shopperId: externalUserId }
      await createConsents(drape.database).give(visitor, { version: '1', language: 'en' })
      await drape.database.query(sql.unsafe`
        insert into data_requests (shop_id, request_id, customer_id, email, held)
        values (${shopId}, '1', ${CUSTOMER}, ${EMAIL}, '{}')`)
      await createEvents(drape.database, { forward: true }).insert({
        origin: {
          accountId: drape.accountId,
          shopId,
          anonymousId: 'anon_x',
          sessionId: 'sess_x',
          customerEmail: EMAIL,
          customerId: CUSTOMER,
          customerSigned: true,
          productId: null,
          variantId: null,
          context: {},
        },
        events: [
          {
            name: 'widget:email_collected',
            insertId: `${shopId}-1`,
            happenedAt: new Date(),
            productId: null,
            properties: JSON.stringify(HIDDEN),
            generationId: null,
          },
        ],
      })
    }
    const app = { ...(await appHeaders(drape)), 'x-service-customer-id': CUSTOMER, 'x-service-customer-email': EMAIL }
    const context = { ...APP_CONTEXT, $current_url: `https://shop.test/?email=${encodeURIComponent(EMAIL)}` }
    const body = { events: [eventOf(EMAIL, { properties: HIDDEN })], context }
    await send('/storefront/v1/events', { key: null, headers: app, body })
    return [imageId, cropped, ...results]
  }

  /** What the widget of a browser without a customer sends. Returns the IDs of photos. */
  async function leaveAsBrowser(): Promise<string[]> {
    const photos: string[] = []
    for (const shop of shops) {
      const uploaded = await drape.call('POST', '/public/upload-image', {
        ...inShop(shop),
        body: formOf(undefined, { file: person }),
      })
      photos.push(uploaded.body.fileId, ...(await useAsOthers(uploaded.body.fileId)))
      const image = { shopId: shop.id, shopper: `browser:${BROWSER}`, image: person }
      await completeForShop(drape, image)
      await send('/public/collect-email', {
        ...inShop(shop),
        body: { email: BROWSER_EMAIL, marketingConsent: false },
      })
      const context = { ...PAGE_CONTEXT, service_client_id: CLIENT }
      await send('/public/tracking/events', {
        ...inShop(shop),
        body: { events: [eventOf(randomUUID(), { properties: { mail: [BROWSER_EMAIL] } })], context },
      })
    }
    return photos
  }

  async function erase(value: string): Promise<void> {
    // As if no bytes were on their way, and no cache had links.
    await drape.database.query(sql.unsafe`update objects set created_at = created_at - interval '1 hour'`)
    const { status, headers } = await drape.call('DELETE', `/tryon/v1/customers/${encodeURIComponent(value)}`)
    expect(status).toBe(204)
    await until(async () => {
      await drape.database.query(sql.unsafe`
        update erasures set cached_until = now(), check_at = now() where issued_at is null`)
      return (await drape.call('GET', headers.get('location') ?? '')).body.status === 'ISSUED'
    })
  }

  // A new table, key or file that holds personal data is searched too: if this fails for it, erasures forget it.
  it.each([
    {
      who: 'customer of shops, apps and the server API',
      value: CUSTOMER,
      leave: leaveAsCustomer,
      texts: [CUSTOMER, EMAIL, EMAIL.toUpperCase(), encodeURIComponent(EMAIL), '4711471147'],
      places: ['data_requests', 'event_batches', 'event_outbox', 'events', 'generations', 'images', 'lead_outbox'],
    },
    {
      who: 'browser',
      value: BROWSER,
      leave: leaveAsBrowser,
      texts: [CLIENT, BROWSER_EMAIL],
      places: ['event_batches', 'events', 'generations', 'images'],
    },
    {
      who: 'browser without its prefix',
      value: CLIENT,
      leave: leaveAsBrowser,
      texts: [CLIENT, BROWSER_EMAIL],
      places: ['event_batches', 'events', 'generations', 'images'],
    },
  ])('leaves no trace in any store under the ID of a $who', async ({ value, leave, texts, places }) => {
    const photos = await leave()
    const all = [...texts, ...photos]
    const found = await search(all)
    expect(found).toEqual(expect.arrayContaining([...places.map((name) => `table ${name}`), 'storage persons']))
    expect(found.filter((place) => place.startsWith('table ') && !DECLARED.includes(place))).toEqual([])
    // A worker that looks at a photo drops it soon after its erasure.
    await until(
      async () => !(await search(photos)).some((place) => /^redis bull:prepare:(active|prepare-)/.test(place)),
    )
    await erase(value)
    expect(await search(all)).toEqual([])
  })

  it('is not the customer in whose ID its own ends', async () => {
    const calls = createShopperCalls(drape, person)
    const app = { ...(await appHeaders(drape)), 'x-service-customer-id': 'ab' }
    await send('/storefront/v1/events', {
      key: null,
      headers: app,
      body: { events: [eventOf('ab')], context: APP_CONTEXT },
    })
    const value = 'shop_fake:customer:ab'
    const photos = [await calls.upload('ab'), await calls.upload(value)]
    const left = () =>
      drape.database.anyFirst(
        sql.unsafe`select id from images where id = any(${sql.array(photos, 'text')}) order by id`,
      )
    const events = () =>
      drape.database.oneFirst(sql.unsafe`select count(*)::int from event_batches where customer_id = 'ab'`)
    await erase(value)
    expect([await left(), await events()]).toEqual([[photos[0]], 1])
    await erase('ab')
    expect([await left(), await events()]).toEqual([[], 0])
  })

  it('cannot have the ID of a shopper of a shop', async () => {
    const body = formOf(undefined, { file: person })
    body.set('externalUserId', `${shops[0].id}:customer:${CUSTOMER}`)
    expect(await drape.call('POST', '/tryon/v1/images/upload', { body })).toMatchObject({
      status: 400,
      body: { code: 'VALIDATION_FAILED', details: [{ path: 'externalUserId' }] },
    })
  })

  it('is not in the erasure log under an ID that nothing was stored for', async () => {
    const folder = join(new URL(drape.env.STORAGE_URL).pathname, 'erasures')
    const entries = async () => (await readdir(folder, { recursive: true })).length
    const before = await entries()
    await erase('nobody')
    expect(await entries()).toBe(before)
  })
})
