import { globSync, readFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Browser, Page } from 'puppeteer-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createAccounts } from '../../api/accounts/accounts.store.ts'
import { sql } from '../../api/shared/database/database.ts'
import { buildClient } from '../../scripts/clients/build.ts'
import { APP_CONTEXT } from '../support/analytics-events.ts'
import { browserReason, startBrowser } from '../support/browser.ts'
import { type Drape, formOf, readSample, startDrape } from '../support/drape.ts'
import { type FaultyProxy, startFaultyProxy } from '../support/faulty-proxy.ts'

const PHOTO = new URL('../../scripts/samples/persons/down-half-teal.jpg', import.meta.url).pathname
const PAGE = `<!doctype html><title>Shop</title><input type="file" id="photo"><script type="module">
  import * as client from '/client/index.js'
  window.client = client
  window.drape = client.createDrapeClient({ url: location.origin })
  window.photo = () => document.querySelector('#photo').files[0]
</script>`
if (browserReason) console.warn(`The client in a browser is skipped: ${browserReason}`)

/** The page of a shop whose own server adds the API key to the requests that it proxies. */
describe.skipIf(browserReason)(`the client in a browser${browserReason && ` (skipped: ${browserReason})`}`, () => {
  let drape: Drape
  let proxy: FaultyProxy
  let browser: Browser
  let page: Page
  let folder: string
  const pageErrors: string[] = []

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'drape-client-'))
    const [built, started] = await Promise.all([buildClient(folder), startDrape({ credits: 10 })])
    drape = started
    await drape.startWorker()
    const product = { externalId: 'shirt', images: [{ source: { fileKey: 'shirt' } }] }
    const shirt = await readSample('garments/tshirt-mustard.jpg')
    expect((await drape.call('POST', '/tryon/v1/products', { body: formOf(product, { shirt }) })).status).toBe(200)
    const scripts = globSync('client/*.js', { cwd: built }).map((path) => [
      `/${path}`,
      { type: 'text/javascript', text: readFileSync(join(built, path), 'utf8') },
    ])
    const files = { '/': { type: 'text/html', text: PAGE }, ...Object.fromEntries(scripts) }
    proxy = await startFaultyProxy(drape.api.url, { apiKey: drape.apiKey, files })
    browser = await startBrowser()
    page = await browser.newPage()
    page.on('pageerror', (error) => pageErrors.push(String(error)))
    await page.goto(proxy.url)
    await page.waitForFunction('window.drape !== undefined')
    const input = (await page.$('#photo')) as Awaited<ReturnType<typeof page.$<'input'>>>
    await input?.uploadFile(PHOTO)
  })
  afterAll(async () => {
    await browser?.close()
    await proxy?.[Symbol.asyncDispose]()
    await drape?.stop()
    await rm(folder, { recursive: true, force: true })
  })

  /** Takes source text: a function could not close over variables of this file. */
  const inPage = (body: string): Promise<unknown> => page.evaluate(`(async () => { ${body} })()`)
  const MOCK = `person: photo(), product: 'shirt', output: { engine: 'mock' }`

  it('tries a product on a chosen photo, reports progress and downloads the result', async () => {
    const seen = await inPage(`
      const statuses = []
      const call = drape.tryOn({ ${MOCK} })
      const { generationId, status } = await call.wait({ onProgress: ({ status }) => statuses.push(status) })
      const blob = await drape.generations.download(generationId)
      const { width, height } = await createImageBitmap(blob)
      return { status, last: statuses.at(-1), type: blob.type, isHigh: height > width && width > 100 }`)
    expect(seen).toEqual({ status: 'COMPLETED', last: 'COMPLETED', type: 'image/jpeg', isHigh: true })
    expect(proxy.seen('GET').some(({ path }) => path.endsWith('/events'))).toBe(true)
  })

  it('uses one uploaded photo for two try-ons', async () => {
    const ids = await inPage(`
      const { imageId } = await drape.images.upload(photo(), { crop: false })
      const wear = () => drape.tryOn({ ${MOCK}, person: { id: imageId } })
      return [(await wear()).generationId, (await wear()).generationId]`)
    expect(new Set(ids as string[]).size).toBe(2)
  })

  it('is charged once when the connection breaks during an upload or before the response, or a request is rate limited', async () => {
    const before = await drape.balance()
    const busy = { code: 'RATE_LIMITED', message: 'Not now.', status: 429 }
    proxy.fail('/try-on', 'cut-request', 'cut-answer', { answer: 429, headers: { 'retry-after': '1' }, body: busy })
    const sent = proxy.seen('POST').length
    const id = await inPage(`
      const call = drape.tryOn({ person: photo(), product: 'shirt', externalUserId: 'browser-1' })
      return (await call).generationId`)
    expect(
      await drape.database.any(sql.unsafe`select id from generations where external_user_id = 'browser-1'`),
    ).toEqual([{ id }])
    expect(await drape.balance()).toBe(before - 1)
    const posts = proxy.seen('POST').slice(sent)
    expect(posts).toHaveLength(4)
    expect(new Set(posts.map(({ idempotencyKey }) => idempotencyKey)).size).toBe(1)
    expect(posts[3].at - posts[2].at).toBeGreaterThanOrEqual(1000)
  })

  it('cannot use an API key on a page of another origin, which CORS blocks', async () => {
    const name = await inPage(`
      const options = { url: ${JSON.stringify(drape.api.url)}, apiKey: ${JSON.stringify(drape.apiKey)}, retries: 0 }
      return client.createDrapeClient(options).account.get().then(() => 'answered', (error) => error.name)`)
    expect(name).toBe('DrapeConnectionError')
  })

  it('sends events with a publishable key from any origin, each once, and never throws', async () => {
    const publishableKey = await createAccounts(drape.database).insertKey(drape.accountId, 'publishable')
    const results = await inPage(`
      const send = (key) => client.createEventSender({ url: ${JSON.stringify(drape.api.url)}, publishableKey: key })
      const events = [{ event: 'widget:button_click', $insert_id: 'click-1' }, { event: 'widget:generation_start' }]
      const context = ${JSON.stringify(APP_CONTEXT)}
      const key = ${JSON.stringify(publishableKey)}
      return [await send(key)(events, context), await send(key)(events.slice(0, 1), context), await send('pk_wrong')(events, context)]`)
    expect(results).toMatchObject([
      { success: true },
      { success: true },
      { success: false, message: expect.any(String) },
    ])
    const stored = sql.unsafe`select name as event from event_details where account_id = ${drape.accountId} and name like 'widget:%' order by name`
    expect(await drape.database.any(stored)).toEqual([
      { event: 'widget:button_click' },
      { event: 'widget:generation_start' },
    ])
  })

  it('causes no uncaught error on the page', () => {
    expect(pageErrors).toEqual([])
  })
})
