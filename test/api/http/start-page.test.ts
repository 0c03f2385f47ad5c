import { afterAll, describe, expect, it } from 'vitest'
import { startDrape } from '../../support/drape.ts'

describe('the root URL of the API', async () => {
  const drape = await startDrape({ env: { SERVICE_NAME: 'Tom & <b>Co</b>' } })
  afterAll(() => drape.stop())

  const get = (accept?: string) => fetch(drape.api.url, { headers: accept === undefined ? {} : { accept } })

  it.each(['text/html,*/*;q=0.8', '*/*'])(
    'is a page with one script and no resources for Accept: %s',
    async (accept) => {
      const answer = await get(accept)
      const page = await answer.text()
      expect(answer.status).toBe(200)
      expect(answer.headers.get('content-type')).toBe('text/html; charset=utf-8')
      expect(answer.headers.get('content-security-policy')).toMatch(
        /^script-src 'sha256-[^']+'; default-src 'none'; img-src data:; style-src 'sha256-[^']+'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'$/,
      )
      expect(page).not.toMatch(/ style=| on\w+=|<b>Co/)
      expect(page.length).toBeLessThan(100_000)
    },
  )

  it('links to existing pages', async () => {
    const page = await (await get('text/html')).text()
    const paths = [...page.matchAll(/<a href="([^"]+)"/g)].map(([, path]) => path)
    expect(paths).toEqual(['/playground', '/docs', '/guide', '/tryon/v1/openapi.json', '/healthz'])
    for (const path of paths) expect((await fetch(`${drape.api.url}${path}`)).status, path).toBe(200)
  })

  it('returns the same links as JSON on request', async () => {
    const answer = await get('application/json')
    expect(answer.headers.get('vary')).toContain('Accept')
    const { url } = drape.api
    expect(await answer.json()).toEqual({
      name: 'Tom & <b>Co</b>',
      links: {
        playground: `${url}/playground`,
        reference: `${url}/docs`,
        guide: `${url}/guide`,
        document: `${url}/tryon/v1/openapi.json`,
        health: `${url}/healthz`,
      },
    })
  })

  it.each(['/nothing', '/guide/nothing', '/tryon/v1/nothing'])(
    'leads from %s, which does not exist, and answers programs in JSON',
    async (path) => {
      const page = await fetch(`${drape.api.url}${path}`, { headers: { accept: 'text/html,*/*;q=0.8' } })
      expect([page.status, page.headers.get('content-type')]).toEqual([404, 'text/html; charset=utf-8'])
      expect(page.headers.get('content-security-policy')).toMatch(/^default-src 'none'/)
      expect(await page.text()).toContain('<a href="/">')
      const program = await fetch(`${drape.api.url}${path}`)
      expect(await program.json()).toMatchObject({ code: 'ROUTE_NOT_FOUND' })
      expect(program.headers.get('vary')).toContain('Accept')
    },
  )

  it('has no other method, and ignores queries', async () => {
    expect((await fetch(drape.api.url, { method: 'POST' })).status).toBe(405)
    expect((await fetch(`${drape.api.url}/?a=b`)).status).toBe(200)
  })
})
