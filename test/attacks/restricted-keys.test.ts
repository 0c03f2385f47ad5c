import { afterAll, describe, expect, it } from 'vitest'
import { createApiKeys } from '../../api/accounts/api-keys.store.ts'
import { SCOPES, type Scope, UNRESTRICTED } from '../../api/accounts/restrictions.ts'
import { SERVER_ROUTES } from '../../api/http/core-routes.ts'
import { startDrape } from '../support/drape.ts'

/** What a key with one scope alone may ask for. */
const MAY: Readonly<Record<Scope, readonly string[]>> = {
  'try-on': [
    'POST /tryon/v1/try-on',
    'POST /tryon/v1/try-on/sync',
    'POST /tryon/v1/outfits',
    'POST /tryon/v1/images/upload',
    'GET /tryon/v1/generations/gen_1',
    'GET /tryon/v1/generations/gen_1/events',
    'POST /tryon/v1/generations/gen_1/cancel',
    'POST /tryon/v1/generations/gen_1/appeal',
    'GET /tryon/v1/generations/gen_1/appeal',
  ],
  products: [
    'POST /tryon/v1/products',
    'POST /tryon/v1/products/batch',
    'GET /tryon/v1/products/batch/batch_1',
    'GET /tryon/v1/products',
    'GET /tryon/v1/products/shirt',
    'DELETE /tryon/v1/products/shirt',
    'GET /tryon/v1/products/shirt/stats',
  ],
  read: [
    'GET /tryon/v1/generations/gen_1',
    'GET /tryon/v1/generations/gen_1/appeal',
    'GET /tryon/v1/generations/gen_1/events',
    'GET /tryon/v1/products',
    'GET /tryon/v1/products/batch/batch_1',
    'GET /tryon/v1/products/shirt',
    'GET /tryon/v1/products/shirt/stats',
    'GET /tryon/v1/account',
    'GET /tryon/v1/account/credits',
    'GET /tryon/v1/engines',
  ],
  erase: ['DELETE /tryon/v1/customers/anna', 'GET /tryon/v1/erasures/era_1'],
  webhooks: [
    'POST /tryon/v1/webhooks/listeners',
    'POST /tryon/v1/webhooks/listeners/listener_1/poll',
    'DELETE /tryon/v1/webhooks/listeners/listener_1',
    'POST /tryon/v1/webhooks/events',
    'POST /tryon/v1/webhooks/events/evt_1/resend',
  ],
  analytics: ['GET /tryon/v1/analytics', 'GET /tryon/v1/analytics.csv'],
}
const ROUTES = [...new Set(Object.values(MAY).flat())]

describe('a stolen key with restrictions', async () => {
  const drape = await startDrape({ env: { PROXY_HOPS: '1' } })
  afterAll(() => drape.stop())

  const make = async (restrictions: Partial<typeof UNRESTRICTED>) =>
    (await createApiKeys(drape.database).insert(drape.accountId, 'secret', { ...UNRESTRICTED, ...restrictions })).key
  const ask = (key: string, route: string, { body, from }: { body?: object; from?: string } = {}) => {
    const [method, path] = route.split(' ')
    const headers = from === undefined ? undefined : { 'X-Forwarded-For': from }
    return drape.call(method, path, { key, body, headers })
  }

  it('is tried on every route that needs a key', () => {
    const tried = ROUTES.map((route) => route.split(' '))
    const isTried = ({ method, path }: { method: string; path: string }) => {
      const pattern = new RegExp(`^${path.replaceAll(/\{\w+\}/g, '[^/]+')}$`)
      return tried.some(([verb, address]) => verb === method.toUpperCase() && pattern.test(address))
    }
    const keyed = SERVER_ROUTES.filter(({ access }) => access !== 'open')
    const missing = keyed.filter((route) => !isTried(route)).map(({ path }) => path)
    expect(missing, 'add them to each of their scopes in MAY of this file').toEqual([])
  })

  it.each(SCOPES)('with the scope %s reaches nothing else, in whatever spelling of a path', async (scope) => {
    const key = await make({ scopes: [scope] })
    for (const route of ROUTES) {
      const { status, body } = await ask(key, route)
      const isRefused = status === 403 && /needs a key with the scope .*This key has: /.test(body.message)
      expect(isRefused, `${route}: ${status}`).toBe(!MAY[scope].includes(route))
    }
    const spelled = ['/TRYON/v1/Account', '/tryon/v1/account/', '/tryon/v1//account', '/tryon/v1/%61ccount']
    const found = spelled.map(
      async (path) => (await fetch(`${drape.api.url}${path}`, { headers: { 'x-api-key': key } })).status,
    )
    for (const status of await Promise.all(found))
      expect([403, 404, ...(scope === 'read' ? [200] : [])]).toContain(status)
  })

  it('changes no product by a try-on', async () => {
    const image = { source: { url: 'http://127.0.0.1:9/shirt.jpg' } }
    const of = (product: object) => ({ products: [product], person: { image: { source: { id: 'img_1' } } } })
    const [one, both] = [await make({ scopes: ['try-on'] }), await make({ scopes: ['try-on', 'products'] })]
    const writes = [{ images: [image] }, { title: 'Mine' }, { metadata: {} }, { validForDays: 1 }, { images: [] }]
    for (const write of writes) {
      const body = of({ externalId: 'shirt', ...write })
      const refused = await ask(one, 'POST /tryon/v1/try-on', { body })
      expect([refused.status === 403, refused.status === 400], JSON.stringify(write)).toContain(true)
      expect((await ask(both, 'POST /tryon/v1/try-on', { body })).status).not.toBe(403)
    }
    const legacy = { product: { externalId: 'shirt', title: 'Mine' }, customer: { id: 'img_1' } }
    expect((await ask(one, 'POST /tryon/v1/try-on', { body: legacy })).body.code).toBe('FORBIDDEN')
    const outfit = [
      { images: [image], layer: 'tops' },
      { externalId: 'shirt', title: 'Mine', layer: 'bottoms' },
    ]
    const sent = { ...of({}), products: outfit }
    expect((await ask(one, 'POST /tryon/v1/outfits', { body: sent })).body.code).toBe('FORBIDDEN')
    expect((await ask(both, 'POST /tryon/v1/outfits', { body: sent })).status).toBe(400)
    expect((await ask(one, 'GET /tryon/v1/products/shirt')).status).toBe(403)
    expect((await ask(one, 'POST /tryon/v1/try-on', { body: of({ externalId: 'shirt' }) })).status).not.toBe(403)
    expect((await ask(one, 'POST /tryon/v1/try-on', { body: of({ images: [image] }) })).status).not.toBe(403)
  })

  it('is refused from any other address, also one that the caller invents', async () => {
    const key = await make({ allowedCidrs: ['203.0.113.0/24', '2001:db8::/32'] })
    const from = async (...forwarded: string[]) =>
      (await ask(key, 'GET /tryon/v1/account', { from: forwarded.join(', ') })).status
    expect(await from('203.0.113.9')).toBe(200)
    expect(await from('2001:db8::1')).toBe(200)
    expect(await from('::ffff:203.0.113.9')).toBe(200)
    // The last one is what our own proxy has seen.
    for (const forwarded of [['198.51.100.1'], ['203.0.113.9', '198.51.100.1'], ['nonsense'], ['2001:db9::1']])
      expect(await from(...forwarded), String(forwarded)).toBe(401)
    const answer = await ask(key, 'GET /tryon/v1/account', { from: '198.51.100.1' })
    expect(answer.body).toMatchObject({ code: 'INVALID_API_KEY', message: expect.stringContaining('198.51.100.1') })
  })
})
