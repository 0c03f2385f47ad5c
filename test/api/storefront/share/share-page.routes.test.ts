import { afterAll, describe, expect, it } from 'vitest'
import { sql } from '../../../../api/shared/database/database.ts'
import { createDueObjects } from '../../../../api/shared/retention/due-objects.ts'
import { createShops } from '../../../../api/shops/shops.store.ts'
import { browserReason, startBrowser } from '../../../support/browser.ts'
import { createCommandLine } from '../../../support/command-line.ts'
import { completeForShop, type ShopGenerationOptions, storageOf } from '../../../support/completed.ts'
import { readSample, startDrape } from '../../../support/drape.ts'
import { inspectLooks } from '../../../support/page-looks.ts'
import { startProgram } from '../../../support/process.ts'
import { createDevelopmentShop } from '../../../support/shop.ts'
import { untilCounted } from '../../../support/until-counted.ts'

const JSON_ONLY = { accept: 'application/json' }
/** What a browser sends. */
const BROWSER = { accept: 'text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,*/*;q=0.8' }

describe('the share page', async () => {
  let visitors = 0

  const image = await readSample('persons/down-half-teal.jpg')
  const drape = await startDrape({ credits: 1000, env: { SERVICE_NAME: 'Fit <b>&</b> Co', PROXY_HOPS: '1' } })
  const shop = await createDevelopmentShop(drape)
  afterAll(() => drape.stop())

  const share = async (options: Partial<ShopGenerationOptions> = {}, domain?: string) => {
    const { generationId } = await completeForShop(drape, { shopId: shop.id, image, ...options })
    // As the server of the shop, which may share the results of all visitors.
    const { body } = await drape.call('POST', '/public/share-generation', {
      headers: shop.headers,
      body: { generationId, effectiveDomain: domain },
    })
    return { generationId, token: body.shareToken as string }
  }
  /** Each visitor comes from an address of their own. */
  const open = (token: string, headers: Record<string, string> = {}, method = 'GET') =>
    drape.call(method, `/s/${token}`, {
      key: null,
      headers: { 'x-forwarded-for': `203.0.113.${visitors++ % 250}`, ...headers },
    })
  const endShop = (isActive: boolean) => createShops(drape.database).update(shop.id, { isActive })

  it('returns generation, product and shop as JSON, and no data of the shopper', async () => {
    const { token, generationId } = await share({
      productId: 'gid://shopify/Product/7',
      shopper: 'customer:4711',
      description: 'Cotton, navy.',
      sourceUrl: 'https://cdn.shop.example/navy.jpg',
    })
    const { body, headers } = await open(token, JSON_ONLY)
    expect(body).toEqual({
      shareToken: token,
      shareUrl: expect.stringMatching(new RegExp(`/s/${token}$`)),
      expiresAt: expect.any(String),
      generation: {
        status: 'COMPLETED',
        resultImageUrl: expect.any(String),
        createdAt: expect.any(String),
        updatedAt: expect.any(String),
      },
      product: {
        productId: 'gid://shopify/Product/7',
        title: 'Navy T-shirt',
        description: 'Cotton, navy.',
        imageUrl: 'https://cdn.shop.example/navy.jpg',
      },
      merchant: { name: 'The Test Shop', domain: 'shop.test', url: 'https://shop.test/' },
    })
    expect(JSON.stringify(body)).not.toMatch(/4711|persons\//)
    expect(JSON.stringify(body)).not.toContain(generationId.replace('gen_', ''))
    const response = await fetch(body.generation.resultImageUrl)
    expect(Buffer.from(await response.arrayBuffer()).equals(image)).toBe(true)
    expect(headers.get('content-type')).toBe('application/json; charset=utf-8')
    expect(headers.get('vary')).toMatch(/Accept/)
  })

  it('shows the image, the product and a link to the shop', async () => {
    const { token } = await share({ title: 'Linen shirt' }, 'WWW.Shop.example')
    const { body: page, headers } = await open(token, BROWSER)
    expect(headers.get('content-type')).toBe('text/html; charset=utf-8')
    expect(page).toMatch(/^<!doctype html>\n<html lang="en">/)
    expect(page).toContain('<h1 dir="auto">Linen shirt</h1>')
    expect(page).toContain('The Test Shop')
    expect(page).toMatch(
      /href="https:\/\/www\.shop\.example\/" rel="nofollow noopener">[^<]*<span dir="ltr">www\.shop\.example</,
    )
    expect((await open(token, { ...BROWSER, 'accept-language': 'ar' })).body).toMatch(
      /<html lang="ar" dir="rtl">.*زيارة المتجر/s,
    )
    const src = readMarkup(page.match(/<img src="([^"]+)"/)?.[1] ?? '')
    expect((await fetch(src)).headers.get('content-type')).toBe('image/jpeg')
  })

  it('is a page where text/html is preferred and for previews of links, otherwise JSON', async () => {
    const { token } = await share()
    const pages = [BROWSER, { accept: 'text/html' }, { accept: '*/*', 'user-agent': 'WhatsApp/2.24' }]
    for (const headers of pages) expect((await open(token, headers)).body).toContain('<h1')
    const json = ['application/json', 'application/json, text/plain, */*', 'application/*', '*/*', 'image/png', '']
    for (const accept of json) expect((await open(token, { accept })).body).toMatchObject({ shareToken: token })
    expect((await open(token)).body).toMatchObject({ shareToken: token })
  })

  it('makes a preview in messengers and networks with an image that they can fetch', async () => {
    const { token } = await share({ title: 'Linen shirt', extension: 'png' })
    const { body: page } = await open(token, { 'user-agent': 'facebookexternalhit/1.1' })
    const tags = metaOf(page)
    expect(tags).toMatchObject({
      'og:type': 'website',
      'og:title': 'Linen shirt',
      'og:site_name': 'The Test Shop',
      'og:url': expect.stringMatching(new RegExp(`^http.*/s/${token}$`)),
      'og:image:type': 'image/png',
      'og:image:alt': 'Linen shirt, tried on',
      'twitter:card': 'summary_large_image',
      'twitter:title': 'Linen shirt',
    })
    expect(tags['og:image']).toMatch(/^https?:\/\//)
    expect(tags['twitter:image']).toBe(tags['og:image'])
    expect((await fetch(tags['og:image'])).headers.get('content-type')).toBe('image/png')
    const head = await open(token, BROWSER, 'HEAD')
    expect(head).toMatchObject({ status: 200, body: null })
    expect(Number(head.headers.get('content-length'))).toBeGreaterThan(1000)
  })

  it('is neither indexed nor cached, and loads only its image', async () => {
    const { token } = await share()
    const { body: page, headers } = await open(token, BROWSER)
    expect(metaOf(page).robots).toMatch(/noindex/)
    expect(headers.get('x-robots-tag')).toMatch(/noindex/)
    expect(headers.get('cache-control')).toBe('no-store')
    expect(headers.get('referrer-policy')).toBe('strict-origin')
    expect(headers.get('x-content-type-options')).toBe('nosniff')
    const policy = headers.get('content-security-policy') ?? ''
    expect(policy).toMatch(/^default-src 'none'; img-src http:\/\/127\.0\.0\.1:\d+ data:; style-src 'sha256-[^']+';/)
    expect(policy).toContain("frame-ancestors 'none'")
    expect(page).not.toMatch(/<script| on\w+=| style=/)
  })

  it('escapes all texts', async () => {
    const hostile = `"><script>alert(1)</script><img src=x onerror='a()'>&amp;`
    const { token } = await share({ title: hostile })
    await createShops(drape.database).update(shop.id, { name: hostile })
    const { body: page } = await open(token, BROWSER)
    await createShops(drape.database).update(shop.id, { name: 'The Test Shop' })
    expect(page).not.toMatch(/<script|<img src=x|<b>/)
    expect(metaOf(page)['og:title']).toBe(hostile)
    expect(metaOf(page)['og:site_name']).toBe(hostile)
    expect(readMarkup(page.match(/<h1 dir="auto">(.*?)<\/h1>/)?.[1] ?? '')).toBe(hostile)
  })

  it('has default texts without a product title and a shop name', async () => {
    await createShops(drape.database).update(shop.id, { name: null })
    const { token } = await share({ title: null, sourceUrl: 'upload://abc' })
    const { body: page } = await open(token, BROWSER)
    const { body } = await open(token, JSON_ONLY)
    await createShops(drape.database).update(shop.id, { name: 'The Test Shop' })
    expect(page).toContain('A virtual try-on')
    expect(page).not.toMatch(/null|undefined/)
    expect(body).toMatchObject({ product: { title: null, imageUrl: null }, merchant: { name: 'shop.test' } })
  })

  it.each(['abc', 'a'.repeat(22), 'a'.repeat(23), '%22%3e', 'ä'])(
    'is not found for %s, as a page or as JSON',
    async (token) => {
      const page = await open(token, BROWSER)
      expect(page.status).toBe(404)
      expect(page.body).toContain('Image not found')
      expect(page.headers.get('x-robots-tag')).toMatch(/noindex/)
      const json = await open(token, JSON_ONLY)
      expect(json).toMatchObject({ status: 404, body: { code: 'SHARE_LINK_NOT_FOUND' } })
    },
  )

  it.each([
    ['the link', (id: string) => sql.unsafe`update share_links set expires_at = now() where generation_id = ${id}`],
    ['the image', (id: string) => sql.unsafe`update generations set images_expire_at = now() where id = ${id}`],
  ])('is gone when %s has ended', async (_, end) => {
    const { token, generationId } = await share()
    await drape.database.query(end(generationId))
    await expectGone(token)
  })

  it('is gone once its shopper is erased', async () => {
    const { token } = await share({ shopper: 'customer:77' })
    const { body } = await open(token, JSON_ONLY)
    const customer = encodeURIComponent(`${shop.id}:customer:77`)
    expect((await drape.call('DELETE', `/tryon/v1/customers/${customer}`)).status).toBe(204)
    await expectGone(token)
    expect((await fetch(body.generation.resultImageUrl)).status).toBe(404)
  })

  it('is gone once a retention policy expires its image, as is the image of the generation', async () => {
    const { generationId, token } = await share()
    const selection = { ttlSeconds: 0, kinds: ['result'], accounts: [drape.accountId] }
    const storage = await storageOf(drape)
    const deleteBytes = (keys: readonly string[]) => storage.delete(keys)
    await createDueObjects(drape.database).delete(selection, { limit: 1000, deleteBytes })
    await expectGone(token)
    const { body } = await drape.call('GET', `/tryon/v1/generations/${generationId}`)
    expect(body).toMatchObject({ status: 'COMPLETED', imagesExpired: true })
    const asked = { key: null, headers: shop.headers }
    const seen = await drape.call('GET', `/public/generation/${generationId}`, asked)
    expect(seen.body).toMatchObject({ status: 'COMPLETED', imagesExpired: true })
    const again = await drape.call('POST', '/public/share-generation', { ...asked, body: { generationId } })
    expect(again).toMatchObject({ status: 410, body: { code: 'SHARE_LINK_GONE' } })
  })

  it('is gone while its shop is inactive', async () => {
    const { token } = await share()
    await endShop(false)
    await expectGone(token)
    await endShop(true)
    expect((await open(token)).status).toBe(200)
  })

  it.skipIf(browserReason)(
    'is accessible in large and small viewports, light and dark, also without an image',
    async () => {
      await using browser = await startBrowser()
      const page = await browser.newPage()
      const { token, generationId } = await share()
      const look = async (path: string, name: string) => {
        await page.goto(`${drape.api.url}/s/${path}`)
        expect(await inspectLooks(page, { name })).toEqual([])
        const overflow = 'document.documentElement.scrollWidth > document.documentElement.clientWidth'
        expect(await page.evaluate(overflow)).toBe(false)
      }
      await look(token, 'share')
      await drape.database.query(sql.unsafe`update generations set images_expire_at = now() where id = ${generationId}`)
      await look(token, 'share-gone')
      await look(`${token}x`, 'share-unknown')
    },
  )

  it('is deleted by the sweep a month after it expires, and not before', async () => {
    const old = await share()
    const young = await share()
    const live = await share()
    const endedDaysAgo = (days: number, id: string) =>
      drape.database.query(sql.unsafe`
        update share_links set expires_at = now() - make_interval(days => ${days}) where generation_id = ${id}`)
    await endedDaysAgo(31, old.generationId)
    await endedDaysAgo(29, young.generationId)
    const { answered } = createCommandLine(drape.env.DATABASE_URL, drape.env)
    expect(await answered('sweep')).toMatchObject({ shareLinks: 1 })
    expect((await open(old.token)).status).toBe(404)
    expect((await open(young.token)).status).toBe(410)
    expect((await open(live.token)).status).toBe(200)
  })

  it('is limited to 60 requests per minute and address, across replicas', async () => {
    const { token } = await share()
    const other = await startProgram('api', drape.env)
    let visitor = 0
    const get = (i: number, address: string, headers: Record<string, string> = {}) =>
      fetch(`${i % 2 ? drape.api.url : other.url}/s/${token}`, {
        // What a caller says of itself comes before what our own proxy has added.
        headers: { 'x-forwarded-for': `invented-${i}, ${address}`, ...headers },
      })
    const askAll = () => {
      visitor++
      return Promise.all(Array.from({ length: 70 }, (_, i) => get(i, `198.51.100.${visitor}`, BROWSER)))
    }
    const [refused] = await untilCounted(askAll, 10)
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThanOrEqual(1)
    expect(await refused.text()).toContain('One moment, please')
    const json = await get(0, `198.51.100.${visitor}`, JSON_ONLY)
    expect(await json.json()).toMatchObject({ status: 429, code: 'RATE_LIMIT_EXCEEDED' })
    expect((await get(0, '198.51.100.200')).status).toBe(200)
    await other.end()
  })

  async function expectGone(token: string): Promise<void> {
    const json = await open(token, JSON_ONLY)
    expect(json).toMatchObject({ status: 410, body: { code: 'SHARE_LINK_GONE' } })
    const page = await open(token, BROWSER)
    expect(page.status).toBe(410)
    expect(page.body).toContain('This image is no longer available')
    expect(page.body).not.toContain('<img')
    expect(page.headers.get('content-security-policy')).toContain('img-src data:')
  }
})

function metaOf(page: string): Record<string, string> {
  const tags = page.matchAll(/<meta (?:name|property)="([^"]+)" content="([^"]*)">/g)
  return Object.fromEntries([...tags].map(([, name, content]) => [name, readMarkup(content)]))
}

/** Text of markup as read by a browser. */
function readMarkup(text: string): string {
  return text.replace(/&#(\d+);/g, (_, code) => String.fromCharCode(Number(code)))
}
