import { Liquid } from 'liquidjs'
import type { Page } from 'puppeteer-core'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { sql } from '../../api/shared/database/database.ts'
import { browserReason } from '../support/browser.ts'
import { startCaptchaProvider } from '../support/captcha-provider.ts'
import { codeOf } from '../support/documented-blocks.ts'
import { formOf, readSample } from '../support/drape.ts'
import { until } from '../support/until.ts'
import { type Storefront, startStorefront } from './storefront.ts'
import { startThemedShop, type ThemedShop } from './theme-block.ts'
import { createWidgetPage, type WidgetPage } from './widget-page.ts'

const PHOTO = new URL('../../scripts/samples/persons/down-half-teal.jpg', import.meta.url).pathname
const WIDGET = 'docs/widget.md'
const SCRIPT = '<script src="/apps/drape/widget.js" async></script>'
/** The service requires a CAPTCHA, so each page needs this block. */
const CAPTCHA = `<script>const solveChallenge = async () => 'solved'\n${codeOf(WIDGET, 'js', { index: 2 })}</script>`
const SIZES = JSON.stringify([{ id: '7001', title: 'M', available: true }])

/** Blocks for the page of a product: the lines that add the widget. */
const LINES: Readonly<Record<string, () => string>> = {
  'README.md and docs/start/shop.md': () => {
    const lines = codeOf('README.md', 'html')
    expect(codeOf('docs/start/shop.md', 'html')).toBe(lines)
    return lines
  },
  [WIDGET]: () => {
    const product = { id: 101, title: 'Mustard "T-shirt"' }
    return new Liquid({ strictVariables: true }).parseAndRenderSync(codeOf(WIDGET, 'liquid'), { product })
  },
}

describe.skipIf(browserReason)(`the snippets of the pages about the widget${browserReason}`, () => {
  let front: Storefront
  let captcha: Awaited<ReturnType<typeof startCaptchaProvider>>
  let shop: ThemedShop
  let page: Page
  let widget: WidgetPage

  beforeAll(async () => {
    captcha = await startCaptchaProvider()
    front = await startStorefront({ env: { CAPTCHA_VERIFY_URL: captcha.url, CAPTCHA_SECRET: 'captcha-secret' } })
    const product = { externalId: 'shirt-1', title: 'Mustard T-shirt', images: [{ source: { fileKey: 'image' } }] }
    const image = await readSample('garments/tshirt-mustard.jpg')
    await front.drape.call('POST', '/tryon/v1/products', { body: formOf(product, { image }) })
  })
  afterEach(async () => {
    await page.browserContext().close()
    await shop[Symbol.asyncDispose]()
  })
  afterAll(async () => {
    await front?.stop()
    captcha.stop()
  })

  /** Opens a page of the shop with this HTML as a new visitor. */
  async function visit(html: string, onLog: (text: string) => void = () => {}): Promise<void> {
    shop = await startThemedShop(front.shop.url, CAPTCHA + html)
    page = await front.openPage()
    page.on('console', (message) => onLog(message.text()))
    widget = createWidgetPage(page)
    await page.goto(shop.url)
    await widget.arrive()
  }
  async function tryOn(): Promise<void> {
    await widget.choose(PHOTO)
    await widget.reach('Your photo')
    await widget.start()
    await widget.reach('Here you are')
  }

  it.each(Object.entries(LINES))('complete a try-on behind a CAPTCHA: %s', async (_page, lines) => {
    const before = captcha.asked.length
    await visit(lines())
    await widget.click('Try it on')
    await tryOn()
    expect(captcha.asked.slice(before).map((form) => form.get('response'))).toEqual(['solved'])
  })

  it('replace texts, and change colours and shapes', async () => {
    await visit(`<style>${codeOf(WIDGET, 'css')}</style>${SCRIPT}${codeOf(WIDGET, 'html')}`)
    expect(await widget.text('.button')).toBe('Passen')
    const styleOf = (selector: string) =>
      widget.evaluate(`const { backgroundColor, color, borderRadius, fontFamily, textTransform } =
        getComputedStyle(root.querySelector('${selector}'))
        return { backgroundColor, color, borderRadius, fontFamily, textTransform }`)
    const shape = { borderRadius: '999px', fontFamily: 'Inter, sans-serif' }
    expect(await styleOf('[part~=button]')).toMatchObject({ ...shape, textTransform: 'uppercase' })
    await widget.click('Passen')
    await widget.choose(PHOTO)
    await widget.reach('Your photo')
    expect(await styleOf('.panel [part~=primary]')).toMatchObject({
      ...shape,
      textTransform: 'none',
      backgroundColor: 'rgb(11, 93, 75)',
      color: 'rgb(255, 255, 255)',
    })
    front.proxy.fail(/^PUT /, ...Array(6).fill('cut-request'))
    await widget.start()
    expect(await widget.fail()).toBe('Geen verbinding met de winkel.')
    front.proxy.setUp(true)
  })

  it('connect the page with the widget', async () => {
    const logged: string[] = []
    const functions = `<script>
      const addToYourCart = (product, attributes) =>
        fetch('/cart/add.js', { method: 'POST', body: JSON.stringify({ product, attributes }) })
      const selectInYourForm = (size) => console.log('size ' + size)
    </script>`
    const element = `<drape-try-on product="shirt-1" cart sizes='${SIZES}'></drape-try-on>`
    const connect = `<script type="module">${codeOf(WIDGET, 'js', { index: 1 })}</script>`
    await visit(`${functions}${connect}${SCRIPT}${element}`, (text) => logged.push(text))
    await until(() => widget.evaluate(`return root.querySelector('dialog').open`))
    await tryOn()
    await widget.evaluate(`root.querySelector('.size input').click()`)
    await widget.click('Add to cart')
    expect(await until(() => widget.text('.panel .small:not(.soft)'))).toBe('It is in your cart.')
    const attributes = { _drape_anonymous_id: expect.stringMatching(/^[\w-]{8,}$/) }
    expect(shop.posted).toEqual([{ path: '/cart/add.js', body: { product: 'gid://shop/Product/shirt-1', attributes } }])
    expect(logged).toEqual(expect.arrayContaining(['ready', 'sending', 'waiting', 'done', 'size M']))
    await page.goto('about:blank')
    const quantity = await until(() =>
      front.drape.database.maybeOneFirst(sql.unsafe`
        select (properties->>'quantity')::int from event_details where name = 'product_page:cart_add'`),
    )
    expect(quantity).toBe(1)
  })
})
