import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createApiKeys } from '../../../../api/accounts/api-keys.store.ts'
import { UNRESTRICTED } from '../../../../api/accounts/restrictions.ts'
import { createShops } from '../../../../api/shops/shops.store.ts'
import { lastDays } from '../../../../api/storefront/events/event-analytics.store.ts'
import { type Drape, startDrape } from '../../../support/drape.ts'
import { storeVisit } from '../../../support/visits.ts'

const LOOKS = ['product_page:page_view', 'widget:button_click', 'widget:email_prompt_view']
const BUYS = [...LOOKS, 'widget:generation_start', 'widget:result_view', 'widget:add_to_cart', 'widget:email_collected']
const HEADER =
  'day,visitors,engaged,generationStarted,resultViewed,tryOnCarted,carted,orders,tryOnOrders,emailPrompted,emailCollected'
const { to: TODAY } = lastDays(1)

describe('the analytics of a merchant', () => {
  let drape: Drape
  let ownShop: string
  let foreignShop: string
  let stranger: { accountId: string; apiKey: string }

  beforeAll(async () => {
    drape = await startDrape()
    const { id, apiKey } = await drape.createAccount(0)
    stranger = { accountId: id, apiKey }
    ownShop = await createShop(drape.accountId, 'own.example')
    foreignShop = await createShop(stranger.accountId, 'foreign.example')
    await visit(drape.accountId, ownShop, 'looks', LOOKS)
    await visit(drape.accountId, ownShop, 'buys', BUYS)
    await visit(drape.accountId, null, 'app', LOOKS)
    await visit(stranger.accountId, foreignShop, 'foreign', BUYS)
  })
  afterAll(() => drape.stop())

  const createShop = async (accountId: string, domain: string) =>
    (await createShops(drape.database).insert({ accountId, platform: 'plugin', domain, secret: 'a secret of it' })).id
  const visit = (accountId: string, shopId: string | null, visitor: string, names: readonly string[]) =>
    storeVisit(drape.database, { accountId, shopId, visitor }, names)
  const ask = (query = '', key = drape.apiKey) => drape.call('GET', `/tryon/v1/analytics${query}`, { key })
  const askCsv = async (query: string) => {
    const answer = await fetch(`${drape.api.url}/tryon/v1/analytics.csv${query}`, {
      headers: { 'x-api-key': drape.apiKey },
    })
    return { headers: answer.headers, text: await answer.text() }
  }

  it('cover all its shops and apps, 14 days in UTC, with totals and rates', async () => {
    const { status, body } = await ask()
    expect(status).toBe(200)
    expect(body).toMatchObject({ timeZone: 'UTC', shop: null, ...lastDays(14) })
    expect(body.totals).toMatchObject({ visitors: 3, engaged: 3, resultViewed: 1, tryOnCarted: 1, emailCollected: 1 })
    expect(body.rates).toEqual({ cart: 1 / 3, cartAfterResult: 1, ordersAfterTryOn: null, emailCollection: 1 / 3 })
    expect(body.days).toHaveLength(14)
    expect(body.days.at(-1)).toEqual({ day: TODAY, ...body.totals })
  })

  it('can be limited to one shop, by domain in any case or by ID', async () => {
    for (const shop of ['OWN.example', ownShop]) {
      const { body } = await ask(`?shop=${shop}&from=${TODAY}&to=${TODAY}`)
      expect(body).toMatchObject({ shop: 'own.example', from: TODAY, to: TODAY, totals: { visitors: 2 } })
    }
  })

  it('never contain data of another account, and its shops are not found', async () => {
    expect((await ask('', stranger.apiKey)).body.totals).toMatchObject({ visitors: 1, resultViewed: 1 })
    const refusals = await Promise.all(
      ['foreign.example', foreignShop, 'nowhere.example'].map((shop) => ask(`?shop=${shop}`)),
    )
    for (const { status, body } of refusals) {
      expect(status).toBe(400)
      expect({ ...body, requestId: null }).toEqual({ ...refusals[2].body, requestId: null })
    }
  })

  it('are empty for a test key, which does not know the shops', async () => {
    const { key } = await createApiKeys(drape.database).insert(drape.accountId, 'secret', {
      ...UNRESTRICTED,
      isTest: true,
    })
    expect((await ask('', key)).body.totals).toMatchObject({ visitors: 0, emailCollected: 0 })
    expect((await ask('?shop=own.example', key)).body.code).toBe('VALIDATION_FAILED')
  })

  it('require the scope analytics, which allows nothing else', async () => {
    const make = async (scope: 'analytics' | 'read') =>
      (await createApiKeys(drape.database).insert(drape.accountId, 'secret', { ...UNRESTRICTED, scopes: [scope] })).key
    expect((await ask('', await make('analytics'))).status).toBe(200)
    expect((await ask('', await make('read'))).body).toMatchObject({ code: 'FORBIDDEN', status: 403 })
  })

  it.each([
    ['?from=2026-02-30', 'from'],
    ['?from=0000-01-01', 'from'],
    ['?shop=a%00', 'shop'],
    ['?to=tomorrow', 'to'],
    ['?from=2026-02-02&to=2026-02-01', 'from'],
    ['?from=2024-01-01&to=2026-01-01', 'from'],
    ['?from=2026-01-01&from=2026-01-02', 'from'],
    ['?from=2026-01-01T00:00:00Z', 'from'],
    [`?shop=${'x'.repeat(254)}`, 'shop'],
    ["?shop=' or true --", 'shop'],
  ])('refuse %s and name the parameter', async (query, path) => {
    const { body } = await ask(query)
    expect(body).toMatchObject({ code: 'VALIDATION_FAILED', details: [{ path }] })
  })

  it('are a CSV file with the fields of the days', async () => {
    const { headers, text } = await askCsv(`?shop=own.example&to=${TODAY}`)
    expect(headers.get('content-type')).toBe('text/csv; charset=utf-8')
    expect(headers.get('content-disposition')).toMatch(/^attachment; filename="analytics-own.example-[\d-]+\.csv"/)
    const lines = text.split('\r\n')
    expect(lines).toHaveLength(16)
    expect(lines[0]).toBe(HEADER)
    expect(lines.at(-2)).toBe(`${TODAY},2,2,1,1,1,1,0,0,2,1`)
  })
})
