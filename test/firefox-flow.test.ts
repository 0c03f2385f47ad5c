import puppeteer, { type Browser, type Page } from 'puppeteer-core'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { createSafetyReviews } from '../api/trust/appeals/safety-reviews.store.ts'
import { createRemovals } from '../api/trust/removals/removals.store.ts'
import { insertPhoto } from '../scripts/benchmarks/sample-data.ts'
import { REQUIREMENTS } from '../scripts/testing/requirements.ts'
import { guardBrowser } from './support/browser.ts'
import { OPERATOR, startDashboard, type TestDashboard } from './support/dashboard.ts'
import { type DashboardContents, fillDashboard } from './support/dashboard-contents.ts'
import { reasonWithout } from './support/missing.ts'
import { refuseGeneration } from './support/refused.ts'
import { requestService } from './support/request-service.ts'
import { until } from './support/until.ts'
import { type Storefront, startStorefront } from './widget/storefront.ts'
import { createWidgetPage } from './widget/widget-page.ts'

const PHOTO = new URL('../scripts/samples/persons/down-half-teal.jpg', import.meta.url).pathname
const firefoxReason = await reasonWithout('firefox')
if (firefoxReason) console.warn(`The walk in Firefox is skipped: ${firefoxReason}`)

/** The main path of each page. Other tests cover all paths in Chromium. */
describe.skipIf(firefoxReason)(`in Firefox${firefoxReason && ` (skipped: ${firefoxReason})`}`, () => {
  let front: Storefront
  let dashboard: TestDashboard
  let contents: DashboardContents
  let page: Page
  const browserErrors: string[] = []

  beforeAll(async () => {
    ;[front, dashboard] = await Promise.all([
      startStorefront({ answering: 'warp', launch: startFirefox }),
      startDashboard(),
    ])
    contents = await fillDashboard(dashboard, 'The Linen House')
  })
  afterAll(async () => {
    await Promise.all([front?.stop(), dashboard?.stop()])
  })
  beforeEach(async () => {
    await page?.close()
    page = await front.browser.newPage()
    page.setDefaultTimeout(100_000)
    page.on('console', (message) => message.type() === 'error' && browserErrors.push(message.text()))
    page.on('pageerror', (error) => browserErrors.push(String(error)))
    await page.evaluateOnNewDocument(`addEventListener('securitypolicyviolation', ({ violatedDirective, blockedURI }) =>
      console.error('content security policy: ' + violatedDirective + ' ' + blockedURI))`)
  })

  const text = (selector: string) => page.$eval(selector, ({ textContent }) => textContent ?? '')
  const becomes = (condition: string) => page.waitForFunction(condition)
  const upload = async (selector: string) => {
    const input = await page.waitForSelector(selector)
    await (input as unknown as { uploadFile(path: string): Promise<void> }).uploadFile(PHOTO)
  }

  it('an operator signs in, adds credits by keyboard, sees the plots and signs out', async () => {
    const focused = () =>
      page.evaluate(`(document.activeElement.labels?.[0] ?? document.activeElement).textContent.trim()`)
    const tabTo = async (name: string) => {
      for (let i = 0; i < 150; i++) {
        await page.keyboard.press('Tab')
        if ((await focused()) === name) return
      }
      throw new Error(`Tab does not lead to "${name}"`)
    }
    const press = () => Promise.all([page.waitForNavigation(), page.keyboard.press('Enter')])
    await page.setViewport({ width: 1280, height: 800 })
    await page.goto(`${dashboard.url}/accounts/${contents.accountId}`)
    await page.type('[name=email]', OPERATOR.email)
    await page.type('[name=password]', OPERATOR.password)
    await press()
    expect(await text('h1')).toBe('The Linen House')
    await tabTo('Credits to add')
    await page.keyboard.type('1200')
    await tabTo('Reason')
    await page.keyboard.type('Paid by bank transfer')
    await press()
    expect(await text('[role=status]')).toBe('The new balance is 1,710 credits.')
    await page.goto(`${dashboard.url}/`)
    const [plot] = await page.$$eval('.plot svg', (all) => all.map((svg) => svg.querySelectorAll('rect').length))
    expect(plot).toBeGreaterThan(10)
    await tabTo('Sign out')
    await press()
    expect(new URL(page.url()).pathname).toBe('/sign-in')
  })

  it('a developer runs a try-on with samples in the playground and reads the response', async () => {
    await page.goto(`${front.proxy.url}/playground`)
    await becomes(`document.querySelector('#code').textContent !== ''`)
    await page.type('#key', front.drape.apiKey)
    await page.click('#key-form button')
    await page.waitForSelector('#account:not([hidden])')
    for (const name of ['photo', 'product']) await page.click(`[data-image-field=${name}] .sample`)
    await becomes(`document.querySelectorAll('.drop.filled').length === 2`)
    await page.click('#go')
    await becomes(`document.querySelector('#said').textContent.startsWith('Done')`)
    await becomes(`document.querySelector('.frame .after').naturalWidth > 100`)
    await page.click('#tab-json')
    expect(JSON.parse(await text('#code'))).toMatchObject({ status: 'COMPLETED' })
  })

  it('a shopper gives consent in the widget and sees the product on their photo', async () => {
    const widget = createWidgetPage(page)
    await page.goto(`${front.shop.url}/products/101`)
    await widget.arrive()
    await page.focus('#add')
    await page.keyboard.press('Tab')
    await page.keyboard.press('Enter')
    await widget.choose(PHOTO)
    await widget.reach('Your photo')
    await widget.start()
    await widget.reach('Here you are')
    const chest = await until(() => widget.colourAt(0.5, 0.55))
    expect(chest[0]).toBeGreaterThan(chest[2] + 40)
    await page.keyboard.press('Escape')
    await expect.poll(widget.focused).toBe('See your picture')
  })

  it('a developer searches the reference and the guide', async () => {
    const url = front.drape.api.url
    for (const [path, words, found] of [
      ['/docs', 'webhooks/listeners', '/docs/webhooks#'],
      ['/guide', 'idempot', '/guide/api#'],
    ]) {
      await page.goto(`${url}${path}`)
      await page.type('#query', words)
      await page.waitForSelector(`#found a[href^="${found}"]`)
      await Promise.all([page.waitForNavigation(), page.click(`#found a[href^="${found}"]`)])
      expect(page.url()).toContain(found)
    }
  })

  it('a visitor verifies an image, asks for its removal, reads the privacy page and appeals a refusal', async () => {
    const { api, database, accountId, call } = front.drape
    const { shopId } = front
    const send = () => Promise.all([page.waitForNavigation(), page.click('main form button')])
    await page.goto(`${api.url}/verify`)
    await upload('input[type=file]')
    await send()
    expect(await text('h1')).toBe('No Content Credentials')
    await page.goto(`${api.url}/removal`)
    await upload('input[type=file]')
    await page.type('[name=email]', 'ada@example.com')
    await page.type('[name=reason]', 'This is my photo.')
    await send()
    expect(await createRemovals(database).listing.list({}, { limit: 9 })).toMatchObject([{ state: 'OPEN' }])
    await page.goto(`${api.url}/privacy/${shopId}?lang=de`)
    expect(await page.$eval('html', ({ lang }) => lang)).toBe('de')
    await Promise.all([page.waitForNavigation(), page.click('a[href*="/removal"]')])
    const caller = { accountId, imageId: await insertPhoto(database, { accountId, expiresInHours: 1 }) }
    const id = await refuseGeneration(database, caller, { shopId })
    const { body } = await call('GET', `/tryon/v1/generations/${id}`)
    await page.goto(`${api.url}${new URL(body.appealUrl).pathname}?lang=en`)
    await page.type('textarea', 'It is a shirt.')
    await send()
    expect(await createSafetyReviews(database).find(id)).toMatchObject({ state: 'OPEN', reason: 'It is a shirt.' })
  })

  it('no page has logged a browser error', () => {
    expect(browserErrors).toEqual([])
  })
})

/** A headless Firefox, controlled by WebDriver BiDi. Processes and profile end with the tests at the latest. */
async function startFirefox(): Promise<Browser> {
  const { path: userDataDir } = await requestService('folder', null)
  const browser = await puppeteer.launch({
    browser: 'firefox',
    executablePath: REQUIREMENTS.firefox.find(),
    userDataDir,
    protocolTimeout: 120_000,
  })
  await guardBrowser(browser, 'firefox')
  return browser
}
