import { randomUUID } from 'node:crypto'
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Page } from 'puppeteer-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createConsents } from '../../api/consents/consents.store.ts'
import { sql } from '../../api/shared/database/database.ts'
import { createShops } from '../../api/shops/shops.store.ts'
import { isHeldOut } from '../../api/storefront/events/holdout.ts'
import { startShop } from '../../scripts/samples/shop/server.ts'
import { reserveFreePort } from '../../scripts/stack/ports.ts'
import { browserReason } from '../support/browser.ts'
import { storageOf } from '../support/completed.ts'
import { formOf, readSample } from '../support/drape.ts'
import { spawnProcess } from '../support/process.ts'
import { useQuickEngine } from '../support/quick-engine.ts'
import { until } from '../support/until.ts'
import { type Storefront, startStorefront } from './storefront.ts'
import { readBlockSettings, readExtension, renderBlock, startThemedShop } from './theme-block.ts'
import { createWidgetPage, type WidgetPage } from './widget-page.ts'

const PHOTO = new URL('../../scripts/samples/persons/down-half-teal.jpg', import.meta.url).pathname
if (browserReason) console.warn(`The widget in a browser is skipped: ${browserReason}`)

describe.skipIf(browserReason)(`the widget in a shop${browserReason && ` (skipped: ${browserReason})`}`, () => {
  let front: Storefront
  let page: Page
  let widget: WidgetPage

  beforeAll(async () => {
    front = await startStorefront({ answering: 'warp' })
    page = await front.openPage()
    widget = createWidgetPage(page)
    await visit('/products/101')
  })
  afterAll(() => front?.stop())

  async function visit(path: string): Promise<void> {
    await page.goto(`${front.shop.url}${path}`)
    await widget.arrive()
  }
  const findGenerations = () =>
    front.drape.database.any(sql.unsafe`
      select id, status, shop_id, product_external_id, result_key, external_user_id from generations order by created_at`) as Promise<
      Record<string, string>[]
    >

  it('completes a try-on by keyboard alone and returns the focus to its button', async () => {
    await page.focus('#add')
    await page.keyboard.press('Tab')
    expect(await widget.focused()).toBe('Try it on')
    await page.keyboard.press('Enter')
    expect(await widget.focused()).toBe('Choose a photo')
    // The file dialog of the system is out of reach; the click on the file input is observable.
    await widget.evaluate(`const field = root.querySelector('input[type=file]')
field.addEventListener('click', (event) => { event.preventDefault(); field.dataset.asked = '' })`)
    await page.keyboard.press('Enter')
    await until(() => widget.evaluate(`return 'asked' in root.querySelector('input[type=file]').dataset`))
    await widget.choose(PHOTO)
    await widget.reach('Your photo')
    expect(await widget.focused()).toBe('Try it on')
    const box = (expression: string) =>
      widget.evaluate(`const box = root.querySelector('#consent'); return ${expression}`)
    await until(() => box('box !== null'))
    expect(await box('box.checked')).toBe(false)
    expect(await box('box.closest("label").textContent')).toMatch(/^I agree that my photo is used/)
    await page.keyboard.press('Enter')
    await until(() => box('root.activeElement === box'))
    expect(await box('box.getAttribute("aria-describedby")')).toBe('consent-problem')
    expect(await widget.text('#consent-problem:not([hidden])')).toBe('Please tick the box first.')
    expect(await widget.text('[role=status]')).toBe('Please tick the box first.')
    expect(front.proxy.seen('PUT')).toEqual([])
    await page.keyboard.press('Space')
    expect(await widget.text('#consent-problem:not([hidden])')).toBe(null)
    await widget.tabTo('Try it on')
    await page.keyboard.press('Enter')
    await widget.reach('Here you are')
    expect(await widget.focused()).toBe('Here you are')
    expect(await widget.text('[role=status]')).toBe('Here you are')
    await page.keyboard.press('Escape')
    expect(await widget.evaluate(`return root.querySelector('dialog').open`)).toBe(false)
    expect(await widget.focused()).toBe('See your picture')
    const [generation] = await findGenerations()
    expect(generation).toMatchObject({ status: 'COMPLETED', shop_id: front.shopId, product_external_id: '101' })
    expect(generation.external_user_id).toMatch(new RegExp(`^${front.shopId}:visitor:[\\dA-Za-z]{22}$`))
  })

  it('shows the shirt on the photo', async () => {
    await widget.click('See your picture')
    const chest = await until(() => widget.colourAt(0.5, 0.55))
    // Teal before, mustard now.
    expect(chest[0]).toBeGreaterThan(chest[2] + 40)
    // The tests below need a result, whatever it shows.
    await useQuickEngine(front.drape.database, { refusals: true })
  })

  it('shares the result by a link that works', async () => {
    await widget.click('Share')
    const link = await until(() => widget.evaluate(`return root.querySelector('input[type=url]')?.value`))
    const answer = await fetch(String(link), { headers: { accept: 'application/json' } })
    expect(await answer.json()).toMatchObject({ product: { title: 'Mustard T-shirt' }, merchant: { name: 'Halden' } })
  })

  it('downloads the result under a file name with the product title', async () => {
    await widget.click('Download')
    const name = await until(async () => (await readdir(front.downloads)).find((file) => file.endsWith('.jpg')))
    expect(name).toBe('Drape - Your Try On - Mustard T-shirt.jpg')
    const [{ result_key: key }] = await findGenerations()
    const stored = await (await storageOf(front.drape)).get(key)
    expect((await readFile(join(front.downloads, name))).equals(stored ?? Buffer.alloc(0))).toBe(true)
  })

  it('stores only a valid e-mail address, with the marketing consent', async () => {
    await widget.evaluate(`root.querySelector('#email').value = 'grace'`)
    await widget.click('Send')
    expect(await widget.evaluate(`return root.querySelector('#email').ariaInvalid`)).toBe('true')
    await widget.evaluate(`root.querySelector('#email').value = 'grace@shopper.example'`)
    await widget.evaluate(`root.querySelector('#email-consent').click()`)
    await widget.click('Send')
    const lead = await until(() =>
      front.drape.database.maybeOne(sql.unsafe`select shop_id, email, marketing_consent from leads`),
    )
    expect(lead).toEqual({ shop_id: front.shopId, email: 'grace@shopper.example', marketing_consent: true })
    expect(await widget.text('form')).toBe('Thank you.')
  })

  it('adds the product to the cart of the page', async () => {
    await widget.click('Add to cart')
    await until(async () => (await page.$eval('#count', ({ textContent }) => textContent)) === '1')
    expect(await until(() => widget.text('.panel .small:not(.soft)'))).toBe('It is in your cart.')
  })

  it('sends each event once with its page context, also when the page is closed', async () => {
    await page.keyboard.press('Escape')
    await page.goto('about:blank')
    const expected = [
      ...['product_page:page_view', 'widget:button_view', 'widget:button_click', 'widget:image_upload'],
      ...['widget:image_upload_success', 'widget:generation_start', 'widget:result_view', 'widget:email_prompt_view'],
      ...['widget:modal_close', 'widget:button_click', 'widget:share_clicked', 'widget:download_clicked'],
      ...['widget:email_collected', 'widget:add_to_cart_clicked', 'widget:add_to_cart_success', 'widget:modal_close'],
    ]
    const events = await until(async () => {
      const found = await front.drape.database.any(sql.unsafe`select * from event_details`)
      return found.length >= expected.length && (found as Record<string, string>[])
    })
    expect(events.map(({ name }) => name).toSorted()).toEqual(expected.toSorted())
    const [{ id }] = await findGenerations()
    const { context, ...result } = events.find(({ name }) => name === 'widget:result_view') ?? {}
    expect(result).toMatchObject({ shop_id: front.shopId, product_id: 'gid://shop/Product/101', generation_id: id })
    expect(result.anonymous_id).toMatch(/^anon_[\da-f-]{36}$/)
    expect(context).toMatchObject({
      $current_url: `${front.shop.url}/products/101`,
      $pathname: '/products/101',
      $host: new URL(front.shop.url).host,
      $viewport_width: 800,
      $browser_language: expect.any(String),
      $session_id: expect.stringMatching(/^sess_/),
      service_client_id: result.anonymous_id.slice('anon_'.length),
      service_widget_enabled: true,
      service_product_id: 'gid://shop/Product/101',
    })
    expect(new Set(events.map(({ session_id }) => session_id)).size).toBe(1)
    expect(JSON.stringify(events)).not.toContain('grace@shopper.example')
  })

  it('shows the result again after the page was reloaded', async () => {
    await visit('/products/101')
    await widget.click('Try it on')
    await widget.reach('Here you are')
    expect(await findGenerations()).toHaveLength(1)
  })

  it('offers the photo for another product without uploading it again', async () => {
    const uploads = front.proxy.seen('PUT').length
    await visit('/products/102')
    await widget.click('Try it on')
    await widget.reach('Use the same photo again?')
    await widget.start()
    await widget.reach('Here you are')
    expect(front.proxy.seen('PUT').length).toBe(uploads)
    expect((await findGenerations()).map((generation) => generation.product_external_id)).toEqual(['101', '102'])
  })

  it('sends its events with the publishable key if the page has one', async () => {
    await visit('/products/103?way=key')
    await widget.click('Try it on')
    await page.goto('about:blank')
    const events = (await until(async () => {
      const found = await front.drape.database.any(sql.unsafe`
        select name, shop_id, anonymous_id, context->>'integration' as integration, context->>'widget_version' as version
        from event_details where product_id = 'gid://shop/Product/103'`)
      return found.length >= 2 && found
    })) as Record<string, string>[]
    expect(events.map(({ name }) => name).toSorted()).toEqual(['product_page:page_view', 'widget:button_click'])
    for (const event of events) {
      expect(event).toMatchObject({ shop_id: null, integration: 'widget', version: expect.stringMatching(/^wv_/) })
      expect(event.anonymous_id).toMatch(/^anon_[\da-f-]{36}$/)
    }
  })

  it('works with requests to the origin of the shop alone', async () => {
    const asked = new Set<string>()
    page.on('request', (request) => asked.add(new URL(request.url()).origin))
    await visit('/products/104?way=only-proxy')
    await widget.click('Try it on')
    await widget.reach('Use the same photo again?')
    await widget.click('Another photo')
    await widget.choose(PHOTO)
    await widget.reach('Your photo')
    await widget.start()
    await widget.reach('Here you are')
    await until(() => widget.evaluate(`return root.querySelector('.stage img').naturalWidth > 0`))
    page.removeAllListeners('request')
    expect([...asked]).toEqual([front.shop.url])
  })

  it('accepts a dropped photo, and shrinks a photo of more than 10 MB', async () => {
    const visitor = await front.openPage()
    const dropped = createWidgetPage(visitor)
    await visitor.goto(`${front.shop.url}/products/106`)
    await dropped.arrive()
    await dropped.click('Try it on')
    const bytes = await visitor.evaluate(`(async () => {
      const canvas = new OffscreenCanvas(2200, 2200)
      const context = canvas.getContext('2d')
      const noise = context.createImageData(2200, 2200)
      for (let i = 0; i < noise.data.length; i++) noise.data[i] = i % 4 === 3 ? 255 : Math.random() * 256
      context.putImageData(noise, 0, 0)
      const file = new File([await canvas.convertToBlob()], 'noise.png', { type: 'image/png' })
      const dataTransfer = new DataTransfer()
      dataTransfer.items.add(file)
      const dialog = document.querySelector('drape-try-on').shadowRoot.querySelector('dialog')
      dialog.dispatchEvent(new DragEvent('drop', { dataTransfer, bubbles: true, cancelable: true }))
      return file.size
    })()`)
    expect(bytes).toBeGreaterThan(10 * 1024 * 1024)
    await dropped.reach('Your photo')
    await dropped.start()
    expect(await dropped.fail()).toMatch(/cannot find a person/)
    await visitor.browserContext().close()
  })

  it('stores no ID and sends no event with analytics="off"', async () => {
    const visitor = await front.openPage()
    const asked: string[] = []
    visitor.on('request', (request) => asked.push(new URL(request.url()).pathname))
    await visitor.goto(front.shop.url)
    await visitor.evaluate(`(() => {
      const quiet = document.createElement('drape-try-on')
      quiet.setAttribute('product', '107')
      quiet.setAttribute('analytics', 'off')
      document.body.append(quiet)
    })()`)
    const quiet = createWidgetPage(visitor)
    await quiet.arrive()
    await quiet.click('Try it on')
    expect(await visitor.evaluate('[localStorage.length, sessionStorage.length]')).toEqual([0, 0])
    await visitor.goto(`${front.shop.url}/privacy`)
    expect(asked).toContain('/apps/drape/public/check-credits')
    expect(asked.filter((path) => path.endsWith('/events'))).toEqual([])
    await visitor.browserContext().close()
  })

  it('shows no button to visitors in the holdout of the shop, and counts them like the others', async () => {
    await shareHeld(50)
    const seen = await Promise.all([true, false].map(visitAs))
    const anonymous = await front.openPage()
    await anonymous.goto(front.shop.url)
    // Without analytics each has an ID of its own, and is in no group.
    await anonymous.evaluate(`for (let i = 0; i < 8; i++) {
      const quiet = document.createElement('drape-try-on')
      quiet.setAttribute('product', '107')
      quiet.setAttribute('analytics', 'off')
      document.body.append(quiet)
    }`)
    const shown = `.flatMap(({ shadowRoot }) => [...shadowRoot.querySelectorAll('.button:not([data-waiting], [hidden])')])`
    await until(() => anonymous.evaluate(`[...document.querySelectorAll('[analytics]')]${shown}.length === 8`))
    await anonymous.browserContext().close()
    await shareHeld(null)
    expect(seen.map(({ display, heard }) => ({ display, heard }))).toEqual([
      { display: 'none', heard: { holdout: true, attributes: { _drape_anonymous_id: seen[0].client } } },
      { display: 'inline-flex', heard: { holdout: false, attributes: { _drape_anonymous_id: seen[1].client } } },
    ])
    const namesOf = (client: string) =>
      front.drape.database.anyFirst(sql.unsafe`
        select name from event_details where anonymous_id = ${`anon_${client}`} order by name`)
    const looks = ['product_page:cart_add', 'product_page:page_view']
    for (const [i, names] of [looks, [...looks, 'widget:button_view']].entries()) {
      const { client, visitor } = seen[i]
      await until(async () => (await namesOf(client)).length >= names.length)
      expect(await namesOf(client)).toEqual(names)
      await visitor.browserContext().close()
    }
  })

  /** Changes the share, and waits until the API, which uses a known shop for 3 s, has it. */
  async function shareHeld(holdoutPercent: number | null): Promise<void> {
    await createShops(front.drape.database).update(front.shopId, { holdoutPercent })
    await until(async () => {
      const headers = { 'x-service-anonymous-id': `anon_${randomUUID()}` }
      const answer = await fetch(`${front.shop.url}/apps/drape/public/check-credits`, { headers })
      return 'holdout' in ((await answer.json()) as object) === (holdoutPercent !== null)
    })
  }

  /** A product page as a new visitor of a group sees it, who adds the product to the cart without the widget. */
  async function visitAs(isHeld: boolean) {
    const clients = Array.from({ length: 40 }, () => randomUUID())
    const client = clients.find((one) => isHeldOut(front.shopId, `anon_${one}`, 50) === isHeld) ?? ''
    const visitor = await front.openPage()
    await visitor.evaluateOnNewDocument(`
      if (location.protocol === 'http:') localStorage.setItem('drape:client', '${client}')
      document.addEventListener('drape-holdout', ({ detail }) => { globalThis.heard = detail })`)
    await visitor.goto(`${front.shop.url}/products/101`)
    const heard = await until(() => visitor.evaluate('globalThis.heard'))
    await until(() => visitor.$('drape-try-on >>> .button:not([data-waiting])'))
    const display = await createWidgetPage(visitor).evaluate(
      `return getComputedStyle(root.querySelector('.button')).display`,
    )
    await visitor.click('#add')
    await visitor.goto('about:blank')
    return { visitor, client, display, heard }
  }

  it('asks for consent to a new version of the text, and deletes all data when consent is withdrawn', async () => {
    const visitor = await front.openPage()
    await visitor.goto(`${front.shop.url}/products/108?lang=de`)
    const asking = createWidgetPage(visitor)
    await asking.arrive()
    await asking.click('Anprobieren')
    await asking.choose(PHOTO)
    await until(() => asking.text('#consent + span'))
    expect(await asking.text('label.choice')).toMatch(/^Ich bin einverstanden/)
    // While the shopper reads, the shop publishes another text.
    const name = { accountId: front.drape.accountId, policy: front.shopOptions.site }
    const texts = { en: 'I agree to <b>all</b> of it.', de: 'Ich stimme <b>allem</b> zu.' }
    await createConsents(front.drape.database).publish(name, { version: '2', texts })
    await asking.start()
    await until(() => asking.text('[part=error]'))
    expect(await asking.text('[part=error]')).toMatch(/hat sich geändert/)
    await asking.click('Noch einmal versuchen')
    await until(() => asking.text('#consent + span'))
    expect(await asking.text('label.choice')).toBe(texts.de)
    expect(await asking.evaluate(`return root.querySelector('#consent').checked`)).toBe(false)
    const privacy = String(await asking.evaluate(`return root.querySelector('[part=privacy]').href`))
    await asking.start()
    await until(() => asking.evaluate(`return root.querySelector('.stage img')?.naturalWidth > 0`))
    const ofVisitors = sql.unsafe`
      select count(*)::int from generations where consent->>'version' = '2' and external_user_id is not null`
    expect(await front.drape.database.oneFirst(ofVisitors)).toBe(1)
    await asking.click('Einwilligung widerrufen und meine Fotos löschen')
    expect(await asking.evaluate(`return root.querySelector('[role=alert].small').textContent`)).toMatch(/^Das löscht/)
    expect(await front.drape.database.oneFirst(ofVisitors)).toBe(1)
    await asking.click('Einwilligung widerrufen und meine Fotos löschen')
    await until(() =>
      asking.evaluate(`return root.querySelector('[role=status]').textContent.startsWith('Deine Einwilligung')`),
    )
    expect(await asking.text('[part=notice]')).toMatch(/^Deine Einwilligung ist widerrufen/)
    expect(await front.drape.database.oneFirst(ofVisitors)).toBe(0)
    expect(await visitor.evaluate(`sessionStorage.getItem('drape:photo')`)).toBe(null)
    expect(privacy).toMatch(/privacy/)
    // Browsers log every error response.
    expect(front.browserErrors.splice(0)).toEqual([expect.stringContaining('409')])
    await visitor.browserContext().close()
  })

  it('uses the language of the page, and English for languages without texts', async () => {
    for (const [language, text] of Object.entries({
      de: 'Anprobieren',
      fr: 'Essayer',
      es: 'Pruébatelo',
      it: 'Provalo',
      pt: 'Experimentar',
      pl: 'Przymierz',
      ar: 'جرّبها عليك',
      nl: 'Passen',
      sv: 'Try it on',
    })) {
      await visit(`/products/101?lang=${language}`)
      expect(await widget.text('.button')).toBe(text)
    }
    expect(await widget.evaluate(`return root.querySelector('dialog').lang`)).toBe('en')
  })

  it('shifts no layout, adds no globals and violates no policy', async () => {
    await page.evaluateOnNewDocument('window.namesBefore = Object.keys(window)')
    await visit('/products/105')
    const shift = `new Promise((resolve) => {
      let sum = 0
      new PerformanceObserver((list) => { for (const { value } of list.getEntries()) sum += value }).observe({ type: 'layout-shift', buffered: true })
      requestAnimationFrame(() => requestAnimationFrame(() => resolve(sum)))
    })`
    // A hundredth of what is visible; text that gets its font late may move by a part of a pixel.
    expect(await page.evaluate(shift)).toBeLessThan(0.001)
    const names = `Object.keys(window).filter((name) => !window.namesBefore.includes(name))`
    expect(await page.evaluate(names)).toEqual(['namesBefore'])
    expect(front.browserErrors).toEqual([])
  })

  it('works with the example shop of its documentation', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'drape-shop-'))
    const text = await readFile(new URL('../../docs/widget.md', import.meta.url), 'utf8')
    const [, program] = text.match(/^```js\n(import .*?)^```$/ms) ?? []
    await writeFile(join(folder, 'shop.mjs'), program)
    const reserved = await reserveFreePort()
    await reserved.release()
    const { site: SITE, secret: SECRET } = front.shopOptions
    const env = { ...process.env, DRAPE_URL: front.proxy.url, SITE, SECRET, PORT: String(reserved.port) }
    const started = await spawnProcess({ command: process.execPath, args: ['shop.mjs'], cwd: folder, env })
    const shirt = await readSample('garments/tshirt-mustard.jpg')
    const product = { externalId: 'shirt-1', title: 'Mustard T-shirt', images: [{ source: { fileKey: 'image' } }] }
    await front.drape.call('POST', '/tryon/v1/products', { body: formOf(product, { image: shirt }) })

    const url = `http://localhost:${reserved.port}`
    await until(() => fetch(url).catch(() => null))
    const visitor = await front.openPage()
    await visitor.goto(url)
    const button = createWidgetPage(visitor)
    await button.arrive()
    await button.click('Try it on')
    await button.choose(PHOTO)
    await button.reach('Your photo')
    await button.start()
    await button.reach('Here you are')
    await started.end()
    await rm(folder, { recursive: true })
    expect(await findGenerations()).toContainEqual(
      expect.objectContaining({ product_external_id: 'shirt-1', status: 'COMPLETED' }),
    )
  })

  describe('the Shopify theme block', () => {
    const product = {
      id: 101,
      title: 'A "quoted" shirt',
      available: true,
      options: ['Size'],
      variants: [
        { id: 7001, title: 'S', available: true },
        { id: 7002, title: 'M "wide"', available: false },
      ],
      selected_or_first_available_variant: { id: 7001, available: true },
    }

    it('has a label for every setting, and renders nothing without a product', async () => {
      const { settings } = JSON.parse(await readExtension('locales/en.default.schema.json'))
      for (const { id, label } of await readBlockSettings()) expect(label, id).toBe(`t:settings.${id}`)
      expect(Object.keys(settings)).toEqual(expect.arrayContaining((await readBlockSettings()).map(({ id }) => id)))
      expect((await renderBlock(null as never)).trim()).toBe('')
      const bare = await renderBlock(product, { cart: false, email: false, analytics: false, label: '"><script>' })
      expect(bare).toMatch(/ email="off" analytics="off"\s+data-block="1"/)
      expect(bare).not.toMatch(/ cart|"><script>/)
    })

    it('names the browser in the cart of every visitor, once a page, while the shop has a holdout', async () => {
      await shareHeld(50)
      const visitor = await front.openPage()
      await using themed = await startThemedShop(front.shop.url, await renderBlock(product))
      await visitor.evaluateOnNewDocument(`
        globalThis.heard = 0
        document.addEventListener('drape-holdout', () => { globalThis.heard++ })`)
      await visitor.goto(themed.url)
      await until(() => themed.posted.length > 0)
      await visitor.evaluate(`document.querySelector('drape-try-on').setAttribute('variant', '7002')`)
      await until(() => visitor.evaluate('globalThis.heard > 1'))
      const client = await visitor.evaluate(`localStorage.getItem('drape:client')`)
      expect(themed.posted).toEqual([
        { path: '/en/cart/update.js', body: { attributes: { _drape_anonymous_id: client } } },
      ])
      expect(await visitor.evaluate('[typeof post, typeof isNamed]')).toEqual(['undefined', 'undefined'])
      await visitor.browserContext().close()
      await shareHeld(null)
    })

    it('completes a try-on behind the app proxy and adds the product to the cart of the shop', async () => {
      const visitor = await front.openPage()
      await using themed = await startThemedShop(front.shop.url, await renderBlock(product))
      await visitor.goto(themed.url)
      const block = createWidgetPage(visitor)
      await block.arrive()
      await block.click('Try it on')
      await block.choose(PHOTO)
      await block.reach('Your photo')
      await block.start()
      await block.reach('Here you are')
      await block.click('Add to cart')
      await until(() => themed.posted.length === 2)
      expect(themed.posted).toEqual([
        { path: '/en/cart/add.js', body: { items: [{ id: 7001, quantity: 1 }] } },
        {
          path: '/en/cart/update.js',
          body: { attributes: { _drape_anonymous_id: expect.stringMatching(/^[\w-]{8,}$/) } },
        },
      ])
      await visitor.evaluate(`history.replaceState(null, '', '?variant=7002')`)
      await until(() =>
        visitor.evaluate(`document.querySelector('drape-try-on').getAttribute('variant').endsWith('/7002')`),
      )
    })
  })

  it('takes the customer ID from the shop, not from the query of the browser', async () => {
    const known = await startShop({ ...front.shopOptions, customerId: '7' })
    const post = (path: string, body?: object) =>
      fetch(`${known.url}/apps/drape/public/${path}?logged_in_customer_id=666`, {
        method: 'POST',
        ...(body && { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }),
      })
    const consent = { policy: front.shopOptions.site, version: '2', language: 'en' }
    expect((await post('consent', consent)).status).toBe(201)
    const answer = await post('prepare-upload')
    await known.stop()
    expect(answer.status).toBe(200)
    const owner = sql.unsafe`select external_user_id from objects where kind = 'upload' order by created_at desc limit 1`
    expect(await front.drape.database.oneFirst(owner)).toBe(`${front.shopId}:customer:7`)
  })
})
