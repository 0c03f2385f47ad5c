import { createHash, createHmac } from 'node:crypto'
import { once } from 'node:events'
import { type IncomingMessage, request, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import Router from '@koa/router'
import { afterAll, describe, expect, it } from 'vitest'
import { createAccounts } from '../../../api/accounts/accounts.store.ts'
import { createApp } from '../../../api/http/app.ts'
import { createBodyReceiver } from '../../../api/http/bodies/signed-body.ts'
import { parseBody } from '../../../api/http/middleware/body.ts'
import type { AppState } from '../../../api/http/state.ts'
import { sql } from '../../../api/shared/database/database.ts'
import { createProxyNonces } from '../../../api/shared/database/proxy-nonces.store.ts'
import { createRetention } from '../../../api/shared/retention/retention.store.ts'
import { createLog } from '../../../api/shared/telemetry/log.ts'
import { createMetrics } from '../../../api/shared/telemetry/metrics.ts'
import { shopProxy } from '../../../api/shops/shop-proxy.ts'
import { createShops } from '../../../api/shops/shops.store.ts'
import { openTestDatabase } from '../../support/postgres.ts'
import { type Parameters, type Sent, send, signedByPlugin, signedByShopify } from '../../support/shop-proxies.ts'

const NOW = Date.UTC(2026, 0, 5, 12) + 250
const SECONDS = Math.floor(NOW / 1000)
const SHIRTS = { domain: 'shirts.myshopify.com', secret: 'hush' }
const HATS = { domain: 'hats.myshopify.com', secret: 'hush hush' }
const SOCKS = { domain: 'socks.example', secret: 'silence' }

describe('a shop', async () => {
  const { database } = await openTestDatabase({ poolSize: 4 })
  let now = NOW
  const servers: Server[] = []

  const accountId = (await createAccounts(database).insert({ name: 'Test', email: null, credits: 0 })).id
  const shops = createShops(database)
  await shops.insert({ accountId, platform: 'shopify', ...SHIRTS })
  await shops.insert({ accountId, platform: 'shopify', ...HATS })
  await shops.insert({ accountId, platform: 'plugin', ...SOCKS })
  await shops.insert({ accountId, platform: 'development', domain: 'shop.test', secret: 'known' })
  await shops.insert({ accountId, platform: 'shopify', domain: 'open.myshopify.com' })
  const production = await start(false)
  const development = await start(true)
  afterAll(async () => {
    for (const server of servers) server.close()
  })

  /** A replica that responds with the shop and the customer of the request. */
  async function start(isDevelopment: boolean): Promise<string> {
    const router = new Router<AppState>()
    const guard = shopProxy({
      shops: createShops(database),
      nonces: createProxyNonces(database),
      refused: { note: () => {} },
      receiveBody: createBodyReceiver(),
      development: isDevelopment,
      signingSecret: 'a secret of the tests',
      now: () => now,
    })
    router.all('/public/*rest', guard as never, parseBody() as never, (ctx) => {
      const { shop, account, shopper, body, fields, files } = ctx.state
      const { domain } = shop ?? {}
      ctx.body = { domain, accountId: account.id, customerId: shopper.customerId, body, fields, files: files.length }
    })
    const app = createApp({
      log: createLog({ process: 'test', level: 'silent' }),
      metrics: createMetrics('test'),
      routes: [router],
    })
    const server = app.listen(0, '127.0.0.1')
    servers.push(server)
    await new Promise((resolve) => server.once('listening', resolve))
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  }

  const get = (query: string, headers: Sent['headers'] = []): Sent => ({
    method: 'GET',
    path: `/public/x?${query}`,
    headers,
    body: '',
  })
  const shirts = (parameters: Parameters = [], at = NOW) => signedByShopify(SHIRTS, { parameters, now: at })
  const socks = (request: Partial<Sent> = {}, options: { now?: number; nonce?: string } = {}) =>
    signedByPlugin(SOCKS, { path: '/public/x?a=1', ...request }, { now: NOW, ...options })
  const JSON_TYPE = ['Content-Type', 'application/json'] as const
  const order = (more: Partial<Sent> = {}) =>
    socks({ method: 'POST', headers: [JSON_TYPE], body: '{"email":"a@b.example"}', ...more })
  const withHeader = (sent: Sent, name: string, change: (value: string) => string[]): Sent => ({
    ...sent,
    headers: sent.headers.flatMap(([given, value]) =>
      given === name ? change(value).map((changed) => [name, changed] as const) : [[given, value] as const],
    ),
  })
  const signatureOf = (query: string) => new URLSearchParams(query).get('signature') ?? ''
  const resigned = (query: string, change: (signature: string) => string) =>
    query.replace(signatureOf(query), change(signatureOf(query)))
  const REFUSED = {
    status: 401,
    body: {
      code: 'PROXY_SIGNATURE_INVALID',
      message: expect.stringMatching(/^The request is not signed by the proxy of a shop\. /),
      status: 401,
      details: [
        {
          path: '',
          message: expect.stringMatching(/^failed the check (format|clock|signature|nonce)$/),
          check: expect.stringMatching(/^(format|clock|signature|nonce)$/),
          serverTime: '2026-01-05T12:00:00.250Z',
        },
      ],
    },
  }

  describe('on Shopify', () => {
    it.each<[string, () => string]>([
      ['as it comes', () => shirts()],
      ['in another order', () => shirts().split('&').reverse().join('&')],
      [
        'with a repeated parameter',
        () =>
          shirts([
            ['extra', '1'],
            ['extra', '2'],
          ]),
      ],
      [
        'with an empty value',
        () =>
          shirts([
            ['empty', ''],
            ['logged_in_customer_id', ''],
          ]),
      ],
      ['with a plus and a space', () => shirts([['text', '1 + 1 = 2']]).replaceAll('%20', '+')],
      ['with a space as %20', () => shirts([['text', '1 + 1 = 2']])],
      [
        'with signs of all kinds',
        () =>
          shirts([
            ['q', '&=%?#/ü€😀"\\\t\n'],
            ['é', '1'],
            ['z', '2'],
          ]),
      ],
      [
        'with names that objects have',
        () =>
          shirts([
            ['__proto__', 'x'],
            ['constructor', 'y'],
            ['toString', 'z'],
          ]),
      ],
      ['with a name without value', () => `${shirts([['flag', '']]).replace('flag=', 'flag')}`],
      ['with needless ampersands', () => `&&${shirts()}&`],
      ['with a shop in capitals', () => shirts([['shop', 'Shirts.MyShopify.com']])],
      ['90 s ago', () => shirts([], NOW - 90_000 + 1000)],
      ['90 s ahead', () => shirts([], NOW + 90_000)],
    ])('is believed %s', async (_, query) => {
      expect(await send(production, get(query()))).toMatchObject({
        status: 200,
        body: { domain: SHIRTS.domain, accountId },
      })
    })

    it('does not act for the customer when a page of another site started the request', async () => {
      const path = `/public/x?${shirts([['logged_in_customer_id', '42']])}`
      const customerOf = async (method: string, site?: string) => {
        const headers = site === undefined ? [] : [['Sec-Fetch-Site', site] as const]
        return (await send(production, { method, path, headers, body: '' })).body.customerId
      }
      expect(await customerOf('POST', 'cross-site')).toBeNull()
      for (const site of ['same-origin', 'same-site', undefined]) expect(await customerOf('POST', site)).toBe('42')
      expect(await customerOf('GET', 'cross-site')).toBe('42')
    })

    it('takes the customer only from the signed query', async () => {
      const headers = [
        ['X-Service-Customer-Id', '9'],
        ['logged_in_customer_id', '9'],
      ] as const
      const customerOf = async (parameters: Parameters) =>
        (await send(production, get(shirts(parameters), headers))).body.customerId
      expect(await customerOf([['logged_in_customer_id', '6412345']])).toBe('6412345')
      expect(await customerOf([['logged_in_customer_id', '']])).toBeNull()
      expect(await customerOf([])).toBeNull()
    })

    it('may have a non-ASCII domain', async () => {
      const shop = { domain: 'bücher.example', secret: 'leise' }
      await createShops(database).insert({ accountId, platform: 'shopify', ...shop })
      const answer = await send(production, get(signedByShopify(shop, { now: NOW })))
      expect(answer).toMatchObject({ status: 200, body: { domain: shop.domain } })
    })

    it.each<[string, () => string | Sent]>([
      ['nothing', () => ''],
      [
        'with the ID of a shopper as its customer',
        () => shirts([['logged_in_customer_id', 'shop_0198c6a4-7d3e-7c35-9a6a-1f2c1de0b0aa:customer:1']]),
      ],
      ['without a signature', () => shirts().replace(/&signature=.*/, '')],
      ['with an empty signature', () => resigned(shirts(), () => '')],
      [
        'with one bit flipped',
        () => resigned(shirts(), (hex) => (Number.parseInt(hex[0], 16) ^ 1).toString(16) + hex.slice(1)),
      ],
      [
        'with its last bit flipped',
        () => resigned(shirts(), (hex) => hex.slice(0, -1) + (Number.parseInt(hex[63], 16) ^ 1).toString(16)),
      ],
      ['with a signature in capitals', () => resigned(shirts(), (hex) => hex.toUpperCase())],
      [
        'with a signature in base64',
        () => resigned(shirts(), (hex) => encodeURIComponent(Buffer.from(hex, 'hex').toString('base64'))),
      ],
      ['with half a signature', () => resigned(shirts(), (hex) => hex.slice(0, 32))],
      ['with a longer signature', () => resigned(shirts(), (hex) => `${hex}00`)],
      ['with a space before the signature', () => resigned(shirts(), (hex) => `+${hex}`)],
      ['with a line after the signature', () => resigned(shirts(), (hex) => `${hex}%0a`)],
      ['with the signature twice', () => `${shirts()}&signature=${signatureOf(shirts())}`],
      ['with a wrong signature before the right one', () => `signature=${'0'.repeat(64)}&${shirts()}`],
      [
        'with the signature in a header',
        () => get(shirts().replace(/&signature=.*/, ''), [['signature', signatureOf(shirts())]]),
      ],
      ['with the secret of another shop', () => signedByShopify({ ...SHIRTS, secret: HATS.secret }, { now: NOW })],
      ['with no secret', () => signedByShopify({ ...SHIRTS, secret: '' }, { now: NOW })],
      ['with a plain hash', () => resigned(shirts(), () => createHash('sha256').update('x').digest('hex'))],
      ['with an HMAC of SHA-1', () => resigned(shirts(), () => createHmac('sha1', 'hush').update('x').digest('hex'))],
      [
        'over the query as it stands',
        () => {
          const query = shirts().replace(/&signature=.*/, '')
          return `${query}&signature=${createHmac('sha256', SHIRTS.secret).update(query).digest('hex')}`
        },
      ],
      ['with a parameter added', () => `${shirts()}&page=2`],
      ['with an empty parameter added', () => `${shirts()}&page=`],
      ['with a parameter named __proto__ added', () => `${shirts()}&__proto__=1`],
      ['with a parameter removed', () => shirts([['page', '2']]).replace('page=2&', '')],
      ['with a value changed', () => shirts([['page', '2']]).replace('page=2', 'page=3')],
      ['with a name changed', () => shirts([['page', '2']]).replace('page=2', 'Page=2')],
      [
        'with repeated values changed about',
        () =>
          shirts([
            ['e', '1'],
            ['e', '2'],
          ]).replace('e=1&e=2', 'e=2&e=1'),
      ],
      ['with a value encoded twice', () => shirts([['text', 'a b']]).replace('a%20b', 'a%2520b')],
      ['with a plus for an encoded plus', () => shirts([['text', '1+1']]).replace('1%2B1', '1+1')],
      ['with the name of another shop', () => shirts().replace(SHIRTS.domain, HATS.domain)],
      ['with a shop twice', () => `${shirts()}&shop=${SHIRTS.domain}`],
      [
        'with a shop twice, and signed so',
        () =>
          shirts([
            ['shop', SHIRTS.domain],
            ['shop', HATS.domain],
          ]),
      ],
      ['with the shop in two encodings', () => `${shirts()}&s%68op=${HATS.domain}`],
      ['without a shop', () => shirts().replace(/shop=[^&]+&/, '')],
      ['without a shop, and signed so', () => shirts([['shop', '']])],
      ['with a list for a shop', () => shirts([['shop', `${SHIRTS.domain},${HATS.domain}`]])],
      [
        'with the shop under another name',
        () =>
          shirts([
            ['shop[]', SHIRTS.domain],
            ['shop', ''],
          ]),
      ],
      ['with a shop of unusual signs', () => shirts([['shop', `${SHIRTS.domain}\0`]])],
      ['with a shop of 10,000 signs', () => shirts([['shop', 'x'.repeat(10_000)]])],
      ['for an unknown shop', () => signedByShopify({ ...SHIRTS, domain: 'nobody.myshopify.com' }, { now: NOW })],
      ['for a shop without secrets', () => signedByShopify({ domain: 'open.myshopify.com', secret: '' }, { now: NOW })],
      ['for a shop that has a plugin', () => signedByShopify(SOCKS, { now: NOW })],
      ['for a shop in development', () => signedByShopify({ domain: 'shop.test', secret: 'known' }, { now: NOW })],
      ['91 s ago', () => shirts([], NOW - 91_000)],
      ['91 s ahead', () => shirts([], NOW + 91_000)],
      ['with a later time put in', () => shirts([], NOW - 91_000).replace(/timestamp=\d+/, `timestamp=${SECONDS}`)],
      ['with a text for a time', () => shirts([['timestamp', 'now']])],
      ['with an empty time', () => shirts([['timestamp', '']])],
      ['with a time in milliseconds', () => shirts([['timestamp', String(NOW)]])],
      ['with a time that has a fraction', () => shirts([['timestamp', `${SECONDS}.5`]])],
      ['with a time in hexadecimal', () => shirts([['timestamp', `0x${SECONDS.toString(16)}`]])],
      ['with a time after a space', () => shirts([['timestamp', ` ${SECONDS}`]])],
      ['with a time as an exponent', () => shirts([['timestamp', `${SECONDS / 1000}e3`]])],
      ['with a date for a time', () => shirts([['timestamp', new Date(NOW).toISOString()]])],
      ['without a time', () => shirts().replace(/timestamp=\d+&/, '')],
      [
        'with a time twice, and signed so',
        () =>
          shirts([
            ['timestamp', String(SECONDS)],
            ['timestamp', String(SECONDS)],
          ]),
      ],
      ['with a customer put in', () => `${shirts()}&logged_in_customer_id=7`],
      [
        'with another customer',
        () => shirts([['logged_in_customer_id', '7']]).replace('customer_id=7', 'customer_id=8'),
      ],
      [
        'with a customer twice, and signed so',
        () =>
          shirts([
            ['logged_in_customer_id', '7'],
            ['logged_in_customer_id', '8'],
          ]),
      ],
      ['with a customer of unusual signs', () => shirts([['logged_in_customer_id', '7\n8']])],
      [
        'with a customer cut out of a parameter of the shopper',
        () =>
          shirts([
            ['a', '1logged_in_customer_id=7logged_in_customer_idx='],
            ['logged_in_customer_id', ''],
          ]).replace(
            /a=[^&]+&logged_in_customer_id=/,
            'a=1&logged_in_customer_id=7&logged_in_customer_idx=logged_in_customer_id%3D',
          ),
      ],
      [
        'with a shop cut out of a parameter of the shopper',
        () =>
          signedByShopify(
            { ...HATS, domain: SHIRTS.domain },
            { now: NOW, parameters: [['s', `1shop=${HATS.domain}shoq=`]] },
          ).replace(/s=[^&]+&shop=([^&]+)/, `s=1&shop=${HATS.domain}&shoq=shop%3D$1`),
      ],
      [
        'with a time cut out of a parameter of the shopper',
        () => {
          const old = `shop=${SHIRTS.domain}timestamp=${SECONDS - 500}`
          return shirts([['s', `1shop=${SHIRTS.domain}timestamp=${SECONDS}u=`]], NOW - 500_000).replace(
            /s=[^&]+&shop=[^&]+&timestamp=\d+/,
            `s=1&shop=${SHIRTS.domain}&timestamp=${SECONDS}&u=${encodeURIComponent(old)}`,
          )
        },
      ],
      ['with what is no encoding', () => `${shirts()}&a=%zz`],
      ['with what is no text', () => shirts([['a', '\ufffd']]).replace('%EF%BF%BD', '%FF')],
      [
        'by its name in a header',
        () =>
          get('', [
            ['X-Drape-Shop', SHIRTS.domain],
            ['X-Shopify-Shop-Domain', SHIRTS.domain],
          ]),
      ],
      [
        'by its name in the body',
        () => ({
          ...get(''),
          method: 'POST',
          headers: [['Content-Type', 'application/x-www-form-urlencoded']],
          body: shirts(),
        }),
      ],
      ['with its query behind a fragment', () => `%23${shirts()}`],
      ['with semicolons between parameters', () => shirts().replaceAll('&', ';')],
    ])('is not believed %s', async (_, forge) => {
      const forged = forge()
      const sent = typeof forged === 'string' ? get(forged) : forged
      expect(await send(production, sent)).toEqual(REFUSED)
      expect(await send(production, { ...sent, method: 'POST' })).toEqual(REFUSED)
    })
  })

  describe('with a plugin', () => {
    it.each<[string, () => Sent]>([
      ['without a body', () => socks()],
      ['without a query', () => socks({ path: '/public/x' })],
      ['with a body', () => order()],
      ['with a body in pieces', () => order({ headers: [JSON_TYPE, ['Transfer-Encoding', 'chunked']] })],
      ['with a body of a GET', () => socks({ body: '{}', headers: [JSON_TYPE] })],
      ['with a parameter named __proto__', () => socks({ path: '/public/x?__proto__=1' })],
      ['with signs of all kinds', () => socks({ path: '/public/x?q=%26%3d%zz+%C3%BC&q=;'.replace('%zz', '') })],
      ['with a site in capitals', () => withHeader(socks(), 'X-Drape-Site', () => ['SOCKS.example'])],
      ['90 s ago', () => socks({}, { now: NOW - 89_000 })],
      ['90 s ahead', () => socks({}, { now: NOW + 90_000 })],
    ])('is believed %s', async (_, sign) => {
      expect(await send(production, sign())).toMatchObject({ status: 200, body: { domain: SOCKS.domain, accountId } })
    })

    it('takes the customer only from the signed query', async () => {
      const headers = [
        ['X-Service-Customer-Id', '9'],
        ['X-Drape-Customer', '9'],
      ] as const
      const customerOf = async (path: string) => (await send(production, socks({ path, headers }))).body.customerId
      expect(await customerOf('/public/x?logged_in_customer_id=42')).toBe('42')
      expect(await customerOf('/public/x?logged_in_customer_id=')).toBeNull()
      expect(await customerOf('/public/x')).toBeNull()
    })

    it('receives the signed body byte for byte', async () => {
      expect((await send(production, order())).body.body).toEqual({ email: 'a@b.example' })
      const file = new Uint8Array(10 * 1024 * 1024).fill(7)
      const { body, headers } = await formOf(file)
      const answer = await send(production, socks({ method: 'POST', path: '/public/upload-image', headers, body }))
      expect(answer).toMatchObject({ status: 200, body: { fields: { note: 'hello' }, files: 1 } })
    })

    it('has the body limits of other routes', async () => {
      const large = await formOf(new Uint8Array(10 * 1024 * 1024 + 1))
      const huge = await formOf(new Uint8Array(12 * 1024 * 1024))
      for (const form of [large, huge]) {
        const answer = await send(production, socks({ method: 'POST', path: '/public/upload-image', ...form }))
        expect(answer).toMatchObject({ status: 413, body: { code: 'FILE_TOO_LARGE' } })
      }
      const headers = [JSON_TYPE]
      const text = await send(production, socks({ method: 'POST', headers, body: `"${'x'.repeat(1024 * 1024)}"` }))
      expect(text).toMatchObject({ status: 400, body: { code: 'VALIDATION_FAILED' } })
    })

    it('can use a nonce once, across replicas and concurrent requests', async () => {
      const other = await start(false)
      const sent = order()
      const answers = await Promise.all(Array.from({ length: 20 }, (_, i) => send(i % 2 ? production : other, sent)))
      expect(answers.map(({ status }) => status).sort()).toEqual([200, ...Array(19).fill(401)])
      expect(await send(production, sent)).toEqual(REFUSED)
      const again = withHeader(socks({ path: '/public/y' }, { nonce: nonceOf(sent) }), 'X-Drape-Nonce', (nonce) => [
        nonce,
      ])
      expect(await send(other, again)).toEqual(REFUSED)
    })

    it('can use a nonce that a forged request has used', async () => {
      const sent = order()
      expect(await send(production, { ...sent, body: '{"email":"c@d.example"}' })).toEqual(REFUSED)
      expect((await send(production, sent)).status).toBe(200)
    })

    it('keeps used nonces while their timestamp is valid', async () => {
      const sent = socks({}, { now: NOW + 90_000, nonce: 'swept' })
      await send(production, sent)
      const expiry = await database.oneFirst(sql.unsafe`
        select extract(epoch from expires_at)::int from proxy_nonces where nonce = 'swept'`)
      expect(expiry).toBeGreaterThan(SECONDS + 180)
      const nonces = createProxyNonces(database)
      const shopId = (await createShops(database).find(SOCKS.domain))?.shop.id ?? ''
      await nonces.use({ shopId, value: 'late', expiresAt: new Date(Date.now() + 60_000) })
      await nonces.use({ shopId, value: 'over', expiresAt: new Date(Date.now() - 1) })
      while ((await createRetention(database).deleteOld('proxyNonces', 10)) > 0);
      const left = await database.anyFirst(sql.unsafe`select nonce from proxy_nonces where nonce in ('late', 'over')`)
      expect(left).toEqual(['late'])
    })

    it.each<[string, () => Sent]>([
      ...['Site', 'Timestamp', 'Nonce', 'Signature'].flatMap<[string, () => Sent]>((name) => [
        [`without ${name}`, () => withHeader(order(), `X-Drape-${name}`, () => [])],
        [`with an empty ${name}`, () => withHeader(order(), `X-Drape-${name}`, () => [''])],
        [`with ${name} twice`, () => withHeader(order(), `X-Drape-${name}`, (value) => [value, value])],
        [`with another ${name} before`, () => withHeader(order(), `X-Drape-${name}`, (value) => ['1', value])],
        [`with ${name} as a list`, () => withHeader(order(), `X-Drape-${name}`, (value) => [`${value}, ${value}`])],
      ]),
      [
        'with one bit flipped',
        () =>
          withHeader(order(), 'X-Drape-Signature', (hex) => [
            (Number.parseInt(hex[0], 16) ^ 1).toString(16) + hex.slice(1),
          ]),
      ],
      ['with a signature in capitals', () => withHeader(order(), 'X-Drape-Signature', (hex) => [hex.toUpperCase()])],
      [
        'with a signature in base64',
        () => withHeader(order(), 'X-Drape-Signature', (hex) => [Buffer.from(hex, 'hex').toString('base64')]),
      ],
      ['with a name before the signature', () => withHeader(order(), 'X-Drape-Signature', (hex) => [`sha256=${hex}`])],
      ['with half a signature', () => withHeader(order(), 'X-Drape-Signature', (hex) => [hex.slice(0, 32)])],
      ['with another body', () => ({ ...order(), body: '{"email":"c@d.example"}' })],
      ['with a longer body', () => ({ ...order(), body: '{"email":"a@b.example"} ' })],
      ['with no body', () => ({ ...order(), body: '' })],
      ['with a body put in', () => ({ ...socks(), body: '{}' })],
      ['with another method', () => ({ ...order(), method: 'PUT' })],
      ['with HEAD for GET', () => ({ ...socks(), method: 'DELETE' })],
      ['with another path', () => ({ ...order(), path: '/public/y?a=1' })],
      ['with the path encoded otherwise', () => ({ ...order(), path: '/public/%78?a=1' })],
      ['with a slash more', () => ({ ...order(), path: '/public/x/?a=1' })],
      ['with a parameter added', () => ({ ...order(), path: '/public/x?a=1&b=2' })],
      ['without its query', () => ({ ...order(), path: '/public/x' })],
      ['with an empty query put in', () => ({ ...socks({ path: '/public/x' }), path: '/public/x?' })],
      [
        'with parameters in another order',
        () => ({ ...socks({ path: '/public/x?a=1&b=2' }), path: '/public/x?b=2&a=1' }),
      ],
      ['with a customer put in', () => ({ ...order(), path: '/public/x?a=1&logged_in_customer_id=7' })],
      [
        'with a customer twice, and signed so',
        () => socks({ path: '/public/x?logged_in_customer_id=7&logged_in_customer_id=8' }),
      ],
      ['with another nonce', () => withHeader(order(), 'X-Drape-Nonce', (nonce) => [`${nonce}1`])],
      ['with a nonce of 129 signs', () => socks({}, { nonce: 'n'.repeat(129) })],
      ['with a nonce that has spaces', () => socks({}, { nonce: 'a b' })],
      ['with another time', () => withHeader(order(), 'X-Drape-Timestamp', (time) => [String(Number(time) + 1)])],
      ['91 s ago', () => socks({}, { now: NOW - 91_000 })],
      ['91 s ahead', () => socks({}, { now: NOW + 91_000 })],
      ['with a text for a time', () => withHeader(order(), 'X-Drape-Timestamp', () => ['now'])],
      ['with a time in milliseconds', () => socks({}, { now: NOW * 1000 })],
      [
        'with the secret of another shop',
        () => signedByPlugin({ ...SOCKS, secret: 'hush' }, { path: '/public/x' }, { now: NOW }),
      ],
      ['with no secret', () => signedByPlugin({ ...SOCKS, secret: '' }, { path: '/public/x' }, { now: NOW })],
      [
        'for an unknown site',
        () => signedByPlugin({ ...SOCKS, domain: 'nobody.example' }, { path: '/public/x' }, { now: NOW }),
      ],
      ['for another site', () => withHeader(order(), 'X-Drape-Site', () => [SHIRTS.domain])],
      ['for a shop of Shopify', () => signedByPlugin(SHIRTS, { path: '/public/x' }, { now: NOW })],
      [
        'for a shop in development',
        () => signedByPlugin({ domain: 'shop.test', secret: 'known' }, { path: '/public/x' }, { now: NOW }),
      ],
      [
        'as Shopify signs, with its headers',
        () => ({ ...get(signedByShopify(SOCKS, { now: NOW })), headers: [['X-Drape-Site', SOCKS.domain]] }),
      ],
      [
        'with a line after what is signed',
        () =>
          withHeader(socks(), 'X-Drape-Signature', () => {
            const nonce = nonceOf(socks({}, { nonce: 'line' }))
            const empty = createHash('sha256').update('').digest('hex')
            return [
              createHmac('sha256', SOCKS.secret)
                .update(`GET\n/public/x?a=1\n${SECONDS}\n${nonce}\n${empty}\n`)
                .digest('hex'),
            ]
          }),
      ],
    ])('is not believed %s', async (_, forge) => {
      expect(await send(production, forge())).toEqual(REFUSED)
    })
  })

  describe('in development', () => {
    const named = (...names: string[]) =>
      get(
        '',
        names.map((name) => ['X-Drape-Shop', name] as const),
      )

    it('is identified by its domain in development', async () => {
      const answer = { status: 200, body: { domain: 'shop.test', customerId: null } }
      expect(await send(development, named('shop.test'))).toMatchObject(answer)
      expect(await send(production, named('shop.test'))).toEqual(REFUSED)
    })

    it.each([
      [SHIRTS.domain],
      [SOCKS.domain],
      ['nobody.test'],
      [''],
      ['shop.test', 'shop.test'],
      ['shop.test,shop.test'],
    ])('is not believed as %s', async (...names) => {
      expect(await send(development, named(...names))).toEqual(REFUSED)
    })

    it('requires a signature for shops of platforms', async () => {
      expect(await send(development, get(shirts()))).toMatchObject({ status: 200 })
      expect(await send(development, order())).toMatchObject({ status: 200 })
      expect(await send(development, get(`${shirts()}&page=2`))).toEqual(REFUSED)
    })
  })

  describe('with changed settings', () => {
    it('accepts two secrets during a rotation only', async () => {
      const shop = { domain: 'turning.myshopify.com', secret: 'old' }
      const renewed = { ...shop, secret: 'new' }
      const shops = createShops(database)
      await shops.insert({ accountId, platform: 'shopify', ...shop })
      const statuses = async () => {
        now += 3001
        const queries = [shop, renewed].map((signing) => signedByShopify(signing, { now }))
        return Promise.all(queries.map(async (query) => (await send(production, get(query))).status))
      }
      expect(await statuses()).toEqual([200, 401])
      await shops.addSecret(shop.domain, 'new')
      expect(await statuses()).toEqual([200, 200])
      await expect(shops.addSecret(shop.domain, 'third')).rejects.toThrow('Remove one first')
      await shops.removeSecret(shop.domain, null)
      expect(await statuses()).toEqual([401, 200])
      await shops.removeSecret(shop.domain, 'new')
      expect(await statuses()).toEqual([401, 401])
    })

    it('is refused when the shop or its account is inactive', async () => {
      const shop = { domain: 'closing.example', secret: 'old' }
      const { id } = await createAccounts(database).insert({ name: 'Other', email: null, credits: 0 })
      const shops = createShops(database)
      await shops.insert({ accountId: id, platform: 'plugin', ...shop })
      const status = async () => {
        now += 3001
        return (await ask()).status
      }
      const ask = () => send(production, signedByPlugin(shop, { path: '/public/x' }, { now }))
      expect(await status()).toBe(200)
      await shops.update(shop.domain, { isActive: false })
      expect(await status()).toBe(401)
      await shops.update(shop.domain, { isActive: true })
      expect(await status()).toBe(200)
      await database.query(sql.unsafe`update accounts set is_active = false where id = ${id}`)
      expect(await status()).toBe(401)
      expect(JSON.stringify((await ask()).body)).toContain('The account of the shop is deactivated')
      expect(
        JSON.stringify(
          (await send(production, signedByPlugin({ ...shop, secret: 'x' }, { path: '/public/x' }, { now }))).body,
        ),
      ).not.toContain('deactivated')
    })
  })

  it('is refused before its body is received if no signature can match', async () => {
    const { headers } = socks({}, { now: now - 91_000 })
    const { hostname, port } = new URL(production)
    const call = request({
      hostname,
      port,
      method: 'POST',
      path: '/public/x?a=1',
      headers: ['Host', 'drape', 'Content-Length', '1000', ...headers.flat()],
    })
    call.flushHeaders()
    const [response] = (await once(call, 'response')) as [IncomingMessage]
    expect(response.statusCode).toBe(401)
    call.on('error', () => {}).destroy()
  })
})

function nonceOf({ headers }: Sent): string {
  return headers.find(([name]) => name === 'X-Drape-Nonce')?.[1] ?? ''
}

async function formOf(file: Uint8Array<ArrayBuffer>): Promise<Pick<Sent, 'headers' | 'body'>> {
  const form = new FormData()
  form.set('note', 'hello')
  form.set('file', new Blob([file]), 'photo.jpg')
  const encoded = new Response(form)
  return {
    headers: [['Content-Type', encoded.headers.get('content-type') ?? '']],
    body: new Uint8Array(await encoded.arrayBuffer()),
  }
}
