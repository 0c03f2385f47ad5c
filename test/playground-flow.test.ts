import { copyFile, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Browser, Page } from 'puppeteer-core'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { rowType, Type } from '../api/shared/contract/schema.ts'
import { sql } from '../api/shared/database/database.ts'
import { encodeImage } from '../api/shared/image/image.ts'
import { buildClient } from '../scripts/clients/build.ts'
import { run } from '../scripts/stack/commands.ts'
import { browserReason, startBrowser } from './support/browser.ts'
import { type Drape, readSample, startDrape } from './support/drape.ts'
import { type FaultyProxy, startFaultyProxy } from './support/faulty-proxy.ts'
import { reasonWithout } from './support/missing.ts'
import { inspectLooks, showsResults } from './support/page-looks.ts'
import type { TestProgram } from './support/process.ts'
import { useQuickEngine } from './support/quick-engine.ts'

const PHOTO = new URL('../scripts/samples/persons/down-half-teal.jpg', import.meta.url).pathname
const OTHER_PHOTO = new URL('../scripts/samples/persons/astronaut.jpg', import.meta.url).pathname
const SHIRT = new URL('../scripts/samples/garments/tshirt-stripe.jpg', import.meta.url).pathname
const LONG = { timeout: 20_000 }
const CAMERA = ['--use-fake-device-for-media-stream', '--use-fake-ui-for-media-stream']
/** More faults than the client and the browser retry on their own. */
const always = <T>(value: T): T[] => Array.from({ length: 60 }, () => value)
const noCurl = (await reasonWithout('curl')) !== ''
if (browserReason) console.warn(`The playground is skipped: ${browserReason}`)

/** A browser on the playground of the real service, behind a proxy that can inject faults. */
describe.skipIf(browserReason)(`the playground${browserReason && ` (skipped: ${browserReason})`}`, () => {
  let drape: Drape
  let worker: TestProgram
  let proxy: FaultyProxy
  let browser: Browser
  let page: Page
  let folder: string
  const pageErrors: string[] = []
  const addresses: string[] = []

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'drape-playground-'))
    drape = await startDrape({ credits: 30, defaultEngines: true })
    worker = await drape.startWorker()
    proxy = await startFaultyProxy(drape.api.url)
    browser = await startBrowser({ args: CAMERA })
    const context = browser.defaultBrowserContext()
    await context.overridePermissions(proxy.url, ['clipboard-read', 'clipboard-sanitized-write', 'camera'])
  })
  beforeEach(async () => {
    await page?.close()
    page = await browser.newPage()
    // A try-on is slow while other test files run.
    page.setDefaultTimeout(100_000)
    page.on('pageerror', (error) => pageErrors.push(String(error)))
    await page.exposeFunction('complain', (what: string) => pageErrors.push(what))
    await page.evaluateOnNewDocument(`addEventListener('securitypolicyviolation', ({ violatedDirective, blockedURI }) =>
      complain(violatedDirective + ' ' + blockedURI))`)
    page.on('request', (request) => addresses.push(request.url()))
    await page.goto(`${proxy.url}/playground`)
    await page.waitForFunction(`document.querySelector('#code').textContent !== ''`)
  })
  afterAll(async () => {
    await browser?.close()
    await proxy?.[Symbol.asyncDispose]()
    await drape?.stop()
    await rm(folder, { recursive: true, force: true })
  })

  const text = (selector: string) => page.$eval(selector, ({ textContent }) => textContent ?? '')
  const appear = (selector: string) => page.waitForSelector(`${selector}:not([hidden])`)
  const until = (condition: string) => page.waitForFunction(condition)
  const enter = async (key: string, { keep = false } = {}) => {
    await page.$eval('#key', (input) => Object.assign(input, { value: '' }))
    await page.type('#key', key)
    if (keep) await page.click('#keep-key')
    await page.click('#key-form button')
  }
  const signIn = async (key = drape.apiKey) => {
    await enter(key)
    await appear('#account')
  }
  const choose = async (name: 'photo' | 'product' | 'second', path: string) => {
    const input = await page.$(`#${name}-file`)
    await (input as unknown as { uploadFile(path: string): Promise<void> } | null)?.uploadFile(path)
    await until(`document.querySelector('[data-image-field=${name}] .drop').classList.contains('filled')`)
  }
  const chooseBoth = async () => {
    await choose('photo', PHOTO)
    await choose('product', SHIRT)
  }
  const done = () => until(`document.querySelector('#said').textContent.startsWith('Done')`)
  const countGenerations = async () => {
    const Row = rowType(Type.Object({ count: Type.Integer() }))
    return (await drape.database.one(sql.type(Row)`select count(*)::int as count from generations`)).count
  }
  /** Presses Tab until the element with this accessible name has the focus. */
  const tabTo = async (wanted: string) => {
    const passed: string[] = []
    for (let i = 0; i < 120; i++) {
      await page.keyboard.press('Tab')
      const reached = String(
        await page.evaluate(`
        (({ labels, textContent, firstElementChild, ariaLabel }) =>
          ariaLabel ?? labels?.[0]?.textContent ?? (textContent.trim() || (firstElementChild?.alt ?? '')))(document.activeElement)`),
      ).trim()
      if (reached === wanted) return
      passed.push(reached)
    }
    throw new Error(`Tab does not lead to "${wanted}", but to ${passed.join(', ')}`)
  }

  it('takes a key out of its address, as of a demo on this machine', async () => {
    await page.goto('about:blank')
    await page.goto(`${proxy.url}/playground#key=${drape.apiKey}`)
    await appear('#account')
    expect(page.url()).toBe(`${proxy.url}/playground`)
    // Browsers send no fragment.
    expect(addresses.splice(0).filter((address) => address.split('#')[0].includes(drape.apiKey))).toEqual([])
    await page.click('#forget')
  })

  it('completes a try-on by keyboard alone, reports its progress and compares photo and result', async () => {
    const statuses: string[] = []
    await page.exposeFunction('addStatus', (status: string) => statuses.push(status))
    await page.evaluate(`new MutationObserver(() => addStatus(document.querySelector('#said').textContent))
      .observe(document.querySelector('#said'), { childList: true, characterData: true, subtree: true })`)
    const credits = await drape.balance()
    await tabTo('Your API key')
    await page.keyboard.type(drape.apiKey)
    await page.keyboard.press('Enter')
    await appear('#account')
    expect(await text('#credits')).toBe(`${credits} credits`)
    await tabTo('Man in a navy polo shirt at a desk')
    await page.keyboard.press('Enter')
    await tabTo('Striped T-shirt')
    await page.keyboard.press('Enter')
    await until(`document.querySelectorAll('.drop.filled').length === 2`)
    await tabTo('Try it on')
    await page.keyboard.press('Enter')
    await done()
    expect(statuses.join()).toMatch(/^Sending the photo ….*(In the queue|Working … \d+ %).*Done in [\d.]+ s\.$/)
    await until(`document.querySelector('#credits').textContent === '${credits - 1} credits'`)
    const shown = await page.evaluate(
      `[...document.querySelectorAll('.frame img')].map(({ naturalWidth, naturalHeight }) => naturalHeight / naturalWidth)`,
    )
    expect(shown).toEqual([expect.closeTo(1.25, 1), expect.closeTo(1.25, 1)])
    await page.keyboard.down('Shift')
    await tabTo('Comparison of photo and result')
    await page.keyboard.up('Shift')
    const shares: unknown[] = []
    for (const key of ['Home', 'ArrowRight', 'End'] as const) {
      await page.keyboard.press(key)
      shares.push(
        await page.evaluate(`(({ value, parentElement, ariaValueText }) =>
        [value, getComputedStyle(parentElement.querySelector('.after')).clipPath, ariaValueText])(document.activeElement)`),
      )
    }
    expect(shares).toEqual([
      ['0', 'inset(0px 0px 0px 100%)', '0 % of the result'],
      ['1', 'inset(0px 0px 0px 99%)', '1 % of the result'],
      ['100', 'inset(0px 0px 0px 0%)', '100 % of the result'],
    ])
    // The tests below need a result, whatever it shows.
    if (!showsResults) await useQuickEngine(drape.database, { refusals: true })
  })

  it('offers every output option of the API but the mask', async () => {
    const { body } = await drape.call('GET', '/tryon/v1/openapi.json', { key: null })
    const { output } = body.components.schemas.TryOn.properties
    const { mask: _, ...options } = output.properties
    const offered = await page.$$eval('[data-option]', (all) => all.map((control) => control.getAttribute('name')))
    expect(new Set(offered)).toEqual(new Set(['crop', ...Object.keys(options)]))
    expect(await page.$$eval('#option-engine option', (all) => all.map((one) => one.textContent))).toContain(
      'fashn-vton',
    )
    expect(await page.$eval('#option-engine', (select) => (select as unknown as { value: string }).value)).toBe('')
  })

  it('lists the engines of the installation once a key is entered', async () => {
    await drape.database.query(sql.unsafe`
      insert into published_engines (namespace, name, license, max_slots) values ('shop', 'fashn-vton', 'Apache-2.0', 0)`)
    const offered = () => page.$$eval('#option-engine option', (all) => all.map((one) => one.textContent))
    await expect.poll(async () => (await drape.call('GET', '/tryon/v1/engines')).body.engines.length, LONG).toBe(3)
    await page.click('#options summary')
    await page.select('#option-engine', 'fashn-vton')
    expect(await text('#code')).toContain('fashn-vton')
    await signIn()
    // The chosen engine cannot serve, so it is not sent.
    await expect
      .poll(offered, LONG)
      .toEqual(['account default', 'warp', 'fashn-vton (unavailable: no worker can run it)', 'mock'])
    expect(await text('#code')).not.toContain('fashn-vton')
    expect(await page.$eval('#option-engine', (select) => (select as unknown as { value: string }).value)).toBe('')
    expect(await page.$eval('#option-engine option[value=fashn-vton]', (one) => one.hasAttribute('disabled'))).toBe(
      true,
    )
    await drape.database.query(sql.unsafe`delete from published_engines`)
    await expect.poll(async () => (await drape.call('GET', '/tryon/v1/engines')).body.engines.length, LONG).toBe(2)
    await page.click('#options summary')
    await expect.poll(offered, LONG).toEqual(['account default', 'warp', 'mock'])
  })

  it('sends the chosen engine, format and crop mode', async () => {
    await signIn()
    await chooseBoth()
    const credits = await drape.balance()
    await page.click('#options summary')
    await page.select('#option-engine', 'mock')
    await page.select('#option-format', 'png')
    await page.click('#option-crop')
    await page.click('#go')
    await done()
    expect(await text('#facts')).toMatch(/Enginemock/)
    await page.click('#tab-json')
    expect(JSON.parse(await text('#code'))).toMatchObject({ status: 'COMPLETED', engineName: 'mock' })
    const link = await page.$eval('#download', (a) => [a.getAttribute('href') ?? '', a.getAttribute('download') ?? ''])
    expect(link[1]).toMatch(/^gen_[\w-]+\.png$/)
    const result = await fetch(link[0])
    expect(result.headers.get('content-type')).toBe('image/png')
    expect(await drape.balance()).toBe(credits)
    const shownId = async () => JSON.parse(await text('#code')).generationId as string
    const first = await shownId()
    await page.click('#go')
    await until(`document.querySelectorAll('#history li').length === 2`)
    expect(await shownId()).not.toBe(first)
    await page.click('#history li:last-child button')
    await until(`document.querySelector('#history li:last-child button').ariaPressed === 'true'`)
    expect(await shownId()).toBe(first)
    await page.reload()
    expect(await page.$$eval('#history li', (all) => all.length)).toBe(0)
    await signIn()
    await page.click('#tab-json')
    await until(`document.querySelectorAll('#history li').length === 2`)
    await page.click('#history li:last-child button')
    await until(`document.querySelector('#history li:last-child button').ariaPressed === 'true'`)
    expect(
      await page.$eval('#comparison .after', (image) => (image as unknown as { naturalWidth: number }).naturalWidth),
    ).toBeGreaterThan(0)
    expect(await shownId()).toBe(first)
    expect(await page.evaluate(`document.querySelector('#download').download`)).toContain(first)
    await page.click('#forget')
    expect(
      await page.$$eval('#history li, #comparison:not([hidden]), #download:not([hidden])', (all) => all.length),
    ).toBe(0)
    expect(await text('#code')).toBe('')
  })

  it('shows every result of a try-on, and the masks of what changed', async () => {
    await signIn()
    await chooseBoth()
    await page.click('#options summary')
    await page.select('#option-engine', 'mock')
    await page.focus('#option-count')
    await page.keyboard.press('ArrowUp')
    await until(`document.querySelector('#price').textContent === 'Free of charge.'`)
    await page.select('#option-engine', 'warp')
    expect(await text('#price')).toBe('Costs 2 credits, refunded if the try-on fails.')
    await page.select('#option-engine', 'mock')
    await page.click('#option-changedMask')
    await page.click('#go')
    await done()
    const shown = await page.$$eval('#history li', (all) => all.map((item) => item.textContent?.replace(/.* s\./, '')))
    expect(shown).toEqual([' Seed 42.', ' Mask of seed 42.', ' Seed 43.', ' Mask of seed 43.'])
    await page.click('#history li:last-child button')
    await until(`document.querySelector('#history li:last-child button').ariaPressed === 'true'`)
    expect(await page.$eval('#comparison .after', (image) => image.getAttribute('src'))).toMatch(/-changed\.png\?/)
    await page.click('#forget')
  })

  it('tries on two products at once, and says which cannot be worn together', async () => {
    await signIn()
    const credits = await drape.balance()
    await page.click('[data-image-field=photo] .sample')
    await page.click('#with-second summary')
    for (const name of ['product', 'second'])
      await page.click(`[data-image-field=${name}] .sample[data-title="T-shirt"]`)
    await until(`document.querySelectorAll('.drop.filled').length === 3`)
    await page.click('#go')
    await appear('#problem')
    expect(await text('#problem')).toContain('products[0] (tops) and products[1] (tops) cannot be worn together')
    await page.click('[data-image-field=second] .sample[data-title="Trousers"]')
    await until(`document.querySelector('#second-name').value === 'Trousers'`)
    expect(await text('#code')).toContain('/tryon/v1/outfits')
    expect(await text('#price')).toContain('2 credits')
    await page.click('#go')
    await done()
    expect(await text('#facts')).toMatch(/Layertops.*Layerbottoms/)
    await until(`document.querySelector('#credits').textContent === '${credits - 2} credits'`)
  })

  it('uses a typed key when only the start button is clicked', async () => {
    await chooseBoth()
    await page.click('#options summary')
    await page.select('#option-engine', 'mock')
    await page.type('#key', drape.apiKey)
    await page.click('#go')
    await done()
    expect(await text('#account-name')).toBe('Test')
  })

  it('accepts dropped, pasted and camera images, and refuses a file that is too large or not an image', async () => {
    const give = (type: string, target: string, bytes: number | string) =>
      page.evaluate(`(async () => {
        const parts = ${typeof bytes === 'number'} ? [new Uint8Array(${JSON.stringify(bytes)})] : [await (await fetch(${JSON.stringify(bytes)})).blob()]
        const data = new DataTransfer()
        data.items.add(new File(parts, '${type}.jpg', { type: 'image/jpeg' }))
        const init = { bubbles: true, cancelable: true, dataTransfer: data, clipboardData: data }
        const event = '${type}' === 'paste' ? new ClipboardEvent('paste', init) : new DragEvent('drop', init)
        document.querySelector('${target}').dispatchEvent(event)
      })()`)
    const sample = await page.$eval('[data-image-field=photo] .sample', (one) => one.getAttribute('data-url') ?? '')
    await give('drop', '[data-image-field=photo] .drop', sample)
    await until(`document.querySelector('#photo-chosen').textContent === 'drop.jpg'`)
    // A paste fills the first empty input.
    await give('paste', 'body', sample)
    await until(`document.querySelector('#product-chosen').textContent === 'paste.jpg'`)
    await give('drop', '[data-image-field=product] .drop', 10 * 1024 * 1024 + 1)
    await appear('[data-image-field=product] .problem')
    expect(await text('[data-image-field=product] .problem')).toContain('larger than 10 MB')
    expect(await text('#product-chosen')).toBe('paste.jpg')
    await page.evaluate(`(() => {
      const data = new DataTransfer()
      data.items.add(new File(['notes'], 'notes.txt', { type: 'text/plain' }))
      const drop = new DragEvent('drop', { bubbles: true, cancelable: true, dataTransfer: data })
      document.querySelector('[data-image-field=product] .drop').dispatchEvent(drop)
    })()`)
    await until(
      `document.querySelector('[data-image-field=product] .problem').textContent.includes('notes.txt is not an image')`,
    )
    expect(await text('#product-chosen')).toBe('paste.jpg')
    await page.click('[data-image-field=photo] [data-camera]')
    await page.waitForSelector('#camera [data-shoot]:not([disabled])')
    expect(await inspectLooks(page, { name: 'playground-camera' })).toEqual([])
    await page.click('#camera [data-shoot]')
    await until(`document.querySelector('#photo-chosen').textContent === 'camera.jpg'`)
    await until(`document.querySelector('[data-image-field=photo] .preview').naturalWidth > 100`)
    expect(await page.$eval('#camera', (dialog) => dialog.hasAttribute('open'))).toBe(false)
  })

  it('stores the key only on request, and deletes it on sign-out', async () => {
    const stored = () => page.evaluate(`JSON.stringify([sessionStorage, localStorage]) + document.cookie`)
    await signIn()
    expect(await stored()).toBe('[{},{}]')
    await page.reload()
    await appear('#key-form')
    await enter(drape.apiKey, { keep: true })
    await appear('#account')
    await page.reload()
    await appear('#account')
    expect(await text('#account-name')).toBe('Test')
    await page.click('#forget')
    await appear('#key-form')
    expect(await stored()).toBe('[{},{}]')
  })

  it('explains an invalid key, missing credits and a photo without a person', async () => {
    await chooseBoth()
    await page.click('#go')
    expect(await text('#problem')).toContain('The API key is missing')
    await enter('sk_wrong')
    await appear('#key-problem')
    expect(await text('#key-problem')).toMatch(/This key does not work.*INVALID_API_KEY · req_/)
    expect(await page.$$eval('.problem:not([hidden])', (all) => all.length)).toBe(1)
    const { apiKey } = await drape.createAccount(0)
    await signIn(apiKey)
    expect(await text('#credits')).toBe('0 credits')
    await page.click('#go')
    await until(`document.querySelector('#problem code')?.textContent.startsWith('INSUFFICIENT_CREDITS')`)
    expect(await text('#problem')).toContain('The account has too few credits')
    await page.click('#forget')
    await signIn()
    const credits = await drape.balance()
    await choose('photo', SHIRT)
    await page.click('#go')
    await until(`document.querySelector('#problem code')?.textContent.startsWith('NO_PERSON_DETECTED')`)
    expect(await text('#problem')).toContain('No person was found in the photo')
    expect(await text('#problem')).toContain('person.image:')
    expect(await drape.balance()).toBe(credits)
  })

  it('distinguishes a photo that is too small from a damaged photo', async () => {
    const data = new Uint8Array(12 * 15 * 3)
    const tiny = await encodeImage({ width: 12, height: 15, channels: 3, data }, { format: 'png' })
    await writeFile(join(folder, 'tiny.png'), tiny)
    const whole = await readFile(PHOTO)
    await writeFile(join(folder, 'damaged.jpg'), whole.subarray(0, whole.length / 2))
    await signIn()
    await choose('product', SHIRT)
    await writeFile(join(folder, 'text.jpg'), 'no image at all')
    for (const [file, words] of [
      ['tiny.png', 'An image is too small. It has 12 × 15 pixels'],
      ['text.jpg', 'text.jpg is not an image'],
    ]) {
      const input = (await page.$('#photo-file')) as unknown as { uploadFile(path: string): Promise<void> }
      await input.uploadFile(join(folder, file))
      await until(
        `document.querySelector('[data-image-field=photo] .problem').textContent.includes(${JSON.stringify(words)})`,
      )
      expect(await text('#photo-chosen')).toBe('')
    }
    await choose('photo', join(folder, 'damaged.jpg'))
    await page.click('#go')
    await until(`document.querySelector('#problem').textContent.includes('An image cannot be read')`)
  })

  it('keeps the input when the connection breaks during an upload, and is charged once', async () => {
    await signIn()
    await chooseBoth()
    const [credits, before, sent] = [await drape.balance(), await countGenerations(), proxy.seen('POST').length]
    proxy.fail('/images/upload', ...always('cut-request' as const))
    await page.click('#go')
    await appear('#problem')
    expect(await text('#problem')).toMatch(/The connection was lost.*charged once/)
    expect(await page.$$eval('.drop.filled', (all) => all.length)).toBe(2)
    proxy.setUp(true)
    proxy.fail('/try-on', ...always('cut-answer' as const))
    await page.click('#go')
    await until(`document.querySelector('#problem').hidden`)
    await appear('#problem')
    proxy.setUp(true)
    await page.click('#go')
    await done()
    expect(await countGenerations()).toBe(before + 1)
    expect(await drape.balance()).toBe(credits - 1)
    const keysOf = (path: string) =>
      proxy
        .seen('POST')
        .slice(sent)
        .filter((one) => one.path.endsWith(path))
        .map(({ idempotencyKey }) => idempotencyKey)
    for (const path of ['/images/upload', '/try-on']) {
      expect(keysOf(path).length).toBeGreaterThan(3)
      expect(new Set(keysOf(path)).size).toBe(1)
    }
  })

  it('resumes a generation after an outage, and cancels a generation with a refund', async () => {
    await signIn()
    await chooseBoth()
    const credits = await drape.balance()
    const violations: string[] = []
    await worker.end()
    await page.click('#option-crop')
    // Cancels while the page does not know yet that the service has accepted the request.
    proxy.fail('/try-on', 'cut-answer')
    await page.click('#go')
    // The browser may retry on its own at once.
    await until(`/^(Sending the product|In the queue)/.test(document.querySelector('#said').textContent)`)
    await page.click('#cancel')
    await until(`document.querySelector('#said').textContent === 'Cancelled. The price was refunded.'`)
    expect(await drape.balance()).toBe(credits)
    expect(await page.$('#behind:not([hidden])')).toBeNull()
    await page.click('#go')
    await until(`document.querySelector('#behind:not([hidden])')?.naturalWidth > 100`)
    await until(`document.querySelector('#said').textContent.startsWith('In the queue')`)
    // The bar moves also while the service reports no progress.
    const bar = () => page.$eval('#progress', (one) => (one as unknown as { value: number }).value)
    const seen = await bar()
    await expect.poll(bar, LONG).toBeGreaterThan(seen)
    violations.push(...(await inspectLooks(page, { name: 'playground-waiting' })))
    proxy.setUp(false)
    await appear('#look-again')
    expect(await text('#problem')).toMatch(/The connection was lost.*continues without this page/)
    violations.push(...(await inspectLooks(page, { name: 'playground-broken' })))
    proxy.setUp(true)
    await page.click('#look-again')
    await until(`document.querySelector('#said').textContent.startsWith('In the queue')`)
    await page.click('#cancel')
    await until(`document.querySelector('#said').textContent === 'Cancelled. The price was refunded.'`)
    expect(await drape.balance()).toBe(credits)
    await page.click('#go')
    await until(`document.querySelector('#said').textContent.startsWith('In the queue')`)
    // The next start is for the new photo, not for that of the interrupted generation.
    const [before, uploads] = [await countGenerations(), proxy.seen('POST').length]
    await choose('photo', OTHER_PHOTO)
    proxy.setUp(false)
    await appear('#look-again')
    const [, interrupted] = (await text('#problem')).match(/generation (gen_\S+) continues/) ?? []
    proxy.setUp(true)
    await page.click('#go')
    await until(`document.querySelector('#said').textContent.startsWith('In the queue')`)
    expect(await countGenerations()).toBe(before + 1)
    expect(
      proxy
        .seen('POST')
        .slice(uploads)
        .map(({ path }) => path),
    ).toContain('/tryon/v1/images/upload')
    await page.click('#cancel')
    await until(`document.querySelector('#said').textContent === 'Cancelled. The price was refunded.'`)
    await drape.call('POST', `/tryon/v1/generations/${interrupted}/cancel`)
    expect(await drape.balance()).toBe(credits)
    if (!showsResults) await useQuickEngine(drape.database)
    worker = await drape.startWorker(showsResults ? {} : { ENGINES: 'mock' })
    expect(violations).toEqual([])
  })

  describe('shows the request', () => {
    /** Returns the code of the tab, as the copy button copies it. */
    const shown = async (tab: string) => {
      await page.click(tab)
      await page.click('#copy')
      await until(`document.querySelector('#copied').textContent === 'Copied'`)
      const copied = (await page.evaluate('navigator.clipboard.readText()')) as string
      expect(copied).toBe(await text('#code'))
      expect(copied).not.toContain(drape.apiKey)
      return copied
    }

    it.skipIf(noCurl)(`as curl commands that a shell runs${noCurl ? ' (skipped: there is no curl)' : ''}`, async () => {
      await signIn()
      for (const name of ['photo', 'product']) await page.click(`[data-image-field=${name}] .sample`)
      await until(`document.querySelectorAll('.drop.filled').length === 2`)
      const lines = (await shown('#tab-curl')).replace('sk_YOUR_KEY', drape.apiKey)
      const answer = JSON.parse(await run('sh', ['-eu', '-c', lines], { cwd: folder }))
      expect(answer).toMatchObject({ status: 'COMPLETED', resultImageUrl: expect.stringContaining('http') })
    })

    it.skipIf(noCurl)(
      'as curl commands that a shell runs, with special characters in names and other options',
      async () => {
        const name = `it's a "photo"; $HOME, 1 of 2.jpg`
        await copyFile(PHOTO, join(folder, name))
        await copyFile(SHIRT, join(folder, '@shirt;type=x.jpg'))
        await signIn()
        await choose('photo', join(folder, name))
        await choose('product', join(folder, '@shirt;type=x.jpg'))
        await page.type('#product-name', `Ada's "best" $shirt; type=a/b \\ <b>`)
        await page.select('#product-category', 'tops')
        await page.click('#option-crop')
        await page.click('#options summary')
        await page.select('#option-format', 'webp')
        await page.select('#option-keepForDays', '1')
        const lines = (await shown('#tab-curl')).replace('sk_YOUR_KEY', drape.apiKey)
        const answer = JSON.parse(await run('sh', ['-eu', '-c', lines], { cwd: folder }))
        expect(answer).toMatchObject({ status: 'COMPLETED', resultImageUrl: expect.stringContaining('.webp') })
        const Row = rowType(Type.Object({ title: Type.String(), cropMode: Type.String() }))
        const [stored] = await drape.database.any(sql.type(Row)`
        select products.title, images.crop_mode as "cropMode" from generations
        join products on products.id = generations.product_id join images on images.id = generations.image_id
        where generations.id = ${answer.generationId}`)
        expect(stored).toEqual({ title: `Ada's "best" $shirt; type=a/b \\ <b>`, cropMode: 'none' })
      },
    )

    it('as programs for an outfit', async () => {
      await page.click('#with-second summary')
      await choose('product', SHIRT)
      await choose('second', OTHER_PHOTO)
      await page.select('#second-category', 'outerwear')
      const sdk = await shown('#tab-sdk')
      expect(sdk).toContain(`.outfit({`)
      expect(sdk).toContain(
        `{ images: [{ source: await readPicture('astronaut.jpg'), classifications: { category: 'outerwear' } }] }]`,
      )
      expect(await shown('#tab-python')).toContain('drape.outfit(')
      expect(await shown('#tab-curl')).toContain(`-F 'second=@"astronaut.jpg"'`)
    })

    it('as a program that runs with the client', async () => {
      const built = await buildClient(folder)
      const project = join(folder, 'project')
      await run('mkdir', ['-p', join(project, 'node_modules/@drape')])
      await run('cp', ['-r', built, join(project, 'node_modules/@drape/client')])
      await writeFile(join(project, 'me.jpg'), await readFile(PHOTO))
      await writeFile(join(project, 'shirt.jpg'), await readSample('garments/tshirt-stripe.jpg'))
      await choose('photo', join(project, 'me.jpg'))
      await choose('product', join(project, 'shirt.jpg'))
      for (const crop of [true, false]) {
        if (!crop) await page.click('#option-crop')
        await writeFile(join(project, 'program.mjs'), await shown('#tab-sdk'))
        const env = { ...process.env, DRAPE_API_KEY: drape.apiKey }
        const printed = await run(process.execPath, ['program.mjs'], { cwd: project, env })
        expect(printed).toMatch(/COMPLETED[\s\S]*gen_\S+ http/)
      }
    })
  })

  it('is linked from the accessible start page', async () => {
    const start = await browser.newPage()
    await start.goto(`${drape.api.url}/`)
    expect(await inspectLooks(start, { name: 'start' })).toEqual([])
    await Promise.all([start.waitForNavigation(), start.click('a[href="/playground"]')])
    expect(new URL(start.url()).pathname).toBe('/playground')
    await start.close()
  })

  it('is accessible in large and small viewports, light and dark', async () => {
    const violations = await inspectLooks(page, { name: 'playground-empty' })
    await enter('sk_wrong')
    await appear('#key-problem')
    violations.push(...(await inspectLooks(page, { name: 'playground-refused' })))
    await signIn()
    for (const name of ['photo', 'product']) await page.click(`[data-image-field=${name}] .sample`)
    await until(`document.querySelectorAll('.drop.filled').length === 2`)
    await page.click('#go')
    await done()
    await page.click('#options summary')
    violations.push(...(await inspectLooks(page, { name: 'playground-done' })))
    expect(violations).toEqual([])
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(390)
    const heights = await page.$$eval('[role=tab]', (tabs) => tabs.map((tab) => tab.getBoundingClientRect().height))
    expect(Math.max(...heights), 'tabs on one line').toBeLessThan(45)
  })

  it('violates no content security policy, and puts the key into no URL and no log', () => {
    expect(pageErrors).toEqual([])
    expect(addresses.length).toBeGreaterThan(100)
    expect(addresses.filter((address) => address.includes('sk_'))).toEqual([])
    expect(drape.api.output()).not.toContain(drape.apiKey)
    expect(drape.api.output()).not.toContain('ExperimentalWarning')
  })
})
