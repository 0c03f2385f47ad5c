import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { HTTPRequest, Page } from 'puppeteer-core'
import sharp from 'sharp'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { createAccounts } from '../../api/accounts/accounts.store.ts'
import { sql } from '../../api/shared/database/database.ts'
import { createShops } from '../../api/shops/shops.store.ts'
import { startShop } from '../../scripts/samples/shop/server.ts'
import { browserReason } from '../support/browser.ts'
import { until } from '../support/until.ts'
import { type Storefront, startStorefront } from './storefront.ts'
import { createWidgetPage, type WidgetPage } from './widget-page.ts'

const PHOTO = new URL('../../scripts/samples/persons/down-half-teal.jpg', import.meta.url).pathname
if (browserReason) console.warn(`The widget in a visit is skipped: ${browserReason}`)

describe.skipIf(browserReason)(`the widget during a visit${browserReason && ` (skipped: ${browserReason})`}`, () => {
  let front: Storefront
  let page: Page
  let widget: WidgetPage

  beforeAll(async () => {
    front = await startStorefront({ answering: 'refusing' })
  })
  afterAll(() => front?.stop())
  afterEach(() => page.browserContext().close())

  /** Opens the dialog of a product as a new visitor. `script` runs before the scripts of the page. */
  async function visit(path = '/products/101', { camera = false, script = '' } = {}): Promise<void> {
    page = await front.openPage({ camera })
    widget = createWidgetPage(page)
    // Records the camera streams of the page, to check that they stop.
    await page.evaluateOnNewDocument(`window.streams = []; {
      const { mediaDevices } = navigator
      const open = mediaDevices.getUserMedia.bind(mediaDevices)
      mediaDevices.getUserMedia = async (wanted) => {
        while (window.cameraWaits) await new Promise((resolve) => setTimeout(resolve, 20))
        const stream = await open(wanted)
        streams.push(stream)
        return stream
      }
    }
    ${script}`)
    await page.goto(`${front.shop.url}${path}`)
    await widget.arrive()
    await widget.evaluate(`root.querySelector('.button').click()`)
  }
  const liveTracks = () =>
    page.evaluate(
      `streams.flatMap((stream) => stream.getTracks()).filter(({ readyState }) => readyState === 'live').length`,
    )
  const tryOn = async () => {
    await widget.choose(PHOTO)
    await widget.reach('Your photo')
    await widget.start()
    await widget.reach('Here you are')
  }

  describe('its camera', () => {
    it('takes a photo, retakes it and uploads it', async () => {
      await visit('/products/101', { camera: true })
      await widget.click('Take a photo')
      await widget.film()
      expect(await widget.focused()).toBe('Take the photo')
      await widget.evaluate(`const shutter = root.querySelector('.panel .primary'); shutter.click(); shutter.click()`)
      await widget.reach('Your photo')
      expect(await liveTracks()).toBe(0)
      await widget.click('Take it again')
      await widget.film()
      expect(await liveTracks()).toBe(1)
      await widget.click('Take the photo')
      await widget.reach('Your photo')
      expect(await widget.evaluate(`return root.querySelector('.stage canvas').width > 100`)).toBe(true)
      await widget.start()
      // The fake camera of the browser shows no person.
      expect(await widget.fail()).toMatch(/cannot find a person/)
      const sources = await until(async () => {
        const found = await front.drape.database.anyFirst(sql.unsafe`
          select properties->>'source' from event_details where name = 'widget:image_upload'`)
        return found.length >= 2 && found
      })
      expect(sources).toEqual(['camera', 'camera'])
    })

    it('offers a file upload without permission', async () => {
      await visit()
      await widget.click('Take a photo')
      expect(await widget.fail()).toMatch(/^The browser does not allow the camera\./)
      expect(await widget.focused()).toBe('Choose a photo')
      await widget.choose(PHOTO)
      await until(async () => (await widget.heading()) === 'Your photo')
    })

    it('stops when the dialog closes, the page is hidden or the element is removed', async () => {
      await visit('/products/101', { camera: true })
      const film = async () => {
        await widget.click('Take a photo')
        await widget.film()
        expect(await liveTracks()).toBe(1)
      }
      await film()
      await page.keyboard.press('Escape')
      await until(async () => (await liveTracks()) === 0)
      await widget.evaluate(`root.querySelector('.button').click()`)
      await film()
      const other = await page.browserContext().newPage()
      await other.bringToFront()
      await page.evaluate(`Object.defineProperty(document, 'hidden', { configurable: true, value: true })
        document.dispatchEvent(new Event('visibilitychange'))`)
      await until(async () => (await liveTracks()) === 0)
      await page.bringToFront()
      await page.evaluate('delete document.hidden')
      await film()
      await page.evaluate(`document.querySelector('drape-try-on').remove()`)
      await until(async () => (await liveTracks()) === 0)
    })

    it('stops if the dialog is closed during the permission prompt', async () => {
      await visit('/products/101', { camera: true, script: 'window.cameraWaits = true' })
      await widget.click('Take a photo')
      await widget.reach('Take a photo of yourself')
      expect(await widget.text('.panel .soft')).toBe('Allow the camera if your browser asks')
      await page.keyboard.press('Escape')
      await page.evaluate('window.cameraWaits = false')
      await until(() => page.evaluate('streams.length === 1'))
      await until(async () => (await liveTracks()) === 0)
      await widget.evaluate(`root.querySelector('.button').click()`)
      expect(await widget.heading()).toBe('Start with a photo of yourself')
    })

    it('is not offered if the permissions policy of the page forbids it', async () => {
      await visit('/products/101', {
        camera: true,
        script: `Object.defineProperty(document, 'featurePolicy', { value: { allowsFeature: () => false } })`,
      })
      await until(() => widget.evaluate(`return root.querySelectorAll('.panel button').length > 1`))
      expect(await widget.evaluate(`return root.querySelector('.panel .secondary').hidden`)).toBe(true)
    })
  })

  it('sends its events from a page whose scripts replace JSON and what arrays, objects, texts and dates do', async () => {
    // As Prototype.js 1.6 and 1.7 do, and more.
    await visit('/products/104', {
      script: `const { stringify } = JSON
        for (const { prototype } of [Array, String, Number, Date, Object]) {
          Object.defineProperty(prototype, 'toJSON', { value() { return stringify(String(this)) }, configurable: true, writable: true })
        }
        Array.prototype.entries = function () { return this.slice() }
        Array.from = (items) => [...items]
        JSON.stringify = () => '"replaced"'`,
    })
    await until(async () => {
      const names = await front.drape.database.anyFirst(sql.unsafe`
        select distinct name from event_details where properties->>'product_id' like '%/104'`)
      return ['product_page:page_view', 'widget:button_click'].every((name) => names.includes(name))
    })
  })

  it('keeps the keys that are pressed in its dialog from the page, and the focus in the dialog', async () => {
    await visit('/products/101', {
      script: `window.heard = []
        for (const target of [window, document]) for (const type of ['keydown', 'keypress', 'keyup']) {
          for (const isCapturing of target === window ? [false] : [true, false])
            target.addEventListener(type, ({ key }) => heard.push(key), isCapturing)
        }
        // A search that opens on a key, as of a shop.
        document.addEventListener('keydown', ({ key }) => { if (key === 's') document.querySelector('a').focus() })`,
    })
    expect(await widget.focused()).toBe('Choose a photo')
    await page.keyboard.press('s')
    expect(await widget.focused()).toBe('Choose a photo')
    await page.keyboard.press('Tab')
    expect(await widget.evaluate(`return root.querySelector('dialog').contains(root.activeElement)`)).toBe(true)
    await widget.evaluate(`root.activeElement.blur()`)
    expect(await page.evaluate(`document.activeElement === document.body`)).toBe(true)
    await page.keyboard.press('s')
    await page.keyboard.press('Escape')
    expect(await widget.evaluate(`return root.querySelector('dialog').open`)).toBe(false)
    expect(await page.evaluate('heard')).toEqual([])
    await page.keyboard.press('Shift')
    expect(await page.evaluate('heard')).toEqual(Array(6).fill('Shift'))
  })

  it('says that a photo is too small, and refuses a file that is not an image at once', async () => {
    const small = join(front.downloads, 'small.png')
    const slip = join(front.downloads, 'slip.png')
    const note = join(front.downloads, 'note.txt')
    const empty = join(front.downloads, 'empty.jpg')
    const damaged = join(front.downloads, 'damaged.jpg')
    const pixels = (width: number, height: number) =>
      sharp({ create: { width, height, channels: 3, background: 'teal' } })
        .png()
        .toBuffer()
    await writeFile(small, await pixels(15, 40))
    await writeFile(slip, await pixels(100, 120))
    await writeFile(note, 'Dear shop')
    await writeFile(empty, '')
    await writeFile(damaged, 'Dear shop')
    await visit()
    await widget.choose(small)
    expect(await widget.fail()).toBe('The photo is too small or too narrow. Please choose a larger one.')
    await widget.click('Another photo')
    await widget.choose(note)
    expect(await widget.fail()).toMatch(/JPEG, PNG, WebP or HEIC/)
    await widget.click('Another photo')
    await widget.choose(empty)
    expect(await widget.fail()).toMatch(/damaged/)
    await widget.click('Another photo')
    await widget.choose(damaged)
    await widget.reach('Your photo')
    expect(await widget.text('.stage')).toMatch(/you can use it/)
    await widget.start()
    expect(await widget.fail()).toMatch(/damaged/)
    expect(await widget.text('.stage')).not.toMatch(/you can use it/)
    await widget.click('Another photo')
    await widget.choose(slip)
    await widget.reach('Your photo')
    await widget.start()
    expect(await widget.fail()).toMatch(/too small/)
    expect(front.proxy.seen('PUT').length).toBeGreaterThan(0)
  })

  it('shrinks a photo with more pixels than the service accepts', async () => {
    const huge = join(front.downloads, 'huge.jpg')
    const size = { width: 9000, height: 7000, channels: 3 as const, background: 'teal' }
    await writeFile(huge, await sharp({ create: size }).jpeg().toBuffer())
    await visit()
    await widget.choose(huge)
    await widget.reach('Your photo')
    await widget.start()
    expect(await widget.fail()).toMatch(/cannot find a person/)
  })

  it('uploads a photo once, however often the button is clicked', async () => {
    const sent = front.proxy.seen('PUT').length
    await visit('/products/105')
    await widget.choose(PHOTO)
    await widget.reach('Your photo')
    await until(() => widget.evaluate(`return root.querySelector('#consent') !== null`))
    await widget.evaluate(`root.querySelector('#consent').click()
      const begin = root.querySelector('.panel .primary')
      for (let i = 0; i < 5; i++) begin.click()`)
    await widget.reach('Here you are')
    expect(front.proxy.seen('PUT').length).toBe(sent + 1)
  })

  it('shows earlier results until consent is withdrawn, also in another element of the page', async () => {
    await visit('/products/101')
    await tryOn()
    await page.goto(`${front.shop.url}/products/102`)
    await widget.arrive()
    await widget.click('Try it on')
    await widget.reach('Use the same photo again?')
    await widget.start()
    await widget.reach('Here you are')
    const shown = () => widget.evaluate(`return root.querySelector('.stage img')?.alt`)
    expect(await shown()).toBe('You, wearing: Sunset T-shirt, navy')
    const earlier = (alt: string) =>
      widget.evaluate(
        `return [...root.querySelectorAll('.earlier button')].find((one) => one.firstElementChild.alt === '${alt}')?.click() ?? 0`,
      )
    await earlier('You, wearing: Mustard T-shirt')
    await until(async () => (await shown()) === 'You, wearing: Mustard T-shirt')
    await until(() => widget.evaluate(`return root.querySelector('.stage img').naturalWidth > 0`))
    // The page sells another product.
    expect(await widget.text('fieldset')).toBe(null)
    // Makes its URL invalid, as it is after an hour.
    await page.evaluate(`sessionStorage.setItem('drape:results', sessionStorage.getItem('drape:results')
      .replaceAll(/signature=[^&"]*/g, 'signature=old'))`)
    await widget.click('Another photo')
    await earlier('You, wearing: Sunset T-shirt, navy')
    await until(() => widget.evaluate(`return root.querySelector('.stage img')?.naturalWidth > 0`))

    await page.evaluate(`(() => {
      const second = document.createElement('drape-try-on')
      second.setAttribute('product', '102')
      document.body.append(second)
    })()`)
    const second = (body: string) =>
      page.evaluate(`(() => { const root = document.querySelectorAll('drape-try-on')[1].shadowRoot; ${body} })()`)
    await until(() => second(`return Boolean(root?.querySelector('.button'))`))
    await page.keyboard.press('Escape')
    await page.evaluate(`document.querySelectorAll('drape-try-on')[1].open()`)
    await until(() => second(`return root.querySelector('h2')?.textContent === 'Use the same photo again?'`))
    await second(`root.querySelector('.earlier button').click()`)
    await until(() => second(`return root.querySelector('.stage img')?.naturalWidth > 0`))
    await page.keyboard.press('Escape')
    await widget.evaluate(`root.querySelector('.button').click()`)
    for (let clicks = 0; clicks < 2; clicks++) await widget.click('Withdraw consent and delete my photos')
    await until(async () => (await widget.text('[role=status]'))?.startsWith('Your consent is withdrawn'))
    expect(await widget.heading()).toBe('Start with a photo of yourself')
    expect(await widget.text('.earlier')).toBe(null)
    expect(await second(`return root.querySelector('.stage img')`)).toBe(null)
    expect(await page.evaluate(`Object.keys(sessionStorage).filter((key) => /photo|wish|results/.test(key))`)).toEqual(
      [],
    )
  })

  it('tries the product on with another of the shop, with the same photo, where the shop can make outfits', async () => {
    const button = `return [...root.querySelectorAll('button')].some(({ textContent }) => textContent.startsWith('Try it with'))`
    await visit('/products/101')
    await tryOn()
    const [uploads, balance] = [front.proxy.seen('PUT').length, await front.drape.balance()]
    await widget.click('Try it with: Black trousers')
    const shown = () => widget.evaluate(`return root.querySelector('.stage img')?.alt`)
    await until(async () => (await shown()) === 'You, wearing: Mustard T-shirt + Black trousers')
    const made = await front.drape.database.one(sql.unsafe`
      select status, shop_id, layers from generations order by created_at desc limit 1`)
    expect(made).toMatchObject({
      status: 'COMPLETED',
      shop_id: front.shopId,
      layers: [
        { layer: 'tops', externalId: '101', applied: true },
        { layer: 'bottoms', externalId: '109', applied: true },
      ],
    })
    expect(front.proxy.seen('PUT')).toHaveLength(uploads)
    expect(await front.drape.balance()).toBe(balance - 2)
    expect(await widget.evaluate(button)).toBe(true)
    // A reloaded page shows the try-on of its own product, and the outfit among the earlier results.
    await page.reload()
    await widget.arrive()
    await widget.click('Try it on')
    await until(async () => (await shown()) === 'You, wearing: Mustard T-shirt')
    const earlier = `return [...root.querySelectorAll('.earlier img')].map(({ alt }) => alt)`
    expect(await widget.evaluate(earlier)).toContain('You, wearing: Mustard T-shirt + Black trousers')
    await page.browserContext().close()
    // A service that does not say that it makes outfits.
    front.proxy.fail('/public/check-credits', 'silence')
    await visit('/products/101')
    await tryOn()
    expect(await widget.evaluate(button)).toBe(false)
  })

  it('compares a result with its photo, and zooms it, by keyboard and pointer, also for the next product', async () => {
    const slider = `root.querySelector('[part=compare]')`
    const pane = (expression: string) =>
      widget.evaluate(`const pane = root.querySelector('.pane'); return ${expression}`)
    /** Whether the photo covers the result at these shares of its width; the page must not read the pixels. */
    const isCovered = async (shares: readonly number[]) => {
      await widget.evaluate(`root.querySelector('.stage img').style.visibility = 'hidden'`)
      const stage = await page.$('drape-try-on >>> .stage')
      const pixels = sharp(await stage?.screenshot())
        .removeAlpha()
        .raw()
      const { data, info } = await pixels.toBuffer({ resolveWithObject: true })
      await widget.evaluate(`root.querySelector('.stage img').style.visibility = ''`)
      const row = Math.round(info.height / 2) * info.width
      // Nothing of the person is as red as the stage.
      return shares.map((share) => data[(row + Math.round(share * info.width)) * 3] < 200)
    }
    const compare = async () => {
      await until(() => widget.evaluate(`return ${slider} !== null`))
      await widget.settle()
      expect(await isCovered([0.45, 0.55])).toEqual([false, false])
      await widget.evaluate(`${slider}.focus()`)
      for (let i = 0; i < 50; i++) await page.keyboard.press('ArrowRight')
      expect(await widget.evaluate(`return ${slider}.value`)).toBe('50')
      expect(await isCovered([0.45, 0.55])).toEqual([true, false])
    }
    await visit('/products/101')
    await tryOn()
    await compare()
    const isZoomed = () => pane('pane.scrollWidth > 2 * pane.clientWidth')
    expect(await isZoomed()).toBe(false)
    await widget.evaluate(`root.querySelector('.tool').focus()`)
    await page.keyboard.press('Enter')
    expect(await isZoomed()).toBe(true)
    expect(await widget.evaluate(`return root.querySelector('.tool').ariaPressed`)).toBe('true')
    const left = Number(await pane('pane.scrollLeft'))
    expect(left).toBeGreaterThan(0)
    await pane('pane.focus()')
    await page.keyboard.press('ArrowRight')
    await until(async () => Number(await pane('pane.scrollLeft')) > left)
    await widget.evaluate(`root.querySelector('.stage img').click()`)
    expect(await isZoomed()).toBe(false)
    await page.goto(`${front.shop.url}/products/102`)
    await widget.arrive()
    await widget.click('Try it on')
    await widget.reach('Use the same photo again?')
    await widget.start()
    await widget.reach('Here you are')
    await compare()
  })

  it('cancels a try-on that waits, gets its credit back and keeps the photo', async () => {
    const { database, balance } = front.drape
    await visit('/products/101')
    await widget.choose(PHOTO)
    await widget.reach('Your photo')
    const before = await balance()
    // No worker has such an engine.
    await database.query(sql.unsafe`
      create function wait_forever() returns trigger language plpgsql as $$ begin new.engine_name = 'none'; return new; end $$`)
    await database.query(sql.unsafe`
      create trigger zz_waits before insert on outbox for each row execute function wait_forever()`)
    await widget.start()
    await until(async () => (await balance()) === before - 1)
    await until(() => page.evaluate(`Object.keys(sessionStorage).some((key) => key.startsWith('drape:wish'))`))
    expect(await widget.text('[role=status]')).toBe('Waiting for a free fitting room')
    await widget.click('Cancel')
    await widget.reach('Your photo')
    expect(await widget.text('[role=status]')).toBe('')
    await until(async () => (await balance()) === before)
    await database.query(sql.unsafe`drop function wait_forever cascade`)
    await widget.start()
    await widget.reach('Here you are')
    expect(await balance()).toBe(before - 1)
  })

  it('cancels a try-on whose request is still on its way', async () => {
    const { balance } = front.drape
    await visit('/products/101')
    await widget.choose(PHOTO)
    await widget.reach('Your photo')
    const before = await balance()
    const { promise: held, resolve: hold } = Promise.withResolvers<HTTPRequest>()
    await page.setRequestInterception(true)
    page.on('request', (request) => {
      if (request.url().endsWith('/fitting-room')) hold(request)
      else void request.continue()
    })
    await widget.start()
    const request = await held
    await widget.click('Cancel')
    await widget.reach('Your photo')
    const cancelled = page.waitForResponse((answer) => answer.url().endsWith('/cancel'))
    await request.continue()
    expect(await (await cancelled).json()).toMatchObject({ status: 'FAILED', errorCode: 'GENERATION_CANCELLED' })
    expect(await balance()).toBe(before)
    expect(await widget.heading()).toBe('Your photo')
  })

  it('is hidden, with the reason in the console, for a shop whose account is deactivated', async () => {
    const accounts = createAccounts(front.drape.database)
    const { id: accountId } = await accounts.insert({ name: 'Closed', email: null, credits: 5 })
    const site = { domain: 'closed.example', secret: 'silence' }
    await createShops(front.drape.database).insert({ accountId, platform: 'plugin', ...site })
    await accounts.update(accountId, { isActive: false })
    const shop = await startShop({ ...front.shopOptions, site: site.domain })
    page = await front.openPage()
    await page.goto(`${shop.url}/products/101`)
    await until(() =>
      page.evaluate(`document.querySelector('drape-try-on').shadowRoot?.querySelector('.button')?.hidden`),
    )
    const said = front.browserErrors.splice(0).join('\n')
    expect(said).toContain('The account of the shop is deactivated')
    expect(said).toContain('the button is hidden')
    await shop.stop()
  })

  it('thanks for an e-mail address only with the consent to news, shows no error, and counts only stored ones', async () => {
    const count = async (name: string) =>
      Number(await front.drape.database.oneFirst(sql.unsafe`select count(*)::int from events where name = ${name}`))
    const asked = await count('widget:email_prompt_view')
    await visit('/products/103')
    await tryOn()
    front.proxy.fail('/public/collect-email', { answer: 503 })
    await widget.evaluate(`root.querySelector('#email').value = 'ada@shopper.example'`)
    await widget.click('Send')
    expect(await widget.text('form')).toBe('The shop has your address and will not send you news.')
    await page.goto('about:blank')
    await until(async () => (await count('widget:email_prompt_view')) > asked)
    expect(await count('widget:email_collected')).toBe(0)
  })

  it('keeps the chosen size in sync with the page, and adds it to the cart', async () => {
    await visit('/products/103')
    await tryOn()
    const sizes = () =>
      widget.evaluate(
        `return [...root.querySelectorAll('.size input')].map(({ checked, disabled }) => checked ? 'chosen' : disabled ? 'sold out' : 'free')`,
      )
    expect(await sizes()).toEqual(['free', 'chosen', 'free', 'sold out'])
    expect(await widget.text('[part=note]')).toMatch(/not a prediction of fit/)
    await widget.evaluate(`root.querySelectorAll('.size input')[2].click()`)
    expect(await page.$eval('[name=size]:checked', (radio) => (radio as unknown as { value: string }).value)).toBe('L')
    const asked = page.evaluate(`new Promise((resolve) =>
      document.addEventListener('drape-add-to-cart', ({ detail }) => resolve([detail.variant, detail.size]), { once: true }))`)
    await widget.click('Add to cart')
    expect(await asked).toEqual(['gid://shop/ProductVariant/103-L', 'L'])
    await until(() => page.evaluate(`sessionStorage.getItem('cart')?.includes('L')`))
    await until(() =>
      widget.evaluate(`return root.querySelector('.panel .stack .small')?.textContent === 'It is in your cart.'`),
    )

    // Without a chosen size, the widget asks for one.
    await page.evaluate(`document.querySelector('drape-try-on').removeAttribute('size')`)
    await widget.evaluate(`root.querySelector('.earlier') ?? 0`)
    await page.keyboard.press('Escape')
    await page.reload()
    await widget.arrive()
    await page.evaluate(`document.querySelector('drape-try-on').removeAttribute('size')`)
    await widget.click('Try it on')
    await widget.reach('Here you are')
    await widget.click('Add to cart')
    expect(await widget.text('[role=status]')).toBe('Please choose a size first.')
    expect(await widget.evaluate(`return root.activeElement.type`)).toBe('radio')
  })

  it('looks the same on a page with hostile styles, and ignores unknown languages', async () => {
    await visit('/products/101', { script: 'window.before = 1' })
    const textOf = `(selector) => {
      const { fontSize, letterSpacing, textTransform, visibility, pointerEvents, textIndent } =
        getComputedStyle(document.querySelector('drape-try-on').shadowRoot.querySelector(selector))
      return { fontSize, letterSpacing, textTransform, visibility, pointerEvents, textIndent }
    }`
    const before = await page.evaluate(`['.panel h2', '.panel .primary', '.panel .soft'].map(${textOf})`)
    await page.evaluate(`(() => {
      const sheet = new CSSStyleSheet()
      sheet.replaceSync('html { font-size: 62.5% } body, body * { letter-spacing: 1em; text-transform: uppercase; text-indent: 99px;' +
        ' visibility: hidden; pointer-events: none; word-spacing: 2em; white-space: nowrap } button { display: none } dialog { display: none }')
      document.adoptedStyleSheets = [sheet]
    })()`)
    expect(await page.evaluate(`['.panel h2', '.panel .primary', '.panel .soft'].map(${textOf})`)).toEqual(before)
    const asked: string[] = []
    page.on('request', (request) => asked.push(new URL(request.url()).pathname))
    for (const lang of [
      '../../public/consent',
      '__proto__',
      'constructor',
      'de/../../x',
      '"><b>',
      'x'.repeat(5000),
      'de_DE',
    ]) {
      await page.evaluate(`document.querySelector('drape-try-on').setAttribute('lang', ${JSON.stringify(lang)})`)
      const spoken = lang === 'de_DE' ? 'Anprobieren' : 'Try it on'
      await until(async () => (await widget.text('.button')) === spoken)
    }
    expect([...new Set(asked.filter((path) => path.endsWith('.json')))]).toEqual(['/apps/drape/widget/de.json'])
    expect(await widget.evaluate(`return root.querySelector('dialog').lang`)).toBe('de-DE')
  })

  it('closes by Back on a phone, where the main action is always in view', async () => {
    page = await front.openPage()
    widget = createWidgetPage(page)
    await page.setViewport({ width: 360, height: 480 })
    for (const path of ['/', '/products/104']) await page.goto(`${front.shop.url}${path}`)
    await widget.arrive()
    const isOpen = () => widget.evaluate(`return root.querySelector('dialog').open`)
    for (const close of [() => page.evaluate('history.back()'), () => page.keyboard.press('Escape')]) {
      await widget.click('Try it on')
      expect(await isOpen()).toBe(true)
      await close()
      await until(async () => !(await isOpen()))
      expect(page.url()).toBe(`${front.shop.url}/products/104`)
    }
    await widget.click('Try it on')
    // Opened again before the browser reports that it was closed, it has one entry still.
    await widget.evaluate(`root.querySelector('dialog').close(); root.querySelector('.button').click()`)
    await widget.choose(PHOTO)
    await widget.reach('Your photo')
    const bottom = `return Math.round(root.querySelector('.panel .primary').getBoundingClientRect().bottom)`
    await until(() => widget.evaluate(`return root.querySelector('[part=consent]').dataset.loaded !== undefined`))
    expect(await widget.evaluate(bottom)).toBeLessThanOrEqual(480)
    await page.keyboard.press('Escape')
    await until(async () => !(await page.evaluate('history.state')))
    await page.goBack()
    expect(page.url()).toBe(`${front.shop.url}/`)
  })
})
