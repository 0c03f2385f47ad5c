import { afterAll, describe, expect, it } from 'vitest'
import { startDrape } from '../../support/drape.ts'

describe('the reference of the API', async () => {
  const drape = await startDrape({ env: { SERVICE_NAME: 'Tom & <b>Co</b>' } })
  afterAll(() => drape.stop())

  const get = (path: string, headers: Record<string, string> = {}) => fetch(`${drape.api.url}${path}`, { headers })

  it('is a public OpenAPI document with the URL of the installation', async () => {
    const answer = await drape.call('GET', '/tryon/v1/openapi.json', { key: null })
    expect(answer).toMatchObject({ status: 200, body: { openapi: '3.1.0', servers: [{ url: drape.api.url }] } })
  })

  it('is not sent again to clients that have it', async () => {
    const etag = (await get('/tryon/v1/openapi.json')).headers.get('etag') ?? ''
    // Without the second header fetch asks for a full answer.
    const again = await get('/tryon/v1/openapi.json', { 'if-none-match': etag, 'cache-control': 'max-age=0' })
    expect(again.status).toBe(304)
    expect(await again.text()).toBe('')
  })

  it.each(['br', 'gzip'])('is compressed with %s, as are large answers without secrets', async (encoding) => {
    const images = [{ source: { url: 'https://shop.example/a.jpg' } }]
    const metadata = { text: 'cotton '.repeat(300) }
    const path = '/tryon/v1/products'
    const headers = { 'x-api-key': drape.apiKey, 'accept-encoding': encoding }
    await drape.call('POST', path, { body: { externalId: 'shirt', title: 'T-shirt', images, metadata } })
    for (const name of ['/tryon/v1/openapi.json', path, `${path}/shirt`]) {
      const answer = await get(name, headers)
      const found = [answer.status, answer.headers.get('content-encoding'), answer.headers.get('vary')]
      expect([name, ...found]).toEqual([name, 200, encoding, expect.stringContaining('Accept-Encoding')])
      expect(await answer.json()).toEqual((await drape.call('GET', name)).body)
    }
    // Small, and answers with signed links, whose length would reveal them.
    for (const name of ['/tryon/v1/account', `${path}?limit=1&cursor=x`])
      expect((await get(name, headers)).headers.get('content-encoding')).toBeNull()
    const compressed = await get(path, { ...headers, 'accept-encoding': 'identity' })
    expect(compressed.headers.get('content-encoding')).toBeNull()
    const refused = await get(path, { ...headers, 'accept-encoding': 'identity;q=0' })
    expect([refused.status, refused.headers.get('content-encoding')]).toEqual([200, null])
  })

  it('is a page for each group of operations, also as Markdown', async () => {
    const page = await (await get('/docs/try-on')).text()
    for (const text of [
      'class="language-http">POST /tryon/v1/try-on\n',
      '<code>products[].<wbr>images[].<wbr>source.<wbr>url</code>',
      `curl -X POST ${drape.api.url}/tryon/v1/try-on`,
      '<code>IDEMPOTENCY_KEY_REUSED</code>',
    ])
      expect(page).toContain(text)
    expect(await (await get('/docs/storefront')).text()).not.toContain(`curl -X POST ${drape.api.url}/public/fit`)
    const markdown = await get('/docs/try-on.md')
    expect(markdown.headers.get('content-type')).toBe('text/markdown; charset=utf-8')
    expect(await markdown.text()).toContain('ids that start with \\_anon\\_')
    expect((await get('/docs/nothing')).status).toBe(404)
  })

  it('has pages without external resources and inline scripts', async () => {
    const answer = await get('/docs')
    const page = await answer.text()
    expect(answer.headers.get('content-type')).toBe('text/html; charset=utf-8')
    expect(answer.headers.get('content-security-policy')).toMatch(
      /^default-src 'none'; script-src 'self'; style-src 'self';/,
    )
    expect(page).not.toMatch(/<script[^>]*>[^<]|<style|<[^>]* style=|<[^>]* on\w+=/)
    expect(page).not.toContain('<b>Co')
    const addresses = [...page.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, address]) => address)
    expect(addresses.filter((address) => !/^\/[^/]|^data:|^#[a-z]+$/.test(address))).toEqual([])
  })
})
