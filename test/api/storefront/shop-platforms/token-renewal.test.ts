import { inspect } from 'node:util'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createAccounts } from '../../../../api/accounts/accounts.store.ts'
import { sql } from '../../../../api/shared/database/database.ts'
import type { Log } from '../../../../api/shared/telemetry/log.ts'
import { createShops, type NewShop } from '../../../../api/shops/shops.store.ts'
import { createShopTokens } from '../../../../api/storefront/shop-platforms/shop-tokens.store.ts'
import { createShopifyPlatform } from '../../../../api/storefront/shop-platforms/shopify.ts'
import { createShopifyAdmin } from '../../../../api/storefront/shop-platforms/shopify-admin.ts'
import { createShopifyRequest } from '../../../../api/storefront/shop-platforms/shopify-request.ts'
import { startTokenRenewal } from '../../../../api/storefront/shop-platforms/token-renewal.ts'
import { openTestDatabase } from '../../../support/postgres.ts'
import { TEST_SECRETS } from '../../../support/secrets.ts'
import { type ShopifyAdminServer, startShopifyAdmin } from '../../../support/shopify-admin.ts'
import { until } from '../../../support/until.ts'

const SHIRT = { id: 'gid://shopify/Product/1', title: 'Shirt', description: '', images: ['https://cdn.example/a.jpg'] }

describe('the token of a shop whose platform gives tokens that end', async () => {
  const { database } = await openTestDatabase({ poolSize: 8, secrets: TEST_SECRETS })
  let admin: ShopifyAdminServer
  let lines: unknown[]
  const stops: (() => Promise<void>)[] = []

  const accountId = (await createAccounts(database).insert({ name: 'Test', email: null, credits: 0, settings: {} })).id
  beforeEach(async () => {
    lines = []
    admin = await startShopifyAdmin()
    admin.products.push(SHIRT)
  })
  afterEach(async () => {
    for (const stop of stops.splice(0)) await stop()
    await admin.stop()
    await database.query(sql.unsafe`delete from shops`)
  })

  const shops = () => createShops(database)
  const tokens = () => createShopTokens(database)
  const request = createShopifyRequest({ isPlainAllowed: () => true, answerMs: 2000 })
  const open = async (settings: Partial<NewShop> = {}) => {
    const [secret] = admin.app.secrets
    const shop = { accountId, platform: 'shopify' as const, domain: 'shirts.example', adminUrl: admin.url, secret }
    return (await shops().insert({ ...shop, adminClientId: admin.app.clientId, ...settings })).id
  }
  const start = () => {
    const write = (...line: unknown[]) => void lines.push(line)
    const log: Log = { fatal: write, error: write, warn: write, info: write, debug: write, child: () => log }
    const renewal = startTokenRenewal({ tokens: tokens(), shops: shops(), request, log, idleMs: 10 })
    stops.push(renewal.stop)
  }
  const rowOf = (id: string) =>
    database.one(sql.unsafe`
      select admin_token as refresh, admin_access_token as access, admin_renew_at as renew, admin_refused_at as refused,
        extract(epoch from admin_renew_at - now())::float8 as left from shops where id = ${id}`) as Promise<{
      refresh: string | null
      access: string | null
      refused: Date | null
      left: number
    }>
  const isObtained = (id: string) => until(async () => (await rowOf(id)).access !== null)
  const isRefused = (id: string) => until(async () => (await rowOf(id)).refused !== null)
  const makeDue = (id: string) => database.query(sql.unsafe`update shops set admin_renew_at = now() where id = ${id}`)
  const findProduct = async (id: string) => {
    const shop = await shops().findOpen(id)
    if (shop === null) throw new Error('no shop')
    const platform = createShopifyPlatform(createShopifyAdmin({ request, tokens: tokens() }))
    return platform.findProduct(shop, SHIRT.id, null)
  }
  const UNAVAILABLE = { code: 'SERVICE_UNAVAILABLE', retryable: true }

  it('is obtained with client ID and secret, is stored encrypted, and finds products', async () => {
    const id = await open()
    await expect(findProduct(id)).rejects.toMatchObject(UNAVAILABLE)
    start()
    await isObtained(id)
    expect(await findProduct(id)).toMatchObject({ title: 'Shirt' })
    const { access, left } = await rowOf(id)
    expect(access).not.toContain(admin.token)
    // A tenth of a day is left.
    expect(left / admin.app.seconds).toBeCloseTo(0.9, 2)
    expect(admin.grants).toEqual([
      { client_id: 'client-1', client_secret: 'a secret of the app', grant_type: 'client_credentials' },
    ])
  })

  it('is obtained once by several processes, and is in use until its successor is stored', async () => {
    const id = await open()
    start()
    await isObtained(id)
    const first = admin.token
    let used: string | undefined
    admin.before = async (what) => {
      if (what === 'grant') used = (await tokens().find((await shops().findOpen(id)) as never))?.token
    }
    for (let i = 0; i < 4; i++) start()
    await makeDue(id)
    await until(async () => (await rowOf(id)).left > 3600)
    expect(admin.grants).toHaveLength(2)
    expect(used).toBe(first)
    expect(await findProduct(id)).not.toBeNull()
  })

  it('is obtained with the secret that the platform accepts while one replaces another', async () => {
    const id = await open()
    await shops().addSecret(id, 'a secret of tomorrow')
    start()
    await isObtained(id)
    expect(admin.grants.map(({ client_secret: secret }) => secret)).toEqual([
      'a secret of tomorrow',
      'a secret of the app',
    ])
  })

  it('is renewed with a refresh token, which each answer replaces', async () => {
    admin.app.refreshToken = 'shprt_1'
    const id = await open({ adminToken: 'shprt_1' })
    start()
    await isObtained(id)
    expect((await shops().findOpen(id))?.adminToken).toBe('shprt_1+')
    expect((await rowOf(id)).refresh).not.toContain('shprt')
    await makeDue(id)
    await until(async () => (await shops().findOpen(id))?.adminToken === 'shprt_1++')
    expect(await findProduct(id)).not.toBeNull()
  })

  it('is not lost with an answer that was not stored: the next attempt uses the same refresh token', async () => {
    admin.app.refreshToken = 'shprt_1'
    const id = await open({ adminToken: 'shprt_1' })
    const [due] = await tokens().claimDue({ limit: 1, leaseSeconds: 60 })
    // Of a process that is killed between the answer and its storage.
    const body = { client_id: 'client-1', client_secret: admin.app.secrets[0], grant_type: 'refresh_token' }
    const shop = await shops().findOpen(id)
    await request(shop as never, { path: '/admin/oauth/access_token', body: { ...body, refresh_token: 'shprt_1' } })
    expect(await tokens().claimDue({ limit: 1, leaseSeconds: 60 })).toEqual([])
    await makeDue(id)
    start()
    await isObtained(id)
    expect(await findProduct(id)).not.toBeNull()
    // The answer that comes too late replaces nothing.
    await tokens().keep(due, { accessToken: 'late', seconds: 60, refreshToken: 'late' })
    expect((await shops().findOpen(id))?.adminToken).toBe('shprt_1+')
  })

  it('that the API refuses is obtained again once, however many calls were refused', async () => {
    const id = await open()
    start()
    await isObtained(id)
    for (const stop of stops.splice(0)) await stop()
    admin.token = 'revoked'
    const refused = await Promise.allSettled([1, 2, 3].map(() => findProduct(id)))
    expect(refused).toMatchObject(refused.map(() => ({ reason: UNAVAILABLE })))
    start()
    await until(() => findProduct(id).catch(() => null))
    expect(admin.grants).toHaveLength(2)
    expect(await rowOf(id)).toMatchObject({ refused: null })
  })

  it('is obtained again later, and is marked, while the API accepts none that it obtains', async () => {
    const id = await open()
    start()
    for (const count of [1, 2]) {
      await until(() => admin.grants.length === count)
      await isObtained(id)
      admin.mishaps.push({ status: 401 })
      await expect(findProduct(id)).rejects.toMatchObject(UNAVAILABLE)
    }
    const { left, ...row } = await rowOf(id)
    expect(row).toMatchObject({ access: null, refused: expect.anything() })
    expect(left).toBeGreaterThan(50)
    expect(left).toBeLessThan(61)
  })

  it.each<[string, Partial<NewShop>, string]>([
    ['client', { adminClientId: 'another' }, 'invalid_client'],
    ['secret', { secret: 'of another app' }, 'invalid_client'],
    ['refresh token', { adminToken: 'shprt_old' }, 'invalid_grant'],
  ])('is marked as refused with a wrong %s until it is obtained with other settings', async (_, wrong, code) => {
    const id = await open(wrong)
    start()
    await isRefused(id)
    expect(await tokens().measureRefused()).toBeGreaterThanOrEqual(0)
    expect(String((lines[0] as [{ err: Error }])[0].err)).toContain(`answered 400 (${code})`)
    expect(JSON.stringify(lines)).not.toMatch(/of another app|shprt_old|a secret of the app/)
    await expect(findProduct(id)).rejects.toMatchObject(UNAVAILABLE)
    if (wrong.secret !== undefined) await shops().addSecret(id, admin.app.secrets[0])
    else await shops().update(id, { adminClientId: admin.app.clientId, adminToken: null })
    await isObtained(id)
    expect(await rowOf(id)).toMatchObject({ refused: null })
    expect(await tokens().measureRefused()).toBeNull()
  })

  it.each([
    [10, 60],
    [3600, 720],
    [86_400, 3600],
  ])('that was refused for %i s is tried again in %i s', async (age, seconds) => {
    const id = await open()
    const [due] = await tokens().claimDue({ limit: 1, leaseSeconds: 60 })
    await database.query(sql.unsafe`
      update shops set admin_refused_at = now() - make_interval(secs => ${age}) where id = ${id}`)
    await tokens().retryLater(due, { isRefused: true })
    expect(Math.abs((await rowOf(id)).left - seconds)).toBeLessThan(5)
  })

  it('is refused, and not logged, with characters that no header can contain', async () => {
    const id = await open()
    admin.mishaps.push({ status: 400, body: '{"error":"an_echoed_SECRET"}' })
    admin.before = () => {
      admin.token = 'tok\nen-SECRET'
    }
    start()
    await isRefused(id)
    await makeDue(id)
    await until(async () => lines.length === 2 || (await rowOf(id)).access !== null)
    expect(await rowOf(id)).toMatchObject({ access: null })
    expect(String((lines[1] as [{ err: Error }])[0].err)).toContain('unexpected shape of a token')
    expect(inspect(lines, { depth: null })).not.toContain('SECRET')
    await expect(shops().update(id, { adminToken: admin.token })).rejects.toMatchObject({ code: 'VALIDATION_FAILED' })
  })

  it('is not marked, and stays in use, while the platform is away', async () => {
    const id = await open()
    start()
    await isObtained(id)
    admin.mishaps.push({ status: 503 })
    await makeDue(id)
    await until(async () => admin.mishaps.length === 0 && (await rowOf(id)).left < 61)
    expect(await rowOf(id)).toMatchObject({ refused: null })
    expect(await findProduct(id)).not.toBeNull()
  })

  it('goes to no other address and no other app: a change of either forgets it, the same value does not', async () => {
    const id = await open()
    start()
    await isObtained(id)
    const { access } = await rowOf(id)
    await shops().update(id, { adminUrl: admin.url, adminClientId: admin.app.clientId, name: 'The same' })
    expect(await rowOf(id)).toMatchObject({ access })
    expect(admin.grants).toHaveLength(1)
    for (const stop of stops.splice(0)) await stop()
    const old = await shops().findOpen(id)
    await shops().update(id, { adminUrl: `${admin.url}/` })
    expect(await rowOf(id)).toMatchObject({ access: null })
    start()
    await isObtained(id)
    expect(await tokens().find((await shops().findOpen(id)) as never)).toMatchObject({ token: admin.token })
    expect(await tokens().find(old as never)).toBeNull()
  })

  it('of a shop with an endless token is marked by a refusal, and by the next success no more', async () => {
    const id = await open({ adminClientId: null, adminToken: 'revoked' })
    start()
    await expect(findProduct(id)).rejects.toMatchObject(UNAVAILABLE)
    await isRefused(id)
    admin.token = 'revoked'
    expect(await findProduct(id)).not.toBeNull()
    expect(await rowOf(id)).toMatchObject({ refused: null, access: null })
    expect(admin.grants).toEqual([])
  })

  it.each<Partial<NewShop>>([{ adminToken: 'another' }, { adminClientId: 'client-1' }])(
    'is not marked by the late refusal of an endless token before %o',
    async (changes) => {
      const id = await open({ adminClientId: null, adminToken: 'revoked' })
      const old = await shops().findOpen(id)
      const access = await tokens().find(old as never)
      await shops().update(id, changes)
      await tokens().refuse(old as never, access as never)
      expect(await rowOf(id)).toMatchObject({ refused: null })
    },
  )
})
