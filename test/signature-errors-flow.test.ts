import { createHash, createHmac } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createOperatorSessions } from '../api/dashboard/sign-in/operator-sessions.store.ts'
import { createOperators } from '../api/dashboard/sign-in/operators.store.ts'
import { createRedis, type Redis } from '../api/shared/queue/redis.ts'
import { createLog } from '../api/shared/telemetry/log.ts'
import { listRefusedRequests } from '../api/shops/refused-requests.ts'
import { createShops } from '../api/shops/shops.store.ts'
import { type OperatorBrowser, startDashboard, type TestDashboard } from './support/dashboard.ts'
import { type Drape, startDrape } from './support/drape.ts'
import { linesOf } from './support/process.ts'
import { type Sent, send, signedByPlugin, signedByShopify } from './support/shop-proxies.ts'
import { until } from './support/until.ts'

const SECRET = 'the secret of the shop'
const JSON_TYPE = ['Content-Type', 'application/json'] as const
const BODY = '{"email":"a@b.example"}'
const PATH = '/public/collect-email?a=%20b'

const sha256 = (text: string) => createHash('sha256').update(text).digest('hex')

describe('a shop request with an invalid signature', () => {
  let drape: Drape
  let redis: Redis
  let dashboard: TestDashboard
  let operator: OperatorBrowser
  let shops: ReturnType<typeof createShops>

  beforeAll(async () => {
    drape = await startDrape({ env: { NODE_ENV: 'production', SIGNING_SECRET: 'a secret of sixteen signs or more' } })
    redis = createRedis(drape.env.REDIS_URL, { role: 'producer', log: createLog({ process: 'test', level: 'silent' }) })
    const { database } = drape
    shops = createShops(database)
    dashboard = await startDashboard({ database, redis })
    const operators = createOperators(database)
    const { id } = await operators.insert({
      email: 'eve@shop.example',
      name: 'Eve',
      passwordHash: 'none',
      role: 'viewer',
    })
    operator = dashboard.openBrowser()
    operator.cookie = `drape-operator=${await createOperatorSessions(database).insert(id)}`
  })
  afterAll(async () => {
    await dashboard.stop()
    await redis.close()
    await drape.stop()
  })

  let count = 0
  /** Each test uses its own shop: concurrent refusals of one address are recorded once. */
  const createShop = async (platform: 'plugin' | 'shopify' = 'plugin', secret: string | undefined = SECRET) => {
    const domain = `shop-${++count}.example`
    const { id } = await shops.insert({ accountId: drape.accountId, platform, domain, secret })
    return { id, domain, secret: SECRET }
  }
  const findRefused = (
    shop: { id: string } | null,
    matches: (entry: { site: string | null }) => boolean = () => true,
  ) => until(async () => (await listRefusedRequests(redis, shop)).find(matches))
  const post = (shop: { domain: string; secret: string }, { now, nonce }: { now?: number; nonce?: string } = {}) =>
    signedByPlugin(shop, { method: 'POST', path: PATH, headers: [JSON_TYPE], body: BODY }, { now, nonce })
  const withHeader = (sent: Sent, name: string, change: (value: string) => string): Sent => ({
    ...sent,
    headers: sent.headers.map(([given, value]) => [given, given === name ? change(value) : value] as const),
  })
  const headerOf = ({ headers }: Sent, name: string) => headers.find(([given]) => given === name)?.[1] ?? ''
  /** Signs a changed text, as a plugin with a bug would. */
  const signWithBug = (shop: { domain: string; secret: string }, change: (lines: string[]) => string): Sent => {
    const sent = post(shop)
    const lines = ['POST', PATH, headerOf(sent, 'X-Drape-Timestamp'), headerOf(sent, 'X-Drape-Nonce'), sha256(BODY)]
    const signature = createHmac('sha256', shop.secret).update(change(lines)).digest('hex')
    return withHeader(sent, 'X-Drape-Signature', () => signature)
  }
  const replaceLine = (at: number, line: string) => (lines: string[]) => lines.with(at, line).join('\n')

  it.each<[string, string, string, (shop: { domain: string; secret: string }) => Sent]>([
    ['digest', 'digest of an empty body', 'signature', (shop) => signWithBug(shop, replaceLine(4, sha256('')))],
    ['digest', 'signs no digest', 'signature', (shop) => signWithBug(shop, replaceLine(4, ''))],
    ['digest', 'in upper case', 'signature', (shop) => signWithBug(shop, replaceLine(4, sha256(BODY).toUpperCase()))],
    [
      'digest',
      'in base64',
      'signature',
      (shop) => signWithBug(shop, replaceLine(4, Buffer.from(sha256(BODY), 'hex').toString('base64'))),
    ],
    ['path', 'without the query', 'signature', (shop) => signWithBug(shop, replaceLine(1, '/public/collect-email'))],
    [
      'path',
      'without the leading /public',
      'signature',
      (shop) => signWithBug(shop, replaceLine(1, PATH.replace('/public', ''))),
    ],
    ['path', 'decoded', 'signature', (shop) => signWithBug(shop, replaceLine(1, decodeURIComponent(PATH)))],
    ['text', 'in lower case', 'signature', (shop) => signWithBug(shop, replaceLine(0, 'post'))],
    ['text', 'after the last line', 'signature', (shop) => signWithBug(shop, (lines) => `${lines.join('\n')}\n`)],
    ['text', '\\r\\n', 'signature', (shop) => signWithBug(shop, (lines) => lines.join('\r\n'))],
    ['secret', 'line break after it', 'signature', ({ domain }) => post({ domain, secret: `${SECRET}\n` })],
    ['secret', 'another secret', 'signature', ({ domain }) => post({ domain, secret: 'wrong' })],
    ['clock', 'behind the clock', 'clock', (shop) => post(shop, { now: Date.now() - 120_000 })],
    ['clock', 'ahead of the clock', 'clock', (shop) => post(shop, { now: Date.now() + 120_000 })],
    ['format', 'X-Drape-Nonce', 'format', (shop) => withHeader(post(shop), 'X-Drape-Nonce', () => '')],
    ['format', 'in seconds', 'format', (shop) => post(shop, { now: Date.now() * 1000 })],
    [
      'format',
      '64 lower-case',
      'format',
      (shop) => withHeader(post(shop), 'X-Drape-Signature', (hex) => hex.toUpperCase()),
    ],
  ])('is recorded with the failed check %s and the hint "%s"', async (check, hint, publicCheck, sign) => {
    const shop = await createShop()
    const { status, body } = await send(drape.api.url, sign(shop))
    expect({ status, code: body.code, check: body.details[0].check }).toEqual({
      status: 401,
      code: 'PROXY_SIGNATURE_INVALID',
      check: publicCheck,
    })
    expect(Math.abs(Date.parse(body.details[0].serverTime) - Date.now())).toBeLessThan(60_000)
    const entry = await findRefused(shop)
    expect(entry).toMatchObject({
      check,
      site: shop.domain,
      request: 'POST /public/collect-email',
      network: '127.0.0.1',
    })
    expect(entry.hint).toContain(hint)
  })

  it('is refused with the check "nonce" for a reused nonce', async () => {
    const shop = await createShop()
    const sent = post(shop)
    expect((await send(drape.api.url, sent)).status).toBe(200)
    expect((await send(drape.api.url, sent)).body.details[0].check).toBe('nonce')
    expect(await findRefused(shop)).toMatchObject({ check: 'nonce' })
  })

  it('gets the same response for an unknown shop as for a wrong signature, except for the time', async () => {
    const shop = await createShop()
    const wrong = await send(drape.api.url, post({ ...shop, secret: 'wrong' }))
    const unknown = await send(drape.api.url, post({ domain: 'unknown.example', secret: 'wrong' }))
    const shopify = await createShop('shopify')
    const other = await send(drape.api.url, post(shopify))
    const inactive = await createShop()
    await shops.update(inactive.domain, { isActive: false })
    const closed = await send(drape.api.url, post(inactive))
    const answers = [wrong, unknown, other, closed].map(({ status, body }) => ({
      status,
      body: { ...body, details: [{ ...body.details[0], serverTime: '' }] },
    }))
    for (const answer of answers) expect(answer).toEqual(answers[0])
    expect(JSON.stringify(answers)).not.toMatch(/shop-\d|unknown\.example|secret of/)
    expect(await findRefused(null, ({ site }) => site === 'unknown.example')).toMatchObject({
      check: 'site',
      hint: 'No shop has the domain unknown.example.',
    })
    expect((await findRefused(shopify)).hint).toContain('platform is shopify')
    expect((await findRefused(inactive)).hint).toContain('not active')
  })

  it('is also recorded for Shopify app proxies and webhooks', async () => {
    const shop = await createShop('shopify')
    const query = signedByShopify({ ...shop, secret: 'wrong' })
    const path = `/public/check-credits?${query}`
    const answer = await send(drape.api.url, { method: 'GET', path, headers: [], body: '' })
    expect(answer.body.details[0].check).toBe('signature')
    expect(await findRefused(shop)).toMatchObject({
      check: 'secret',
      text: expect.stringContaining(`shop=${shop.domain}`),
    })
    const other = await createShop('shopify')
    const webhook = {
      method: 'POST',
      path: '/webhooks/shopify',
      headers: [['X-Shopify-Shop-Domain', other.domain], ['X-Shopify-Hmac-Sha256', 'wrong'], JSON_TYPE],
      body: '{}',
    } as const
    expect((await send(drape.api.url, webhook)).body.code).toBe('WEBHOOK_SIGNATURE_INVALID')
    expect((await findRefused(other)).hint).toContain('client secret of its app')
  })

  it('is shown in the dashboard with the signed text, escaped', async () => {
    const shop = await createShop()
    const hostile =
      '/public/check-credits?a=<script>alert(1)</script>&url=https://storage.example/photo&logged_in_customer_id=4711'
    await send(drape.api.url, signedByPlugin({ ...shop, secret: 'wrong' }, { path: hostile }))
    await findRefused(shop)
    const { text } = await operator.get(`/shops/${shop.id}`)
    expect(text).toContain('Refused requests of the last 24 hours')
    expect(text).toContain('another secret')
    expect(text).toContain('GET\n/public/check-credits?a=&#60;script&#62;')
    // The page shows no links, no customers and nothing that helps to forge a signature.
    expect(text).toContain('url=[hidden]')
    expect(text).not.toMatch(/<script>alert|storage\.example|4711/)
    expect(text).not.toContain(SECRET)
    await send(drape.api.url, post({ domain: 'typo.example', secret: SECRET }))
    await findRefused(null, ({ site }) => site === 'typo.example')
    expect((await operator.get('/shops')).text).toContain('No shop has the domain typo.example.')
  })

  it('is logged without links, customers or secrets', async () => {
    const shop = await createShop()
    const path = '/public/check-credits?url=https://storage.example/photo&logged_in_customer_id=4712'
    const sent = signedByPlugin({ ...shop, secret: 'wrong' }, { path })
    await send(drape.api.url, sent)
    const line = await until(async () =>
      linesOf(drape.api.output()).find(({ msg, site }) => msg === 'request of a shop refused' && site === shop.domain),
    )
    expect(line).toMatchObject({ level: 'warn', check: 'secret', shopId: shop.id, hint: expect.any(String) })
    expect(JSON.stringify(line)).not.toMatch(/storage\.example|4712/)
    expect(JSON.stringify(line)).not.toContain(SECRET)
    expect(JSON.stringify(line)).not.toContain(headerOf(sent, 'X-Drape-Signature'))
  })

  it('is recorded once for many concurrent refusals, and expires after a day', async () => {
    const shop = await createShop()
    await Promise.all(Array.from({ length: 50 }, () => send(drape.api.url, post({ ...shop, secret: 'wrong' }))))
    await findRefused(shop)
    expect((await listRefusedRequests(redis, shop)).length).toBeLessThan(4)
    expect(await redis.client.ttl(`drape:refused:${shop.id}`)).toBeGreaterThan(80_000)
  })
})
