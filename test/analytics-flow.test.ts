import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Browser, Page } from 'puppeteer-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createShops } from '../api/shops/shops.store.ts'
import { browserReason, startBrowser } from './support/browser.ts'
import { type Drape, startDrape } from './support/drape.ts'
import { inspectLooks } from './support/page-looks.ts'
import { until } from './support/until.ts'
import { storeVisit } from './support/visits.ts'

const BUYS = [
  ...['product_page:page_view', 'widget:button_click', 'widget:email_prompt_view', 'widget:generation_start'],
  ...['widget:result_view', 'widget:add_to_cart'],
]
if (browserReason) console.warn(`The page of analytics is not opened: ${browserReason}`)

describe.skipIf(browserReason)('the analytics page', () => {
  let drape: Drape
  let browser: Browser
  let page: Page
  let folder: string
  const problems: string[] = []

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'drape-analytics-'))
    drape = await startDrape()
    const shop = { accountId: drape.accountId, platform: 'plugin', domain: 'own.example', secret: 'of it' } as const
    const { id } = await createShops(drape.database).insert(shop)
    await storeVisit(drape.database, { accountId: drape.accountId, shopId: id, visitor: 'one' }, BUYS)
    await storeVisit(drape.database, { accountId: drape.accountId, shopId: null, visitor: 'two' }, BUYS.slice(0, 2))
    browser = await startBrowser()
    page = await browser.newPage()
    page.on('pageerror', (error) => problems.push(String(error)))
    page.on('console', (message) => message.type() === 'error' && problems.push(message.text()))
    await page.goto(`${drape.api.url}/analytics`)
  })
  afterAll(async () => {
    await browser?.close()
    await drape?.stop()
    await rm(folder, { recursive: true, force: true })
  })

  const text = (selector: string) => page.$eval(selector, ({ textContent }) => textContent ?? '')
  const rows = (id: string) =>
    page.$$eval(`#${id} tr`, (found) => found.map((row) => [...row.children].map((cell) => cell.textContent)))
  const statusIncludes = (part: string) =>
    page.waitForFunction(`document.querySelector('#said').textContent.includes('${part}')`)
  const enter = async (key: string) => {
    await page.type('#key', key)
    await page.click('#key-form button')
  }

  it('explains why a key is refused, and asks for another key', async () => {
    await enter('sk_wrong')
    await page.waitForSelector('#problem:not([hidden])')
    expect(await text('#problem')).toContain('This key does not work')
    expect(await page.$('#key-form:not([hidden])')).not.toBeNull()
    problems.length = 0
  })

  it('shows funnel, rates and days of all shops, and of one shop', async () => {
    await enter(drape.apiKey)
    await statusIncludes('All shops')
    expect((await rows('funnel'))[0]).toEqual(['Widget used', '2', '100.0 %'])
    expect((await rows('rates'))[0]).toEqual(['Cart, of visitors of product pages', '1', '2', '50.0 %'])
    expect(await rows('days')).toHaveLength(14)
    expect(await inspectLooks(page, { name: 'analytics' })).toEqual([])
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(390)
    await page.type('#shop', 'own.example')
    await page.click('#range button')
    await statusIncludes('own.example')
    expect((await rows('funnel'))[0]).toEqual(['Widget used', '1', '100.0 %'])
  })

  it('downloads the days as CSV', async () => {
    const session = await page.createCDPSession()
    await session.send('Browser.setDownloadBehavior', { behavior: 'allow', downloadPath: folder })
    await page.click('#download')
    const name = await until(async () => (await readdir(folder)).find((file) => file.endsWith('.csv')))
    const lines = (await readFile(join(folder, name), 'utf8')).trimEnd().split('\r\n')
    expect([name, lines.length, lines[0].slice(0, 12)]).toEqual(['analytics-own.example.csv', 15, 'day,visitors'])
  })

  it('names the invalid field, and logs no other error', async () => {
    expect(problems).toEqual([])
    await page.type('#shop', '.nowhere')
    await page.click('#range button')
    await page.waitForSelector('#problem:not([hidden])')
    expect(await text('#problem')).toContain('shop: must be the domain or the ID of a shop of the account')
  })
})
