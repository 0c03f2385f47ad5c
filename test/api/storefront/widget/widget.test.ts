import { readFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, describe, expect, it } from 'vitest'
import { createApp } from '../../../../api/http/app.ts'
import { createLog } from '../../../../api/shared/telemetry/log.ts'
import { createMetrics } from '../../../../api/shared/telemetry/metrics.ts'
import { widgetRoutes } from '../../../../api/storefront/widget/widget.routes.ts'

describe('GET /widget.js', async () => {
  const log = createLog({ process: 'api', level: 'silent' })
  const app = createApp({ log, metrics: createMetrics('api'), routes: [widgetRoutes()] })
  const server = createServer(app.callback())
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/widget.js`
  afterAll(() => server.close())

  it('is a compressed script for pages of any origin', async () => {
    const answer = await fetch(url, { headers: { 'accept-encoding': 'gzip' } })
    const { headers } = answer
    expect(headers.get('content-type')).toBe('text/javascript; charset=utf-8')
    expect(headers.get('content-encoding')).toBe('gzip')
    expect(headers.get('vary')).toContain('Accept-Encoding')
    expect(headers.get('access-control-allow-origin')).toBe('*')
    expect(headers.get('cross-origin-resource-policy')).toBe('cross-origin')
    expect(headers.get('cache-control')).toContain('stale-while-revalidate')
    expect(await answer.text()).toContain('drape-try-on')
  })

  it('is the same in every encoding', async () => {
    const texts = await Promise.all(
      ['br', 'gzip', 'identity'].map(async (encoding) =>
        (await fetch(url, { headers: { 'accept-encoding': encoding } })).text(),
      ),
    )
    expect(new Set(texts).size).toBe(1)
  })

  it('has separate texts for languages that the script does not contain', async () => {
    for (const language of ['ar', 'de', 'es', 'fr', 'it', 'pl', 'pt']) {
      const answer = await fetch(new URL(`widget/${language}.json`, url), { headers: { 'accept-encoding': 'br' } })
      expect(answer.headers.get('content-type')).toBe('application/json; charset=utf-8')
      expect(answer.headers.get('cache-control')).toContain('max-age=300')
      expect(answer.headers.get('etag')).toBeTruthy()
      const english = JSON.parse(
        await readFile(new URL('../../../../api/widget/texts/en.json', import.meta.url), 'utf8'),
      )
      expect(Object.keys((await answer.json()) as object)).toEqual(Object.keys(english))
    }
    expect((await fetch(new URL('widget/en.json', url))).status).toBe(404)
    expect((await fetch(new URL('widget/__proto__.json', url))).status).toBe(404)
  })

  it('is not sent again to clients that have it', async () => {
    const etag = (await fetch(url)).headers.get('etag') ?? ''
    const again = await fetch(url, { headers: { 'if-none-match': etag, 'cache-control': 'max-age=0' } })
    expect(again.status).toBe(304)
    expect(await again.text()).toBe('')
  })
})
