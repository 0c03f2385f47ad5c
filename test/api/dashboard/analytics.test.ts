import { afterAll, describe, expect, it } from 'vitest'
import { startDashboard } from '../../support/dashboard.ts'
import { fillDashboard } from '../../support/dashboard-contents.ts'
import { storeVisit } from '../../support/visits.ts'

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

  it('are not found for a shop that does not exist', async () => {
    expect((await browser.get('/shops/shop_missing/analytics')).status).toBe(404)
    expect((await browser.get('/shops/shop_missing/analytics.csv')).status).toBe(404)
  })

  function visit(shopId: string, visitor: string, names: readonly string[]) {
    return storeVisit(dashboard.database, { accountId: contents.accountId, shopId, visitor }, names)
  }
})
