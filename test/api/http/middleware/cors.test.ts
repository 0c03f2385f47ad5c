import { afterAll, describe, expect, it } from 'vitest'
import { completeForShop } from '../../../support/completed.ts'
import { readSample, startDrape } from '../../../support/drape.ts'
import { startProgram } from '../../../support/process.ts'
import { createDevelopmentShop } from '../../../support/shop.ts'

const ORIGIN = 'https://www.shop.example'
const WANTED = 'content-type,x-service-anonymous-id,x-service-customer-id,x-service-customer-email,authorization'

describe('pages of other origins', async () => {
  const drape = await startDrape()
  const shop = await createDevelopmentShop(drape)
  afterAll(() => drape.stop())

  const ask = (path: string, init: RequestInit = {}) =>
    fetch(`${drape.api.url}${path}`, { ...init, headers: { origin: ORIGIN, ...(init.headers as object) } })
  const preflight = (path: string, headers = WANTED, url = drape.api.url) =>
    fetch(`${url}${path}`, {
      method: 'OPTIONS',
      headers: {
        origin: ORIGIN,
        'access-control-request-method': 'POST',
        'access-control-request-headers': headers,
      },
    })
  const allowed = (answer: Response, name = 'access-control-allow-headers') =>
    (answer.headers.get(name) ?? '').toLowerCase().split(/, ?/)

  it.each(['/public/share-generation', '/public/download-image', '/storefront/v1/events', '/s/abc'])(
    'can send a preflight request for %s without authentication',
    async (path) => {
      const answer = await preflight(path)
      expect(answer.status).toBe(204)
      expect(answer.headers.get('access-control-allow-origin')).toBe('*')
      expect(allowed(answer)).toEqual(expect.arrayContaining(WANTED.split(',')))
      expect(allowed(answer, 'access-control-allow-methods')).toEqual(expect.arrayContaining(['get', 'post', 'put']))
      expect(Number(answer.headers.get('access-control-max-age'))).toBeGreaterThanOrEqual(600)
      expect(answer.headers.get('access-control-allow-credentials')).toBeNull()
    },
  )

  it('can read responses, errors and their headers', async () => {
    const refused = await ask('/public/download-image?url=x')
    expect(refused.status).toBe(401)
    const invalid = await ask('/public/download-image?url=x', { headers: shop.headers })
    expect(invalid.status).toBe(400)
    const unknown = await ask('/public/nothing')
    expect(unknown.status).toBe(404)
    for (const answer of [refused, invalid, unknown]) {
      expect(answer.headers.get('access-control-allow-origin')).toBe('*')
      expect(answer.headers.get('access-control-allow-credentials')).toBeNull()
      expect(answer.headers.get('vary')).toMatch(/\bOrigin\b/)
      expect(answer.headers.get('cache-control')).toBe('no-store')
      expect(allowed(answer, 'access-control-expose-headers')).toEqual(
        expect.arrayContaining(['retry-after', 'x-request-id', 'content-disposition']),
      )
    }
  })

  it.each(['/tryon/v1/account', '/tryon/v1/try-on', '/tryon/v1/nothing', '/docs', '/PUBLIC/anything'])(
    'cannot call %s, because secret keys must not be in a browser',
    async (path) => {
      const asking = await preflight(path, 'x-api-key')
      expect(asking.headers.get('access-control-allow-origin')).toBeNull()
      expect(asking.headers.get('access-control-allow-headers')).toBeNull()
      const answer = await ask(path, { headers: { 'x-api-key': drape.apiKey } })
      expect(answer.headers.get('access-control-allow-origin')).toBeNull()
    },
  )

  it('can name their shop only in development', async () => {
    expect(allowed(await preflight('/public/x', 'x-drape-shop'))).toContain('x-drape-shop')
    const production = await startProgram('api', {
      ...drape.env,
      NODE_ENV: 'production',
      SIGNING_SECRET: 'sixteen characters',
    })
    expect(allowed(await preflight('/public/x', 'x-drape-shop', production.url))).not.toContain('x-drape-shop')
    await production.end()
  })

  it('can show and read linked images', async () => {
    const image = await readSample('persons/astronaut.jpg')
    const { generationId } = await completeForShop(drape, { shopId: shop.id, image })
    const { body } = await drape.call('POST', '/public/share-generation', {
      key: null,
      headers: shop.headers,
      body: { generationId },
    })
    const shared = await drape.call('GET', `/s/${body.shareToken}`, { headers: { accept: 'application/json' } })
    const response = await fetch(shared.body.generation.resultImageUrl, { headers: { origin: ORIGIN } })
    expect(response.status).toBe(200)
    expect(response.headers.get('access-control-allow-origin')).toBe('*')
    expect(response.headers.get('cross-origin-resource-policy')).toBe('cross-origin')
    expect(response.headers.get('cache-control')).toBe('private, max-age=300')
    const refused = await fetch(`${drape.api.url}/objects/a.jpg`, { headers: { origin: ORIGIN } })
    expect(refused.status).toBe(403)
    expect(refused.headers.get('access-control-allow-origin')).toBe('*')
  })
})
