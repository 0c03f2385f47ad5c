import { createServer } from 'node:http'
import { afterAll, describe, expect, it } from 'vitest'
import { createRepeatedAnswers } from '../../../../api/http/answers/repeated-answers.ts'
import { createApp } from '../../../../api/http/app.ts'
import { mount } from '../../../../api/http/mount.ts'
import type { AppState } from '../../../../api/http/state.ts'
import { createLog } from '../../../../api/shared/telemetry/log.ts'
import { createMetrics } from '../../../../api/shared/telemetry/metrics.ts'
import { createShops } from '../../../../api/shops/shops.store.ts'
import { isHeldOut } from '../../../../api/storefront/events/holdout.ts'
import { checkCreditsRoutes } from '../../../../api/storefront/shops/check-credits.routes.ts'
import { startDrape } from '../../../support/drape.ts'
import { createDevelopmentShop } from '../../../support/shop.ts'
import { pathSignedByShopify, send, signedByPlugin } from '../../../support/shop-proxies.ts'
import { UNLIMITED } from '../../../support/unlimited.ts'

const SHOP = { domain: 'real.myshopify.com', secret: 'hush' }
const PLUGIN = { domain: 'plugin.test', secret: 'hush' }
const PATH = '/public/check-credits'

describe('a cached response', async () => {
  const drape = await startDrape()
  const { accountId } = drape
  await createShops(drape.database).insert({ accountId, platform: 'shopify', ...SHOP })
  await createShops(drape.database).insert({ accountId, platform: 'plugin', ...PLUGIN })
  afterAll(() => drape.stop())

  const ask = async (path: string, headers: Record<string, string> = {}, method = 'GET') => {
    const answer = await fetch(`${drape.api.url}${path}`, { method, headers })
    const { date: _, 'x-request-id': requestId, ...rest } = Object.fromEntries(answer.headers)
    return { status: answer.status, body: await answer.json(), headers: rest, requestId }
  }

  it('is the same for a second request, except for the request ID', async () => {
    const path = pathSignedByShopify(PATH, SHOP)
    const [first, second, third] = [await ask(path), await ask(path), await ask(path, { 'x-request-id': 'mine' })]
    expect(first).toMatchObject({ status: 200, body: { allowed: true } })
    expect(second).toEqual({ ...first, requestId: expect.stringMatching(/^req_/) })
    expect(second.requestId).not.toBe(first.requestId)
    expect(third).toEqual({ ...first, requestId: 'mine' })
    expect(first.headers).toMatchObject({
      'access-control-allow-origin': '*',
      'cache-control': 'private, max-age=120',
      'content-type': 'application/json; charset=utf-8',
    })
  })

  it('is counted like any other', async () => {
    const count = async () => {
      const text = await (await fetch(`${drape.api.probeUrl}/metrics`)).text()
      const line = text.match(/^drape_http_requests_total\{.*check-credits.*status="200".*\} (\d+)$/m)
      return Number(line?.[1] ?? 0)
    }
    const path = pathSignedByShopify(PATH, SHOP, [['logged_in_customer_id', '9']])
    const before = await count()
    for (let i = 0; i < 5; i++) await ask(path)
    expect((await count()) - before).toBe(5)
  })

  it('is returned for the identical URL only', async () => {
    const path = pathSignedByShopify(PATH, SHOP, [['logged_in_customer_id', '1']])
    expect((await ask(path)).status).toBe(200)
    const refused = { status: 401, body: { code: 'PROXY_SIGNATURE_INVALID' } }
    for (const other of [
      path.replace('customer_id=1', 'customer_id=2'),
      path.replace(/.$/, (last) => (last === '0' ? '1' : '0')),
      `${path}&extra=1`,
      path.replace(PATH, `${PATH}/`).replace('real', 'other'),
      PATH,
    ]) {
      expect(await ask(other)).toMatchObject(refused)
    }
    expect((await ask(path, {}, 'POST')).status).toBe(405)
  })

  it('is not returned to callers with another authentication', async () => {
    const path = pathSignedByShopify(PATH, SHOP, [['logged_in_customer_id', '3']])
    expect((await ask(path)).status).toBe(200)
    expect((await ask(path, { 'x-drape-signature': 'a' })).status).toBe(401)
    expect((await ask(path, { 'x-drape-shop': 'nobody.test' })).status).toBe(401)
  })

  it('is not cached for an unsigned URL', async () => {
    const shop = await createDevelopmentShop(drape)
    for (let i = 0; i < 2; i++) expect((await ask(PATH, shop.headers)).status).toBe(200)
    expect((await ask(PATH)).status).toBe(401)
    const signed = signedByPlugin(PLUGIN, { path: `${PATH}?a=1` })
    expect((await send(drape.api.url, signed)).status).toBe(200)
    // The nonce was used.
    expect((await send(drape.api.url, signed)).status).toBe(401)
    expect((await ask(`${PATH}?a=1`)).status).toBe(401)
  })

  it('is not cached for a shop with a holdout, whose visitors get different ones', async () => {
    const shop = { domain: 'compares.myshopify.com', secret: 'hush', holdoutPercent: 50 }
    const { id } = await createShops(drape.database).insert({ accountId, platform: 'shopify', ...shop })
    const visitors = Array.from({ length: 30 }, (_, i) => `anon_${i}`)
    const path = pathSignedByShopify(PATH, shop)
    expect((await ask(path)).body).toEqual({ allowed: true, outfits: true })
    for (const isHeld of [true, false]) {
      const visitor = visitors.find((one) => isHeldOut(id, one, 50) === isHeld) ?? ''
      const { body } = await ask(path, { 'x-service-anonymous-id': visitor })
      expect(body).toEqual({ allowed: true, outfits: true, holdout: isHeld })
    }
  })

  it('is evicted after 3 seconds', async () => {
    let time = 0
    let looks = 0
    const found = await createShops(drape.database).find(SHOP.domain)
    const enter = (ctx: { state: AppState }, next: () => Promise<unknown>) => {
      looks++
      Object.assign(ctx.state, found, { shopper: { customerId: null, anonymousId: 'anon_a', addressHash: '' } })
      return next()
    }
    const metrics = createMetrics('test')
    const repeated = createRepeatedAnswers({ metrics, now: () => time })
    const parts = {
      fromShop: enter,
      budgets: UNLIMITED,
      isAllowed: async () => true,
      offersOutfits: async () => false,
      keepAnswer: repeated.keep,
    }
    const routes = [mount(checkCreditsRoutes, parts)]
    const app = createApp({ log: createLog({ process: 'test', level: 'silent' }), metrics, routes })
    const server = createServer(repeated.before(app.callback())).listen(0, '127.0.0.1')
    await new Promise((resolve) => server.once('listening', resolve))
    const address = server.address()
    const url = `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}${PATH}`
    const looksAt = async (ms: number) => {
      time = ms
      expect(await (await fetch(url)).json()).toEqual({ allowed: true })
      return looks
    }
    expect([await looksAt(0), await looksAt(1), await looksAt(2999), await looksAt(3000), await looksAt(5999)]).toEqual(
      [1, 1, 1, 2, 2],
    )
    server.close()
  })

  it('is not cached for errors', async () => {
    const path = pathSignedByShopify(PATH, { ...SHOP, domain: 'nobody.myshopify.com' })
    for (let i = 0; i < 2; i++) expect((await ask(path)).status).toBe(401)
  })
})
