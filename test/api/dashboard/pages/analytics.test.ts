import { afterAll, describe, expect, it } from 'vitest'
import { createRetention } from '../../../../api/shared/retention/retention.store.ts'
import { createShops } from '../../../../api/shops/shops.store.ts'
import { createEvents } from '../../../../api/storefront/events/events.store.ts'
import { isHeldOut } from '../../../../api/storefront/events/holdout.ts'
import { recordServerEvents } from '../../../../api/storefront/events/server-events.ts'
import { startDashboard } from '../../../support/dashboard.ts'
import { fillDashboard } from '../../../support/dashboard-contents.ts'
import { storeVisit } from '../../../support/visits.ts'

describe('the analytics of a shop', async () => {
  const dashboard = await startDashboard()
  const browser = await dashboard.signIn()
  const contents = await fillDashboard(dashboard, 'Analytics')
  const page = `/shops/${contents.shopId}/analytics`
  const looks = ['product_page:page_view', 'widget:button_click', 'widget:email_prompt_view']
  await visit(contents.shopId, 'looks', looks)
  await visit(contents.shopId, 'buys', [
    ...looks,
    'widget:generation_start',
    'widget:result_view',
    'widget:add_to_cart',
  ])
  await visit('shop_other', 'is elsewhere', looks)
  afterAll(() => dashboard.stop())

  it('show the funnel and the rates of the requested days', async () => {
    const { text } = await browser.get(`/shops/${contents.shopId}`)
    expect(text).toContain(`href="${page}"`)
    // Cancelled and refused ones too: what the limits count.
    expect(text).toContain('<dt>Attempts without a result</dt>')
    const { text: shown } = await browser.get(`${page}?span=week`)
    const cells = [...shown.matchAll(/<td class="(?:text|number)"[^>]*>([^<]*)<\/td>/g)].map(([, cell]) => cell)
    expect(cells.slice(0, 12)).toEqual([
      ...['Widget used', '2', '100.0 %', 'Try-on started', '1', '50.0 %'],
      ...['Result seen', '1', '50.0 %', 'Cart after result', '1', '50.0 %'],
    ])
    expect(cells.slice(12, 16)).toEqual(['Cart, of visitors of product pages', '1', '2', '50.0 %'])
  })

  it('are a file with a header row and a row for each day', async () => {
    const { text, headers } = await browser.get(`${page}.csv?span=quarter`)
    expect(headers.get('content-disposition')).toMatch(/^attachment; filename="analytics-shop-.*\.csv"/)
    const lines = text.trimEnd().split('\r\n')
    expect(lines).toHaveLength(91)
    expect(lines[0]).toBe(
      'day,visitors,engaged,generationStarted,resultViewed,tryOnCarted,carted,orders,tryOnOrders,emailPrompted,emailCollected',
    )
    expect(lines.at(-1)).toBe(`${new Date().toISOString().slice(0, 10)},2,2,1,1,1,1,0,0,2,0`)
    expect(lines[1]).toMatch(/^\d{4}-\d\d-\d\d(,0){10}$/)
  })

  describe('with a holdout', () => {
    const shopPage = `/shops/${contents.shopId}`
    const setShare = (holdoutPercent: string) => browser.submit(shopPage, shopPage, { holdoutPercent })
    const accountId = contents.accountId
    /** The sentence, and the cells of both groups without their names: visitors, saw the button, bought, share. */
    const read = async (shopId = contents.shopId) => {
      const { text } = await browser.get(`/shops/${shopId}/analytics`)
      const [, shown = ''] = /<h2>With and without the button<\/h2>(.*?)<\/section>/s.exec(text) ?? []
      return {
        told: /<strong>(.*?)<\/strong>/.exec(shown)?.[1],
        cells: [...shown.matchAll(/<td class="number"[^>]*>([^<]*)<\/td>/g)].map(([, cell]) => cell),
      }
    }
    /** Visitors of a group who come with these events. */
    async function come(isHeld: boolean, count: number, names: readonly string[], shopId = contents.shopId) {
      const all = Array.from({ length: count * 4 + 40 }, (_, i) => `anon_${names.length}-${shopId.slice(-5)}-${i}`)
      const group = all.filter((visitor) => isHeldOut(shopId, visitor, 50) === isHeld).slice(0, count)
      for (const visitor of group) await storeVisit(dashboard.database, { accountId, shopId, visitor }, names)
      return group
    }
    const order = (shopId: string, anonymousId: string, insertId = `order ${anonymousId}`) =>
      recordServerEvents(createEvents(dashboard.database), { accountId, shopId }, [
        { name: 'order:created', insertId, happenedAt: new Date(), customerId: null, anonymousId, properties: {} },
      ])
    let buyers: string[] = []
    const [LOOK, SEE, ADD] = ['product_page:page_view', 'widget:button_view', 'product_page:cart_add']

    it('compare nothing without one, and refuse a share above 50 %', async () => {
      await setShare('0')
      expect((await read()).told).toBe(undefined)
      expect((await setShare('51')).status).toBe(400)
      await setShare('50')
      // No visitor came since.
      expect(await read()).toEqual({
        told: 'No difference can be told yet.',
        cells: ['0', '0', '0', '–', '0', '0', '0', '–'],
      })
    })

    it('count visitors of both groups and tell the difference, from the same groups as the widget', async () => {
      await come(true, 95, [LOOK])
      await come(true, 5, [LOOK, ADD])
      await come(false, 70, [LOOK, SEE, LOOK])
      buyers = await come(false, 30, [LOOK, SEE, 'widget:button_click', ADD])
      // Neither a repeated event nor a purchase without a visit nor an order counts, but the visit of who claims it.
      await storeVisit(dashboard.database, { accountId, shopId: contents.shopId, visitor: buyers[0] }, [LOOK, SEE, ADD])
      await come(true, 10, [ADD, ADD, ADD, ADD, ADD])
      await come(true, 1, ['order:created', 'order:created', 'order:created', 'order:created', 'order:created', LOOK])
      expect(await read()).toEqual({
        // 30 of 100 against 5 of 101, computed apart.
        told: 'Of shoppers with the button, 14.89 to 35.04 percentage points more add to the cart (95 % interval).',
        cells: ['100', '100', '30', '30.0 %', '101', '0', '5', '5.0 %'],
      })
    })

    it('do not count visitors of another shop or account, and nobody twice', async () => {
      const before = await read()
      const [visitor] = await come(false, 1, [LOOK, SEE, ADD], 'shop_other')
      await storeVisit(dashboard.database, { accountId: 'acc_other', shopId: contents.shopId, visitor }, [LOOK, ADD])
      expect(await read()).toEqual(before)
    })

    it('forget erased visitors, in both counts', async () => {
      const { anonymiseEvents } = createRetention(dashboard.database)
      await anonymiseEvents({ accountId, externalUserId: `${contents.shopId}:browser:${buyers[0]}` })
      expect((await read()).cells.slice(0, 3)).toEqual(['99', '99', '29'])
    })

    it('start again when the share changes, without visitors from before, and not when another setting changes', async () => {
      await browser.submit(shopPage, shopPage, { name: 'Another name' })
      expect((await read()).cells[0]).toBe('99')
      await setShare('40')
      expect((await read()).cells).toEqual(['0', '0', '0', '–', '0', '0', '0', '–'])
      const returning = await come(false, 1, [LOOK, LOOK, LOOK, LOOK, LOOK, LOOK, LOOK])
      await setShare('50')
      await storeVisit(dashboard.database, { accountId, shopId: contents.shopId, visitor: returning[0] }, [
        ...[LOOK, LOOK, LOOK, LOOK, LOOK, LOOK, LOOK, LOOK],
      ])
      expect((await read()).cells[0]).toBe('0')
    })

    it('count orders that name their browser where the platform reports them', async () => {
      const shop = { accountId, platform: 'shopify' as const, domain: 'holdout.myshopify.com', holdoutPercent: 50 }
      const { id } = await createShops(dashboard.database).insert(shop)
      const [visitor, other] = await come(false, 20, [LOOK, SEE, ADD], id)
      const held = await come(true, 20, [LOOK], id)
      for (const one of [visitor, other, ...held.slice(0, 7), 'anon_never-came']) await order(id, one)
      await order(id, visitor, 'a second order')
      // A browser claims it.
      await come(true, 1, [LOOK, 'order:created'], id)
      expect(await read(id)).toEqual({
        told: 'No difference can be told yet.',
        cells: ['20', '20', '2', '10.0 %', '21', '0', '7', '33.3 %'],
      })
      for (const one of held.slice(7)) await order(id, one)
      const more = await come(false, 12, [LOOK, SEE, LOOK, LOOK], id)
      for (const one of more.slice(0, 3)) await order(id, one)
      expect((await read(id)).told).toMatch(
        /^Of shoppers with the button, \d+\.\d\d to \d+\.\d\d percentage points fewer buy /,
      )
    })
  })

  it('are not found for a shop that does not exist', async () => {
    expect((await browser.get('/shops/shop_missing/analytics')).status).toBe(404)
    expect((await browser.get('/shops/shop_missing/analytics.csv')).status).toBe(404)
  })

  function visit(shopId: string, visitor: string, names: readonly string[]) {
    return storeVisit(dashboard.database, { accountId: contents.accountId, shopId, visitor }, names)
  }
})
