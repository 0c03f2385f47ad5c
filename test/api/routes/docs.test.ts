import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Drape, startDrape } from '../../support/drape.ts'

describe('what the API says of itself', () => {
  let drape: Drape

  beforeAll(async () => {
    drape = await startDrape({ env: { SERVICE_NAME: 'Tom & <b>Co</b>' } })
  })
  afterAll(() => drape.stop())

  const get = (path: string, headers: Record<string, string> = {}) => fetch(`${drape.api.url}${path}`, { headers })

  it('is an OpenAPI document for everyone, which names the address of this installation', async () => {
    const answer = await drape.call('GET', '/tryon/v1/openapi.json', { key: null })
    expect(answer).toMatchObject({ status: 200, body: { openapi: '3.1.0', servers: [{ url: drape.api.url }] } })
  })

  it('is not sent again to those who have it', async () => {
    const etag = (await get('/tryon/v1/openapi.json')).headers.get('etag') ?? ''
    // Without the second header fetch asks for a full answer.
    const again = await get('/tryon/v1/openapi.json', { 'if-none-match': etag, 'cache-control': 'max-age=0' })
    expect(again.status).toBe(304)
    expect(await again.text()).toBe('')
  })

  it('is a page that loads everything from here and runs nothing that is written in it', async () => {
    const answer = await get('/docs')
    const page = await answer.text()
    expect(answer.headers.get('content-type')).toBe('text/html; charset=utf-8')
    expect(answer.headers.get('content-security-policy')).toMatch(
      /^default-src 'none'; script-src 'self'; style-src 'self';/,
    )
    expect(page).not.toMatch(/<script[^>]*>[^<]|<style| style=| on\w+=/)
    expect(page).not.toContain('<b>Co')
    const addresses = [...page.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, address]) => address)
    expect(addresses.filter((address) => !/^\/[^/]|^data:/.test(address))).toEqual([])
  })

  it('gives the page its files under addresses that may be kept for ever', async () => {
    const page = await (await get('/docs')).text()
    const types = new Map<string, string | null>()
    for (const [, path] of page.matchAll(/(?:src|href)="(\/docs\/[^"]+)"/g)) {
      const answer = await get(path)
      expect(answer.headers.get('cache-control')).toContain('immutable')
      expect(Number(answer.headers.get('content-length'))).toBeGreaterThan(0)
      types.set(path.split('/').at(-1) ?? '', answer.headers.get('content-type'))
    }
    expect(Object.fromEntries(types)).toEqual({
      'swagger-ui.css': 'text/css; charset=utf-8',
      'swagger-ui-bundle.js': 'text/javascript; charset=utf-8',
      'viewer.css': 'text/css; charset=utf-8',
      'viewer.js': 'text/javascript; charset=utf-8',
    })
  })

  it('has no other files', async () => {
    const page = await (await get('/docs')).text()
    const folder = page.match(/\/docs\/\w+\//)?.[0]
    for (const path of [
      `${folder}package.json`,
      `${folder}..%2fdocs.ts`,
      `${folder}constructor`,
      '/docs/old/viewer.js',
    ]) {
      expect((await get(path)).status, path).toBe(404)
    }
  })
})
