import { globSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ROOT } from '../../scripts/stack/session.ts'
import { browserReason } from '../support/browser.ts'
import { inspectLooks, SIZES, showsResults } from '../support/page-looks.ts'
import { until } from '../support/until.ts'
import { type Storefront, startStorefront } from './storefront.ts'
import { createWidgetPage } from './widget-page.ts'

const PHOTO = new URL('../../scripts/samples/persons/down-half-teal.jpg', import.meta.url).pathname
const WITHOUT_PERSON = new URL('../../scripts/samples/garments/trousers-black.jpg', import.meta.url).pathname
/** Texts by language. */
function readTexts(): Record<
  string,
  { readonly [key: string]: unknown; readonly errors: Readonly<Record<string, string>> }
> {
  const files = globSync('api/widget/texts/*.json', { cwd: ROOT }).sort()
  return Object.fromEntries(
    files.map((path) => [basename(path, '.json'), JSON.parse(readFileSync(join(ROOT, path), 'utf8'))]),
  )
}
if (browserReason) console.warn(`The layout of the widget is skipped: ${browserReason}`)

describe.skipIf(browserReason)(`the layout of the widget${browserReason && ` (skipped: ${browserReason})`}`, () => {
  let front: Storefront

  beforeAll(async () => {
    front = await startStorefront({ answering: showsResults ? 'warp' : 'refusing' })
  })
  afterAll(() => front?.stop())

  it('is accessible at every step, in large and small viewports, light and dark', async () => {
    const page = await front.openPage({ camera: true })
    const widget = createWidgetPage(page)
    const violations: string[] = []
    const look = async (name: string, fullPage = false) => {
      const open = fullPage ? undefined : widget.settle
      violations.push(...(await inspectLooks(page, { name, fullPage, ...(open && { open }) })))
    }
    /** Moves the slider over the result to the middle. */
    const compare = () =>
      until(() =>
        widget.evaluate(`const slider = root.querySelector('[part=compare]')
          if (slider === null) return false
          slider.value = 50
          return slider.dispatchEvent(new Event('input'))`),
      )
    await page.goto(front.shop.url)
    await look('shop', true)
    await page.goto(`${front.shop.url}/products/101`)
    await widget.arrive()
    await look('shop-product', true)

    await widget.click('Try it on')
    await widget.reach('Start with a photo of yourself')
    await look('widget-photo')
    await widget.click('Take a photo')
    await widget.film()
    await look('widget-camera')
    await widget.click('Back')
    await widget.reach('Start with a photo of yourself')
    await widget.choose(PHOTO)
    await widget.reach('Your photo')
    await look('widget-ready')
    front.proxy.fail('/public/fitting-room', 'silence')
    await widget.start()
    await widget.reach('One moment, please')
    await until(async () => (await widget.text('[aria-current=step]')) === 'Waiting for a free fitting room')
    await look('widget-waiting')

    await page.reload()
    await widget.arrive()
    await widget.click('Try it on')
    await widget.reach('Use the same photo again?')
    await widget.start()
    await widget.reach('Here you are')
    await until(() => widget.evaluate(`return root.querySelector('.stage img').naturalWidth > 0`))
    await compare()
    await look('widget-result')
    await widget.evaluate(`root.querySelector('.tool').click()`)
    await look('widget-zoomed')
    await widget.evaluate(`root.querySelector('.tool').click()`)
    await page.setViewport(SIZES.desktop)
    // No bars above and below the picture, although the texts are higher than it.
    expect(
      await widget.evaluate(
        `return root.querySelector('.stage').clientWidth / root.querySelector('.stage').clientHeight`,
      ),
    ).toBeCloseTo(4 / 5, 2)
    await widget.click('Share')
    await until(() => widget.text('.sharing'))
    await look('widget-shared')

    await widget.click('Another photo')
    await widget.choose(WITHOUT_PERSON)
    await widget.reach('Your photo')
    await widget.start()
    await widget.fail()
    await look('widget-refused')

    // From right to left, with several results.
    await page.goto(`${front.shop.url}/products/102?lang=ar`)
    await widget.arrive()
    await widget.click('جرّبها عليك')
    await widget.reach('هل تستخدم الصورة نفسها؟')
    await widget.click('صورة أخرى')
    await widget.choose(PHOTO)
    await widget.reach('صورتك')
    await look('widget-arabic-ready')
    await widget.start()
    await widget.reach('ها هي صورتك')
    await until(() => widget.evaluate(`return root.querySelector('.stage img').naturalWidth > 0`))
    await compare()
    await look('widget-arabic-result')
    expect(violations).toEqual([])
    expect(front.browserErrors).toEqual([])
    await page.browserContext().close()
  })

  it('fits into 320 px in every language', async () => {
    const page = await front.openPage({ camera: true })
    const widget = createWidgetPage(page)
    await page.setViewport({ width: 320, height: 640 })
    const overflow = async () => {
      await widget.settle()
      return widget.evaluate(`return [...root.querySelectorAll('.button, dialog, .panel, .panel :not(input, svg, svg *, ul, img)')]
        .filter((part) => getComputedStyle(part).display !== 'inline' && part.scrollWidth > part.clientWidth + 1)
        .map(({ localName, className, textContent }) => [localName, className, textContent].join(' '))`)
    }
    const seen: Record<string, unknown> = {}
    for (const [language, texts] of Object.entries(readTexts())) {
      const press = (key: string) => widget.click(String(texts[key]).replaceAll("'", "\\'"))
      const note = async (step: string) => Object.assign(seen, { [`${language} ${step}`]: await overflow() })
      await page.goto(`${front.shop.url}/products/102?lang=${language}`)
      await widget.arrive()
      await press('button')
      if (language === 'ar') {
        await widget.choose(PHOTO)
        await widget.reach(String(texts.readyHeading))
        await note('ready')
        await widget.start()
      }
      await widget.reach(String(texts.doneHeading))
      await note('result')
      await press('share')
      await until(() => widget.text('.sharing'))
      await note('shared')
      await press('another')
      await widget.reach(String(texts.photoHeading))
      await note('photo')
      await press('camera')
      await widget.film()
      await note('camera')
      await press('back')
      // Makes the next page show the result of the product, as after a reload.
      await page.evaluate(
        `sessionStorage.setItem('drape:wish:gid://shop/Product/102', JSON.parse(sessionStorage.getItem('drape:results'))[0].generationId)`,
      )
      for (const text of [...Object.values(texts), ...Object.values(texts.errors)].filter(
        (text) => typeof text === 'string',
      )) {
        await widget.evaluate(`root.querySelector('.panel h2').textContent = ${JSON.stringify(text)}`)
        const wide = await overflow()
        if ((wide as unknown[]).length > 0) seen[`${language} ${text}`] = wide
      }
    }
    expect(Object.keys(seen).length).toBeGreaterThan(30)
    expect(Object.entries(seen).filter(([, wide]) => (wide as unknown[]).length > 0)).toEqual([])
  })
})
