import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Page } from 'puppeteer-core'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { sql } from '../../api/shared/database/database.ts'
import { createShops } from '../../api/shops/shops.store.ts'
import { startShop } from '../../scripts/samples/shop/server.ts'
import { browserReason } from '../support/browser.ts'
import { until } from '../support/until.ts'
import { type Storefront, startStorefront } from './storefront.ts'
import { createWidgetPage, type WidgetPage } from './widget-page.ts'

const SAMPLES = new URL('../../scripts/samples/', import.meta.url).pathname
const PHOTO = join(SAMPLES, 'persons/down-half-teal.jpg')
/** More faults than a browser retries on its own. */
const EVERY_RETRY = Array(6).fill('cut-request')
if (browserReason) console.warn(`The widget on an unreliable connection is skipped: ${browserReason}`)

describe.skipIf(browserReason)(
  `the widget when requests fail${browserReason && ` (skipped: ${browserReason})`}`,
  () => {
    let front: Storefront
    let page: Page
    let widget: WidgetPage

    beforeAll(async () => {
      front = await startStorefront({ answering: 'refusing' })
    })
    afterAll(() => front?.stop())
    beforeEach(async () => {
      page = await front.openPage()
      widget = createWidgetPage(page)
      await page.goto(`${front.shop.url}/products/101`)
      await widget.arrive()
    })
    afterEach(async () => {
      front.proxy.setUp(true)
      await page.browserContext().close()
    })

    const count = (what: 'generations' | 'images') =>
      front.drape.database.oneFirst(
        what === 'images'
          ? sql.unsafe`select count(*)::int from images`
          : sql.unsafe`select count(*)::int from generations`,
      ) as Promise<number>
    const choose = async (path: string) => {
      await widget.click('Try it on')
      await widget.choose(path)
      await widget.reach('Your photo')
    }

    it('keeps the photo when the connection breaks during its upload, and stores it once', async () => {
      const before = [await count('images'), await count('generations')]
      await choose(PHOTO)
      front.proxy.fail(/^PUT /, ...EVERY_RETRY)
      await widget.start()
      expect(await widget.fail()).toMatch(/^No connection to the shop\. Your photo is still here/)
      expect(await widget.evaluate(`return root.querySelector('.stage canvas').width > 0`)).toBe(true)
      front.proxy.setUp(true)
      await widget.click('Try again')
      await widget.reach('Here you are')
      expect([await count('images'), await count('generations')]).toEqual([before[0] + 1, before[1] + 1])
    })

    it('does not take the answer of another address for that of its upload', async () => {
      await choose(PHOTO)
      const headers = { 'access-control-allow-origin': '*' }
      const [elsewhere, taken] = [{ ...headers, location: '?elsewhere' }, { uploadKey: 'of another host' }]
      front.proxy.fail(/^PUT /, { answer: 307, headers: elsewhere }, { answer: 200, headers, body: taken })
      const [asked, sent] = ['POST', 'PUT'].map((method) => front.proxy.seen(method).length)
      await widget.start()
      expect(await widget.fail()).toMatch(/^No connection to the shop/)
      const paths = front.proxy
        .seen('POST')
        .slice(asked)
        .map(({ path }) => path)
      expect(paths.filter((path) => path.endsWith('/upload-complete'))).toEqual([])
      expect(front.proxy.seen('PUT')).toHaveLength(sent + 2)
    })

    it('retries by itself when the browser is online again', async () => {
      await choose(PHOTO)
      await page.setOfflineMode(true)
      await widget.start()
      expect(await widget.fail()).toMatch(/^No connection/)
      await page.setOfflineMode(false)
      await until(async () => (await widget.heading()) === 'Here you are')
    })

    it('is charged once when responses are lost', async () => {
      const before = { balance: await front.drape.balance(), images: await count('images') }
      await choose(PHOTO)
      front.proxy.fail('/public/upload-complete', 'cut-answer')
      front.proxy.fail('/public/fitting-room', 'cut-answer')
      const asked = front.proxy.seen('POST').length
      await widget.start()
      const tryOnRequests = () =>
        front.proxy
          .seen('POST')
          .slice(asked)
          .filter(({ path }) => path.endsWith('/fitting-room'))
      for (const sent of [1, 2]) {
        expect(await widget.fail()).toMatch(/short break/)
        await widget.click('Try again')
        await until(() => tryOnRequests().length === sent)
      }
      await widget.reach('Here you are')
      expect(await front.drape.balance()).toBe(before.balance - 1)
      expect(await count('images')).toBe(before.images + 1)
      expect(tryOnRequests()).toHaveLength(2)
      expect(new Set(tryOnRequests().map(({ idempotencyKey }) => idempotencyKey)).size).toBe(1)
    })

    it('keeps polling through an outage while the try-on runs', async () => {
      await choose(PHOTO)
      front.proxy.fail(
        /^GET .*\/public\/generation\//,
        ...Array(2).fill({ answer: 503, body: { code: 'SERVICE_UNAVAILABLE' } }),
      )
      await widget.start()
      await until(async () => ((await widget.text('[role=status]')) ?? '').startsWith('Connection lost'))
      await widget.reach('Here you are')
    })

    it('explains why a photo is refused, and accepts another photo', async () => {
      const invalid = join(front.downloads, 'letter.jpg')
      await writeFile(invalid, 'Dear shop, this is a letter and not a photo.')
      await choose(invalid)
      await widget.start()
      expect(await widget.fail()).toMatch(/JPEG, PNG, WebP or HEIC/)
      await widget.click('Another photo')
      await widget.choose(join(SAMPLES, 'garments/trousers-black.jpg'))
      await widget.reach('Your photo')
      await widget.start()
      expect(await widget.fail()).toMatch(/cannot find a person/)
      expect(await widget.focused()).toBe('Another photo')
      await widget.click('Another photo')
      await widget.choose(PHOTO)
      await widget.reach('Your photo')
      await widget.start()
      await widget.reach('Here you are')
    })

    it('says when to try again after too many uploads', async () => {
      await page.evaluate(`(async () => {
      const json = { 'content-type': 'application/json' }
      const visitor = await (await fetch('/apps/drape/public/visitor', { method: 'POST', headers: json, body: '{}' })).json()
      localStorage.setItem('drape:visitor', JSON.stringify(visitor))
      const headers = { 'x-service-visitor-token': visitor.visitorToken }
      for (let i = 0; i < 10; i++) await fetch('/apps/drape/public/prepare-upload', { method: 'POST', headers })
    })()`)
      await page.goto(`${front.shop.url}/products/101`)
      await widget.arrive()
      await choose(PHOTO)
      await widget.start()
      expect(await widget.fail()).toMatch(/^Too many requests\. Please try again in [1-5] min\.$/)
    })

    it('asks for the photo again when it has expired', async () => {
      await choose(PHOTO)
      await widget.start()
      await widget.reach('Here you are')
      await front.drape.database.query(sql.unsafe`update images set expires_at = now()`)
      await page.goto(`${front.shop.url}/products/102`)
      await widget.arrive()
      await widget.click('Try it on')
      await widget.reach('Use the same photo again?')
      await widget.start()
      expect(await widget.fail()).toMatch(/^The photo has been deleted/)
      await widget.click('Another photo')
      await widget.reach('Start with a photo of yourself')
    })

    it('says that the weekly limit of try-ons is reached', async () => {
      await choose(PHOTO)
      await widget.start()
      await widget.reach('Here you are')
      await page.evaluate(`(async () => {
      const { imageId } = JSON.parse(sessionStorage.getItem('drape:photo'))
      const { visitorToken } = JSON.parse(localStorage.getItem('drape:visitor'))
      const headers = { 'x-service-visitor-token': visitorToken, 'content-type': 'application/json' }
      const body = JSON.stringify({ userImageId: imageId, productId: 'gid://shop/Product/102' })
      for (let i = 0; i < 9; i++) await fetch('/apps/drape/public/fitting-room', { method: 'POST', headers, body })
    })()`)
      await page.goto(`${front.shop.url}/products/102`)
      await widget.arrive()
      await widget.click('Try it on')
      await widget.reach('Use the same photo again?')
      await widget.start()
      expect(await widget.fail()).toMatch(/all your try-ons for this week/)
    })

    it('does not block the page when the service is silent or down', async () => {
      front.proxy.fail('/widget.js', 'silence', 'silence')
      const fresh = await front.openPage()
      await fresh.goto(`${front.shop.url}/products/101`, { waitUntil: 'domcontentloaded' })
      await fresh.click('#add')
      expect(await fresh.$eval('#count', ({ textContent }) => textContent)).toBe('1')
      await fresh.browserContext().close()

      front.proxy.setUp(false)
      // The script is still in the browser's cache.
      await page.goto(`${front.shop.url}/products/101`)
      await widget.arrive()
      await choose(PHOTO)
      await widget.start()
      expect(await widget.fail()).toMatch(/short break/)
      await page.click('#add').catch(() => {})
      const own = front.browserErrors.filter((text) => !text.startsWith('Failed to load resource'))
      expect(own).toEqual([])
    })

    // Last, because no page of this account offers a try-on afterwards.
    it('hides its button without credits, and says that the fitting room is closed when credits run out later', async () => {
      const { id: accountId } = await front.drape.createAccount(0)
      const site = { domain: 'empty.example', secret: 'nothing' }
      await createShops(front.drape.database).insert({ accountId, platform: 'plugin', ...site })
      const empty = await startShop({ ...front.shopOptions, site: site.domain, secret: site.secret })
      await page.goto(`${empty.url}/products/101`)
      await until(() =>
        page.evaluate(`document.querySelector('drape-try-on').shadowRoot?.querySelector('.button')?.hidden === true`),
      )
      await empty.stop()

      await page.goto(`${front.shop.url}/products/101`)
      await widget.arrive()
      await front.drape.database.query(sql.unsafe`update accounts set balance = 0 where id = ${front.drape.accountId}`)
      await choose(PHOTO)
      await widget.start()
      expect(await widget.fail()).toMatch(/^The fitting room of this shop is closed for now/)
      expect(await widget.focused()).toBe('Close')
    })
  },
)
