import { once } from 'node:events'
import { createConnection } from 'node:net'
import { text } from 'node:stream/consumers'
import { afterAll, describe, expect, it } from 'vitest'
import { generateKey } from '../../../../api/accounts/credentials.ts'
import { sql } from '../../../../api/shared/database/database.ts'
import { STOREFRONT_EVENT_NAMES, TRACKING_EVENT_NAMES } from '../../../../api/storefront/events/events.schema.ts'
import { APP_CONTEXT, appHeaders, eventOf, PAGE_CONTEXT } from '../../../support/analytics-events.ts'
import { startDrape } from '../../../support/drape.ts'
import { createDevelopmentShop, createSignedShop } from '../../../support/shop.ts'
import { pathSignedByShopify, send as sendAsItIs, signedByPlugin } from '../../../support/shop-proxies.ts'
import { until } from '../../../support/until.ts'

const STOREFRONT = '/storefront/v1/events'
const TRACKING = '/public/tracking/events'

describe('events', async () => {
  const drape = await startDrape()
  const shop = await createDevelopmentShop(drape)
  const headers = await appHeaders(drape)
  afterAll(() => drape.stop())

  const send = (body: unknown, more: Record<string, string> = {}) =>
    drape.call('POST', STOREFRONT, { key: null, headers: { ...headers, ...more }, body })
  const sendEvents = (events: unknown, context: object = APP_CONTEXT) => send({ events, context })
  const track = (events: unknown, context: object = PAGE_CONTEXT) =>
    drape.call('POST', TRACKING, { key: null, headers: shop.headers, body: { events, context } })
  const stored = (insertId: string) =>
    drape.database.any(sql.unsafe`select * from event_details where insert_id = ${insertId}`) as Promise<
      readonly Record<string, unknown>[]
    >
  const countAll = () => drape.database.oneFirst(sql.unsafe`select count(*)::int from event_details`)
  let number = 0
  const newId = () => `id-${number++}`

  it('from an app are stored with all fields', async () => {
    const happened = new Date(Date.now() - 5000)
    const answer = await send(
      {
        events: [
          eventOf('app', {
            event: 'widget:result_view',
            timestamp: happened.toISOString(),
            properties: { generation_id: 'gen_7', product_id: 'gid://shopify/Product/2', size: 'M' },
          }),
          eventOf('plain'),
        ],
        context: { ...APP_CONTEXT, integration: 'sdk', $host: null, anything: 'else' },
        more: 1,
      },
      { 'x-service-customer-id': '77', 'x-service-customer-email': 'a@shop.test' },
    )
    expect([answer.status, answer.body]).toEqual([200, { success: true }])
    expect(await stored('app')).toMatchObject([
      {
        account_id: drape.accountId,
        shop_id: null,
        name: 'widget:result_view',
        anonymous_id: 'anon_1f',
        session_id: 'sess_1f',
        customer_id: '77',
        customer_email: 'a@shop.test',
        customer_signed: false,
        product_id: 'gid://shopify/Product/2',
        generation_id: 'gen_7',
        properties: { generation_id: 'gen_7', product_id: 'gid://shopify/Product/2', size: 'M' },
        happened_at: happened,
      },
    ])
    const [plain] = await stored('plain')
    expect(plain).toMatchObject({ product_id: 'gid://shopify/Product/1', generation_id: null, properties: {} })
    expect(plain.context).toEqual({ ...APP_CONTEXT, integration: 'sdk', $host: null })
  })

  it('from the widget are stored for the shop of the proxy, whatever shop the sender names', async () => {
    const claims = { 'x-service-customer-id': '77', 'x-service-customer-email': 'a@shop.test' }
    const { body } = await drape.call('POST', TRACKING, {
      key: null,
      headers: { ...shop.headers, ...claims },
      body: { events: [eventOf('widget', { event: 'widget:button_view' })], context: PAGE_CONTEXT },
    })
    expect(body).toEqual({ success: true })
    expect(await stored('widget')).toMatchObject([
      {
        account_id: drape.accountId,
        shop_id: shop.id,
        anonymous_id: `anon_${PAGE_CONTEXT.service_client_id}`,
        session_id: PAGE_CONTEXT.$session_id,
        product_id: PAGE_CONTEXT.service_product_id,
        customer_id: null,
        customer_email: null,
        customer_signed: false,
        context: PAGE_CONTEXT,
      },
    ])
  })

  it('are accepted at both endpoints through a proxy, with or without the header', async () => {
    const passed: Record<string, string>[] = [{}, { 'x-service-anonymous-id': APP_CONTEXT.anonymous_id }]
    for (const anonymous of passed) {
      const id = newId()
      const { body } = await drape.call('POST', STOREFRONT, {
        key: null,
        headers: { 'x-drape-shop': shop.domain, ...anonymous },
        body: { events: [eventOf(id)], context: APP_CONTEXT },
      })
      expect(body).toEqual({ success: true })
      expect(await stored(id)).toMatchObject([{ shop_id: shop.id, anonymous_id: 'anon_1f' }])
    }
  })

  it('from Shopify are stored for the customer that the proxy signed', async () => {
    const { id: shopId, ...own } = await createSignedShop(drape, { domain: 'events.myshopify.com', secret: 'hush' })
    for (const [path, context] of [
      [STOREFRONT, APP_CONTEXT],
      [TRACKING, PAGE_CONTEXT],
    ] as const) {
      const id = newId()
      const call = (signed: string) =>
        drape.call('POST', signed, {
          key: null,
          headers: { 'x-service-customer-id': '1', 'x-service-customer-email': 'other@shop.test' },
          body: { events: [eventOf(id)], context },
        })
      const signed = pathSignedByShopify(path, own, [['logged_in_customer_id', '77']])
      expect((await call(signed.replace('=77', '=78'))).status).toBe(401)
      expect((await call(signed)).body).toEqual({ success: true })
      expect(await stored(id)).toMatchObject([
        { shop_id: shopId, customer_id: '77', customer_email: null, customer_signed: true },
      ])
    }
  })

  it('from a plugin are stored as signed, including the body', async () => {
    const signing = { domain: 'plugin.test', secret: 'hush' }
    const { id: shopId, ...own } = await createSignedShop(drape, signing, { platform: 'plugin' })
    const json: [string, string] = ['Content-Type', 'application/json']
    for (const [path, context] of [
      [STOREFRONT, APP_CONTEXT],
      [TRACKING, PAGE_CONTEXT],
    ] as const) {
      const id = newId()
      const body = JSON.stringify({ events: [eventOf(id), null], context })
      const signed = signedByPlugin(own, { method: 'POST', path, headers: [json], body })
      const changed = { ...signed, body: body.replace(id, `${id}0`) }
      expect((await sendAsItIs(drape.api.url, changed)).status).toBe(401)
      expect(await sendAsItIs(drape.api.url, signed)).toEqual({
        status: 200,
        body: { success: false, message: 'events[1] must be an object.' },
      })
      expect(await stored(id)).toMatchObject([{ shop_id: shopId, customer_id: null }])
      // A nonce serves once.
      expect((await sendAsItIs(drape.api.url, signed)).status).toBe(401)
    }
  })

  const names = [...new Set([...STOREFRONT_EVENT_NAMES, ...TRACKING_EVENT_NAMES])]
  it.each([
    ['the first endpoint', STOREFRONT_EVENT_NAMES as readonly string[], (events: unknown) => sendEvents(events)],
    ['the widget’s endpoint', TRACKING_EVENT_NAMES as readonly string[], (events: unknown) => track(events)],
  ])('have only the names of %s', async (_, known, to) => {
    for (const event of [...names, 'Widget:button_click', 'widget:button_click ', 'widget', '', null, 7]) {
      const id = newId()
      const isKnown = known.includes(event as string)
      const { status, body } = await to([eventOf(id, { event })])
      expect([event, status, body.success, (await stored(id)).length]).toEqual([event, 200, isKnown, isKnown ? 1 : 0])
      if (!isKnown) expect(body.message).toMatch(/^events\[0\]\.event (must be one of "|is required)/)
    }
  })

  it.each<[string, unknown, string]>([
    ['no object', 'click', 'events[0] must be an object.'],
    ['an array', [], 'events[0] must be an object.'],
    ['no name', { event: undefined }, 'events[0].event is required.'],
    ['no time', { timestamp: undefined }, 'events[0].timestamp is required.'],
    ['a time without a day', { timestamp: '10:00:00Z' }, 'events[0].timestamp must be an ISO 8601 date and time.'],
    [
      'a day that is not',
      { timestamp: '2026-02-30T10:00:00Z' },
      'events[0].timestamp must be an ISO 8601 date and time.',
    ],
    ['a number as time', { timestamp: 1_700_000_000 }, 'events[0].timestamp must be an ISO 8601 date and time.'],
    ['no id', { $insert_id: undefined }, 'events[0].$insert_id is required.'],
    ['an empty id', { $insert_id: '' }, 'events[0].$insert_id must not be empty.'],
    ['a number as id', { $insert_id: 5 }, 'events[0].$insert_id must be a string.'],
    ['an id without end', { $insert_id: 'x'.repeat(256) }, 'events[0].$insert_id must have at most 255 characters.'],
    ['an id with U+0000', { $insert_id: 'a\0b' }, 'events[0].$insert_id contains a character that cannot be stored.'],
    ['properties that are a list', { properties: [] }, 'events[0].properties must be an object.'],
    [
      'more than 8 KB of properties',
      { properties: { a: 'ä'.repeat(4096) } },
      'events[0].properties is larger than 8 KB.',
    ],
    [
      'half a character',
      { properties: { a: '\ud800' } },
      'events[0].properties.a contains a character that cannot be stored.',
    ],
    [
      'U+0000 in a name',
      { properties: { 'a\0': 1 } },
      'events[0].properties contains a character that cannot be stored.',
    ],
    [
      'depths',
      { properties: nest(100) },
      expect.stringMatching(/^events\[0\]\.properties\..* is nested more than 64/) as never,
    ],
  ])('with %s are refused, and nothing else is', async (_, more, message) => {
    const good = newId()
    const bad = typeof more === 'object' && !Array.isArray(more) ? eventOf(newId(), more as object) : more
    expect((await sendEvents([bad, eventOf(good)])).body).toEqual({ success: false, message })
    expect(await stored(good)).toHaveLength(1)
  })

  it('can have any JSON as a property, up to 8 KB, with any name', async () => {
    const id = newId()
    const properties =
      '{"__proto__":{"polluted":true},"constructor":{"prototype":1},"toString":"x","é😀":[null,1e300,{"":[]}]}'
    const full = JSON.stringify({ a: 'x'.repeat(8192 - 8) })
    const bodyOf = (event: object) =>
      JSON.stringify({ events: [event], context: APP_CONTEXT }).replace('"PROPERTIES"', () => properties)
    expect((await send(bodyOf(eventOf(id, { properties: 'PROPERTIES' })))).body).toEqual({ success: true })
    expect((await stored(id))[0].properties).toEqual(JSON.parse(properties))
    const filled = newId()
    expect(
      (
        await sendEvents([
          eventOf(filled, { properties: JSON.parse(full) }),
          eventOf(newId(), { properties: undefined }),
        ])
      ).body,
    ).toEqual({ success: true })
    expect(await stored(filled)).toHaveLength(1)
  })

  it('can have any time that Postgres can store', async () => {
    const [past, future, offset, leap] = [newId(), newId(), newId(), newId()]
    const { body } = await sendEvents([
      eventOf(past, { timestamp: '0001-01-01T00:00:00Z' }),
      eventOf(future, { timestamp: '9999-12-31T23:59:59.999Z' }),
      eventOf(offset, { timestamp: `${new Date(Date.now() + 7_200_000).toISOString().slice(0, -1)}+02:00` }),
      eventOf(leap, { timestamp: '2016-12-31T23:59:60Z' }),
    ])
    expect(body).toEqual({ success: false, message: expect.stringContaining('events[3].timestamp') })
    const ageInDays = async (id: string) => {
      const [{ happened_at, received_at }] = await stored(id)
      return ((received_at as Date).getTime() - (happened_at as Date).getTime()) / 86_400_000
    }
    expect(await ageInDays(past)).toBe(90)
    expect(await ageInDays(future)).toBe(-1)
    expect(Math.abs(await ageInDays(offset))).toBeLessThan(0.01)
  })

  it('have a time in UTC without an offset', async () => {
    const id = newId()
    const timestamp = new Date(Date.now() - 3_600_000).toISOString().slice(0, -1)
    expect((await sendEvents([eventOf(id, { timestamp })])).body).toEqual({ success: true })
    const [{ happened_at }] = await stored(id)
    expect((happened_at as Date).toISOString()).toBe(`${timestamp}Z`)
  })

  const batch = [eventOf('kept-never')]
  it.each<[string, unknown]>([
    ['is no JSON', '{"events": ['],
    ['is empty', ''],
    ['is null', 'null'],
    ['is a list', [batch]],
    ['has no events', { context: APP_CONTEXT }],
    ['has events that are no list', { events: { 0: batch[0] }, context: APP_CONTEXT }],
    ['has an empty list', { events: [], context: APP_CONTEXT }],
    ['has 51 events', { events: Array.from({ length: 51 }, (_, i) => eventOf(`many-${i}`)), context: APP_CONTEXT }],
    ['has no context', { events: batch }],
    ['has a context that is null', { events: batch, context: null }],
    ['is larger than 1 MB', { events: batch, context: APP_CONTEXT, more: 'x'.repeat(1_100_000) }],
    ['has U+0000 in its context', { events: batch, context: { ...APP_CONTEXT, $timezone: 'a\0' } }],
    ...Object.entries<unknown[]>({
      anonymous_id: ['1f', 'ANON_1f', 'anon_other', null, undefined],
      session_id: ['1f', 'Sess_1', 5, undefined],
      $pageview_id: [null, 5, undefined],
      widget_version: ['1.0.0', undefined],
      widget_enabled: ['true', null, undefined],
      product_id: [5, undefined],
      variant_id: [{}, undefined],
      $screen_width: ['0', 0.5, -1, null, undefined],
      $screen_height: [1e300, undefined],
      $timezone: [null, undefined],
      $viewport_width: ['1'],
      $current_url: [7],
      integration: [5],
    }).flatMap(([field, values]) =>
      values.map((value): [string, unknown] => [
        `has ${JSON.stringify(value) ?? 'no'} as ${field}`,
        { events: batch, context: { ...APP_CONTEXT, [field]: value } },
      ]),
    ),
  ])('are not kept when the batch %s', async (_, body) => {
    const before = await countAll()
    const answer = await send(body)
    expect(answer.status).toBe(200)
    expect(answer.body).toEqual({ success: false, message: expect.stringMatching(/\S/) })
    expect(await countAll()).toBe(before)
  })

  it('are refused with the name of a missing or contradicting header', async () => {
    const { authorization } = await appHeaders(drape)
    const post = async (headers: Record<string, string>) => {
      const body = JSON.stringify({ events: [eventOf(newId())], context: APP_CONTEXT })
      const sent = { authorization, 'content-type': 'application/json', ...headers }
      return (await fetch(`${drape.api.url}${STOREFRONT}`, { method: 'POST', headers: sent, body })).json()
    }
    const missing = 'The header X-Service-Anonymous-Id is missing: it must equal context.anonymous_id.'
    expect(await post({})).toEqual({ success: false, message: missing })
    const other = 'context.anonymous_id must equal X-Service-Anonymous-Id.'
    expect(await post({ 'x-service-anonymous-id': 'anon_other' })).toEqual({ success: false, message: other })
  })

  const nullable = ['$referrer', '$referring_domain', 'service_product_id', 'service_variant_id']
  const required = Object.keys(PAGE_CONTEXT).filter((field) => !nullable.includes(field))
  it.each(required.map((field) => [field] as const))(
    'of the widget need %s in their context, as what it is',
    async (field) => {
      const before = await countAll()
      for (const value of [undefined, { a: 1 }]) {
        const { status, body } = await track(batch, { ...PAGE_CONTEXT, [field]: value })
        expect([status, body.success]).toEqual([200, false])
        expect(body.message).toMatch(new RegExp(`^context\\.${field.replace('$', '\\$')} `))
      }
      expect(await countAll()).toBe(before)
    },
  )

  it.each<[string, Record<string, string>, string]>([
    ['nothing', {}, 'MISSING_API_KEY'],
    ['no key', { authorization: 'Bearer' }, 'INVALID_API_KEY'],
    ['an empty header', { authorization: '' }, 'INVALID_API_KEY'],
    ['another scheme', { authorization: `Basic ${generateKey('publishable')}` }, 'INVALID_API_KEY'],
    ['an unknown key', { authorization: `Bearer ${generateKey('publishable')}` }, 'INVALID_API_KEY'],
    ['a key with a typo', { authorization: 'Bearer pk_0123456789' }, 'INVALID_API_KEY'],
    ['a key of 10 kB', { authorization: `Bearer pk_${'a'.repeat(10_000)}` }, 'INVALID_API_KEY'],
    ['an unknown shop', { 'x-drape-shop': 'nowhere.test' }, 'PROXY_SIGNATURE_INVALID'],
    ['a wrong signature', { 'x-drape-signature': 'aa' }, 'PROXY_SIGNATURE_INVALID'],
  ])('are refused from senders that authenticate with %s', async (_, proof, code) => {
    const answer = await drape.call('POST', STOREFRONT, {
      key: null,
      headers: proof,
      body: { events: batch, context: APP_CONTEXT },
    })
    expect([answer.status, answer.body.code, answer.body.status]).toEqual([401, code, 401])
  })

  it('are refused from senders with a secret key, even in the other header', async () => {
    const proofs: Record<string, string>[] = [
      { authorization: `Bearer ${drape.apiKey}` },
      { 'x-api-key': drape.apiKey },
    ]
    for (const proof of proofs) {
      const { status } = await drape.call('POST', STOREFRONT, {
        key: null,
        headers: proof,
        body: { events: batch, context: APP_CONTEXT },
      })
      expect(status).toBe(401)
    }
  })

  it('are refused from senders that send the key twice', async () => {
    const { host, hostname, port } = new URL(drape.api.url)
    const socket = createConnection(Number(port), hostname)
    await once(socket, 'connect')
    const key = `Authorization: ${headers.authorization}\r\n`
    socket.end(
      `POST ${STOREFRONT} HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n${key}${key}Content-Length: 2\r\n\r\n{}`,
    )
    expect(await text(socket)).toMatch(/^HTTP\/1.1 401 /)
  })

  it('of the widget are refused without the proxy of a shop', async () => {
    for (const proof of [{}, headers, { 'x-drape-shop': 'nowhere.test' }]) {
      const answer = await drape.call('POST', TRACKING, {
        key: null,
        headers: proof,
        body: { events: batch, context: PAGE_CONTEXT },
      })
      expect([answer.status, answer.body.code]).toEqual([401, 'PROXY_SIGNATURE_INVALID'])
    }
  })

  it('have partitions for the next days as soon as an API has started', async () => {
    const days = await until(async () => {
      const made = await drape.database.anyFirst(sql.unsafe`
        select to_regclass(events_partition_of('events', (now() at time zone 'UTC')::date + ahead))::text
        from generate_series(0, 4) as ahead`)
      return made.every((table) => table !== null) && made
    })
    expect(days).toHaveLength(5)
  })

  it('are counted by outcome', async () => {
    const read = async () => {
      const lines = await (await fetch(`${drape.api.probeUrl}/metrics`)).text()
      const of = (outcome: string) =>
        Number(new RegExp(`^drape_events_total\\{outcome="${outcome}"\\} (\\d+)`, 'm').exec(lines)?.[1] ?? 0)
      return { accepted: of('accepted'), duplicate: of('duplicate'), refused: of('refused') }
    }
    const before = await read()
    const [one, two] = [newId(), newId()]
    await sendEvents([eventOf(one), eventOf(two), eventOf(one), null])
    await sendEvents([eventOf(one), eventOf(newId())], {})
    const after = await read()
    expect(after).toEqual({
      accepted: before.accepted + 2,
      duplicate: before.duplicate + 1,
      refused: before.refused + 3,
    })
  })
})

function nest(depth: number): object {
  return depth === 0 ? {} : { a: nest(depth - 1) }
}
