import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { browserReason } from '../support/browser.ts'
import { inspectLooks } from '../support/page-looks.ts'
import { until } from '../support/until.ts'
import { type Storefront, startStorefront } from './storefront.ts'
import { createWidgetPage } from './widget-page.ts'

const PHOTO = new URL('../../scripts/samples/persons/down-half-teal.jpg', import.meta.url).pathname
const NOBODY = new URL('../../scripts/samples/garments/trousers-black.jpg', import.meta.url).pathname
if (browserReason) console.warn(`The looks of the widget are skipped: ${browserReason}`)

describe.skipIf(browserReason)(`the looks of the widget${browserReason && ` (skipped: ${browserReason})`}`, () => {
  let front: Storefront

  beforeAll(async () => {
    front = await startStorefront()
  })
  afterAll(() => front?.stop())

  it('are good for everybody at every step, large and small, light and dark', async () => {
    const page = await front.openPage()
    const widget = createWidgetPage(page)
    const violations: string[] = []
    const look = async (name: string, fullPage = false) => {
      const open = fullPage ? undefined : widget.settle
      violations.push(...(await inspectLooks(page, { name, fullPage, ...(open && { open }) })))
    }
    await page.goto(front.shop.url)
    await look('shop', true)
    await page.goto(`${front.shop.url}/products/101`)
    await widget.arrive()
    await look('shop-product', true)

    await widget.click('Try it on')
    await widget.reach('Start with a photo of yourself')
    await look('widget-photo')
    await widget.choose(PHOTO)
    await widget.reach('Your photo')
    await look('widget-ready')
    front.line.fail('/public/fitting-room', 'silence')
    await widget.start()
    await widget.reach('Waiting for a free fitting room')
    await look('widget-waiting')

    await page.reload()
    await widget.arrive()
    await widget.click('Try it on')
    await widget.reach('Use the same photo again?')
    await widget.start()
    await widget.reach('Here you are')
    await until(() => widget.evaluate(`return root.querySelector('.stage img').naturalWidth > 0`))
    await look('widget-result')
    await widget.click('Share')
    await until(() => widget.text('.sharing'))
    await look('widget-shared')

    await widget.click('Another photo')
    await widget.choose(NOBODY)
    await widget.reach('Your photo')
    await widget.start()
    await widget.fail()
    await look('widget-refused')
    expect(violations).toEqual([])
    expect(front.complaints).toEqual([])
  })
})
