import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Browser, Page } from 'puppeteer-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createAccounts } from '../api/accounts/accounts.store.ts'
import { sql } from '../api/shared/database/database.ts'
import { decodeImage } from '../api/shared/image/image.ts'
import { createShops } from '../api/shops/shops.store.ts'
import { browserReason, startBrowser } from './support/browser.ts'
import { storageOf } from './support/completed.ts'
import { type Drape, formOf, readSample, startDrape } from './support/drape.ts'
import { inspectLooks } from './support/page-looks.ts'
import { type ShopProxy, startShopProxy } from './support/shop-proxy-server.ts'
import { until } from './support/until.ts'

const PRODUCT_ID = 'gid://shopify/Product/1001'
const PHOTO = new URL('../scripts/samples/persons/down-half-teal.jpg', import.meta.url).pathname
if (browserReason) console.warn(`The walk through a shop is skipped: ${browserReason}`)

describe.skipIf(browserReason)(`a shopper in a browser${browserReason && ` (skipped: ${browserReason})`}`, () => {
  let drape: Drape
  let proxy: ShopProxy
  let browser: Browser
  let page: Page
  let downloads: string
  let shopId: string
  const browserErrors: string[] = []

  beforeAll(async () => {
    downloads = await mkdtemp(join(tmpdir(), 'drape-downloads-'))
    drape = await startDrape({ env: { PROXY_HOPS: '1' }, defaultEngines: true })
    await drape.startWorker()
    const shop = { platform: 'shopify', domain: 'linen-house.myshopify.com', name: 'The Linen House' } as const
    const { id } = await createShops(drape.database).insert({
      accountId: drape.accountId,
      ...shop,
      extraDomains: ['shop.localhost'],
      requiresConsent: false,
      secret: 'hush',
    })
    shopId = id
    const product = {
      externalId: PRODUCT_ID,
      title: 'Mustard T-shirt',
      images: [{ source: { fileKey: 'shirt' }, classifications: { type: 'flat_lay' } }],
    }
    const shirt = await readSample('garments/tshirt-mustard.jpg')
    expect((await drape.call('POST', '/tryon/v1/products', { body: formOf(product, { shirt }) })).status).toBe(200)
    proxy = await startShopProxy({ apiUrl: drape.api.url, shop: shop.domain, secret: 'hush', customerId: '42' })
    browser = await startBrowser()
    page = await openPage()
    await page.goto(proxy.url)
  })
  afterAll(async () => {
    await browser?.close()
    await proxy?.stop()
    await drape?.stop()
    await rm(downloads, { recursive: true, force: true })
  })

  it('uploads a photo straight to the API and sees it', async () => {
    const input = await page.waitForSelector('#photo')
    await (input as Awaited<ReturnType<typeof page.waitForSelector<'input'>>>)?.uploadFile(PHOTO)
    await reach('uploaded')
    const { width, height } = await sizeOf('#preview')
    // The person-aware crop.
    expect(width / height).toBeCloseTo(4 / 5, 2)
    const image = await drape.database.one(sql.unsafe`select account_id, external_user_id from images`)
    expect(image).toEqual({ account_id: drape.accountId, external_user_id: `${shopId}:customer:42` })
  })

  it('tries the product on and sees the shirt on the photo', async () => {
    await page.click('#try')
    await reach('tried')
    const { result_key: key, ...generation } = await findGeneration()
    expect(generation).toMatchObject({ status: 'COMPLETED', shop_id: shopId, product_external_id: PRODUCT_ID, cost: 1 })
    const result = await decodeImage(await readResult(key))
    expect(await sizeOf('#result')).toEqual({ width: result.width, height: result.height })
    // The middle of the chest: teal before, mustard now, as the browser itself shows it.
    const [red, green, blue] = await chestOf('result')
    expect(red).toBeGreaterThan(blue + 40)
    const before = await chestOf('preview')
    expect(before[2]).toBeGreaterThan(before[0])
    expect(green).toBeGreaterThan(blue)
    expect(await drape.balance()).toBe(19)
  })

  it('shares a page that shows the result, loads nothing else and links to the shop', async () => {
    await page.click('#share')
    await reach('shared')
    const link = (await page.$eval('#link', (output) => output.textContent)) ?? ''
    const shared = await openPage()
    const requested: string[] = []
    shared.on('request', (request) => requested.push(request.url()))
    const answer = await shared.goto(link, { waitUntil: 'networkidle0' })
    expect(answer?.status()).toBe(200)
    expect(await shared.title()).toBe('Mustard T-shirt – The Linen House')
    expect(await shared.$eval('.visit', (a) => a.getAttribute('href'))).toBe('https://shop.localhost/')
    expect(await sizeOf('main img', shared)).toEqual(await sizeOf('#result'))
    expect(requested.filter((url) => !url.startsWith('data:'))).toHaveLength(2)
    expect(await inspectLooks(shared, { name: 'share' })).toEqual([])
    expect(await widthOf(shared)).toBeLessThanOrEqual(390)
    await shared.close()
  })

  it('downloads the result under the product title', async () => {
    await page.click('#download')
    await reach('downloaded')
    const name = await until(async () => (await readdir(downloads)).find((file) => file.endsWith('.jpg')))
    expect(name).toBe('Drape - Your Try On - Mustard T-shirt.jpg')
    const { result_key: key } = await findGeneration()
    expect((await readFile(join(downloads, name))).equals(await readResult(key))).toBe(true)
  })

  it('leaves an e-mail address', async () => {
    await page.type('#email', 'grace@shopper.example')
    await page.click('#lead button')
    await reach('known')
    const lead = await until(() =>
      drape.database.maybeOne(sql.unsafe`select shop_id, email, marketing_consent, segments from leads`),
    )
    expect(lead).toEqual({
      shop_id: shopId,
      email: 'grace@shopper.example',
      marketing_consent: true,
      segments: ['Widget Leads'],
    })
  })

  it('is recorded with each event once, as the customer that the proxy signed', async () => {
    await page.click('#cart')
    await reach('bought')
    const events = await drape.database.any(sql.unsafe`
      select name, customer_id, customer_signed, shop_id, product_id from event_details order by happened_at, name`)
    expect(events.map((event) => (event as { name: string }).name).toSorted()).toEqual(
      [
        'product_page:page_view',
        'widget:add_to_cart_clicked',
        'widget:add_to_cart_success',
        'widget:button_view',
        'widget:download_clicked',
        'widget:email_collected',
        'widget:email_prompt_view',
        'widget:generation_start',
        'widget:image_upload',
        'widget:image_upload_success',
        'widget:result_view',
        'widget:share_clicked',
      ].toSorted(),
    )
    for (const event of events) {
      expect(event).toMatchObject({
        customer_id: '42',
        customer_signed: true,
        shop_id: shopId,
        product_id: PRODUCT_ID,
      })
    }
  })

  it('has an accessible page that causes no browser error', async () => {
    expect(await inspectLooks(page, { name: 'shop-proxy' })).toEqual([])
    expect(browserErrors).toEqual([])
  })

  it('can be reported by a headless shop from another origin with a publishable key', async () => {
    const key = await createAccounts(drape.database).insertKey(drape.accountId, 'publishable')
    const insertId = 'from-a-headless-shop'
    const answer = await fetchInPage('/storefront/v1/events', {
      method: 'POST',
      headers: {
        authorization: `Bearer ${key}`,
        'content-type': 'application/json',
        'x-service-anonymous-id': 'anon_headless',
        'x-service-customer-id': '7',
      },
      body: JSON.stringify({
        events: [{ event: 'widget:button_click', timestamp: new Date().toISOString(), $insert_id: insertId }],
        context: {
          anonymous_id: 'anon_headless',
          session_id: 'sess_1',
          $pageview_id: '1',
          widget_version: 'wv_1',
          widget_enabled: true,
          product_id: PRODUCT_ID,
          variant_id: null,
          $screen_width: 0,
          $screen_height: 0,
          $timezone: 'UTC',
        },
      }),
    })
    expect(answer).toEqual({ status: 200, body: { success: true } })
    const event = await drape.database.one(sql.unsafe`
      select name, customer_id, customer_signed from event_details where insert_id = ${insertId}`)
    expect(event).toEqual({ name: 'widget:button_click', customer_id: '7', customer_signed: false })
  })

  it('cannot use the server API, whatever key a page may have', async () => {
    const headers = { 'x-api-key': drape.apiKey }
    expect(await fetchInPage('/tryon/v1/account', { headers })).toBe('TypeError: Failed to fetch')
    expect(await fetchInPage('/tryon/v1/account', {})).toBe('TypeError: Failed to fetch')
  })

  it('is erased: the shared page returns 410 and the image is deleted', async () => {
    const link = (await page.$eval('#link', (output) => output.textContent)) ?? ''
    const customer = encodeURIComponent(`${shopId}:customer:42`)
    const { result_key: key } = await findGeneration()
    expect((await drape.call('DELETE', `/tryon/v1/customers/${customer}`)).status).toBe(204)
    const shared = await browser.newPage()
    expect((await shared.goto(link))?.status()).toBe(410)
    expect(await shared.$eval('h1', (heading) => heading.textContent)).toBe('This image is no longer available')
    expect(await (await storageOf(drape)).exists(key)).toBe(false)
    const violations = await inspectLooks(shared, { name: 'share-gone' })
    expect(await widthOf(shared)).toBeLessThanOrEqual(390)
    expect((await shared.goto(`${link}x`))?.status()).toBe(404)
    violations.push(...(await inspectLooks(shared, { name: 'share-unknown' })))
    expect(violations).toEqual([])
  })

  /** A page that notes what the browser complains of, and keeps downloads in a folder. */
  async function openPage(): Promise<Page> {
    const opened = await browser.newPage()
    opened.on('console', (message) => {
      if (['error', 'warn'].includes(message.type())) browserErrors.push(message.text())
    })
    opened.on('pageerror', (error) => browserErrors.push(String(error)))
    const session = await browser.target().createCDPSession()
    await session.send('Browser.setDownloadBehavior', { behavior: 'allow', downloadPath: downloads })
    return opened
  }

  async function reach(state: string): Promise<void> {
    const reached = await until(async () => {
      const seen = await page.$eval('body', (body) => body.dataset.state)
      return seen === state || seen === 'failed' ? seen : null
    })
    if (reached === 'failed') throw new Error(`${await page.$eval('#message', (message) => message.textContent)}`)
  }

  function sizeOf(selector: string, shown = page): Promise<{ width: number; height: number }> {
    return shown.$eval(selector, (image) => {
      const { naturalWidth, naturalHeight } = image as unknown as { naturalWidth: number; naturalHeight: number }
      return { width: naturalWidth, height: naturalHeight }
    })
  }

  /** Red, green and blue of the middle of the chest, as the page itself reads them. */
  function chestOf(id: string): Promise<number[]> {
    return page.evaluate(`colourAt('${id}', 0.5, 0.55)`) as Promise<number[]>
  }

  /** What the page gets that asks the API itself. */
  function fetchInPage(path: string, init: object): Promise<unknown> {
    const [url, options] = [`${drape.api.url}${path}`, init].map((value) => JSON.stringify(value))
    return page.evaluate(`fetch(${url}, ${options}).then(
      async (answer) => ({ status: answer.status, body: await answer.json() }),
      (error) => String(error),
    )`)
  }

  async function findGeneration() {
    return (await drape.database.one(sql.unsafe`
      select status, shop_id, product_external_id, cost, result_key from generations`)) as Record<string, string>
  }

  async function readResult(key: string): Promise<Buffer> {
    return (await (await storageOf(drape)).get(key)) ?? Buffer.alloc(0)
  }

  function widthOf(shown: Page): Promise<number> {
    return shown.evaluate('document.documentElement.scrollWidth') as Promise<number>
  }
})
