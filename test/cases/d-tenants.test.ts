import { request } from 'node:http'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { SERVER_ROUTES } from '../../api/http/core-routes.ts'
import { sql } from '../../api/shared/database/database.ts'
import { type Drape, readSample, startDrape } from '../support/drape.ts'

describe('API keys and accounts', () => {
  let drape: Drape
  let person: Buffer

  beforeAll(async () => {
    person = await readSample('persons/astronaut.jpg')
    drape = await startDrape({ credits: 100 })
  })
  afterAll(() => drape.stop())

  const ROUTES = SERVER_ROUTES.filter(({ access }) => access !== 'open').map(
    ({ method, path }) => [method.toUpperCase(), path.replaceAll(/\{\w+\}/g, 'x')] as const,
  )
  /** The status and code of an answer to raw header lines. */
  const send = (method: string, path: string, keys: readonly string[]) =>
    new Promise<{ status: number; code: string }>((resolve, reject) => {
      const { hostname, port } = new URL(drape.api.url)
      const headers = keys.flatMap((key) => ['x-api-key', key])
      const sending = request({ hostname, port, method, path, headers: ['host', hostname, ...headers] })
      sending.on('error', reject).on('response', async (response) => {
        const text = Buffer.concat(await response.toArray()).toString()
        resolve({ status: response.statusCode ?? 0, code: text === '' ? '' : JSON.parse(text).code })
      })
      sending.end()
    })

  it.each(ROUTES)('%s %s refuses a missing key and an invalid key', async (method, path) => {
    const key = drape.apiKey
    const swapped = key.replace(/[a-z]/gi, (letter, at) =>
      at < 3 ? letter : letter === letter.toLowerCase() ? letter.toUpperCase() : letter.toLowerCase(),
    )
    for (const keys of [[], [''], ['', '']]) {
      expect(await send(method, path, keys)).toEqual({ status: 401, code: 'MISSING_API_KEY' })
    }
    const wrong = [
      ...[[key.toLowerCase()], [key.toUpperCase()], [swapped], [`${key} x`], [`Bearer ${key}`], [`"${key}"`]],
      ...[[key, key], [key, 'x'], ['x', key], [`${key},${key}`], [key.slice(0, -1)], [`${key}A`], ['k'.repeat(10_000)]],
    ]
    for (const keys of wrong) {
      expect(await send(method, path, keys), keys.join(' | ').slice(0, 100)).toEqual({
        status: 401,
        code: 'INVALID_API_KEY',
      })
    }
  })

  it('surrounding spaces of a key are ignored, as HTTP defines', async () => {
    expect((await send('GET', '/tryon/v1/account', [` ${drape.apiKey}  `])).status).toBe(200)
  })

  it('a key in a query parameter, cookie or Authorization header is ignored', async () => {
    const url = `${drape.api.url}/tryon/v1/account`
    for (const answer of [
      await fetch(`${url}?x-api-key=${drape.apiKey}&apiKey=${drape.apiKey}`),
      await fetch(url, { headers: { cookie: `x-api-key=${drape.apiKey}` } }),
      await fetch(url, { headers: { authorization: `Bearer ${drape.apiKey}` } }),
    ]) {
      expect(answer.status).toBe(401)
    }
  })

  describe('another account', () => {
    let stranger: { id: string; apiKey: string }
    let imageId: string
    let generationId: string
    let oneShot: string
    let cursor: string

    beforeAll(async () => {
      stranger = await drape.createAccount(100)
      const own = (method: string, path: string, body: unknown) => drape.call(method, path, { body })
      imageId = (await drape.upload(person, { externalUserId: 'shopper' })).imageId
      const images = [{ source: { url: 'https://shop.example/shirt.jpg' } }]
      for (const externalId of ['shirt', 'hat']) await own('POST', '/tryon/v1/products', { externalId, images })
      const tryOn = await own('POST', '/tryon/v1/try-on', {
        products: [{ images }],
        person: { image: { source: { id: imageId } } },
      })
      generationId = tryOn.body.generationId
      oneShot = tryOn.body.productExternalId
      cursor = (await own('GET', '/tryon/v1/products?limit=1', undefined)).body.nextCursor
    })

    const call = (method: string, path: string, body?: unknown, headers = {}) =>
      drape.call(method, path, { body, key: stranger.apiKey, headers })
    const everything = async () => {
      const tables = ['accounts', 'products', 'generations', 'images', 'objects', 'outbox', 'ledger', 'api_keys']
      const rows = await Promise.all(
        tables.map((table) =>
          drape.database.anyFirst(sql.unsafe`select t::text from ${sql.identifier([table])} as t order by 1`),
        ),
      )
      return Object.fromEntries(tables.map((table, i) => [table, rows[i]]))
    }

    it('cannot read or change data of the first account, and is not charged', async () => {
      const before = await everything()
      const person = (id: string) => ({ image: { source: { id } } })
      const images = [{ source: { url: 'https://shop.example/shirt.jpg' } }]
      const outfit = [
        { images, layer: 'tops' },
        { images, layer: 'bottoms' },
      ]
      const tried: readonly [string, string, unknown, number, string][] = [
        ['POST', '/tryon/v1/try-on', { products: [{ images }], person: person(imageId) }, 403, 'FORBIDDEN'],
        ['POST', '/tryon/v1/try-on', { products: [{ images }], person: person('img_x') }, 400, 'VALIDATION_FAILED'],
        [
          'POST',
          '/tryon/v1/try-on',
          { products: [{ externalId: 'shirt' }], person: person(imageId) },
          403,
          'FORBIDDEN',
        ],
        ['POST', '/tryon/v1/outfits', { products: outfit, person: person(imageId) }, 403, 'FORBIDDEN'],
        [
          'POST',
          '/tryon/v1/outfits',
          { products: [outfit[0], { externalId: oneShot, layer: 'bottoms' }], person: person(imageId) },
          403,
          'FORBIDDEN',
        ],
        ['GET', `/tryon/v1/generations/${generationId}`, undefined, 403, 'FORBIDDEN'],
        ['GET', `/tryon/v1/generations/${generationId}/events`, undefined, 403, 'FORBIDDEN'],
        ['POST', `/tryon/v1/generations/${generationId}/cancel`, undefined, 403, 'FORBIDDEN'],
        ['GET', `/tryon/v1/generations/${generationId}/appeal`, undefined, 403, 'FORBIDDEN'],
        ['POST', `/tryon/v1/generations/${generationId}/appeal`, { reason: 'Mine.' }, 403, 'FORBIDDEN'],
        ['GET', `/tryon/v1/products/${oneShot}`, undefined, 403, 'FORBIDDEN'],
        ['DELETE', `/tryon/v1/products/${oneShot}`, undefined, 403, 'FORBIDDEN'],
        ['GET', `/tryon/v1/products/${oneShot}/stats`, undefined, 403, 'FORBIDDEN'],
        ['GET', '/tryon/v1/products/shirt', undefined, 404, 'PRODUCT_NOT_FOUND'],
        ['DELETE', '/tryon/v1/products/shirt', undefined, 404, 'PRODUCT_NOT_FOUND'],
        ['GET', '/tryon/v1/products/shirt/stats', undefined, 404, 'PRODUCT_NOT_FOUND'],
        ['GET', `/tryon/v1/products?cursor=${cursor}`, undefined, 400, 'VALIDATION_FAILED'],
      ]
      for (const [method, path, body, status, code] of tried) {
        expect(await call(method, path, body), `${method} ${path}`).toMatchObject({ status, body: { code, status } })
      }
      expect((await call('DELETE', '/tryon/v1/customers/shopper')).status).toBe(204)
      expect((await call('GET', '/tryon/v1/products')).body.items).toEqual([])
      expect(await everything()).toEqual(before)
    })

    it('has its own product under the same externalId, and cannot reference files of another request', async () => {
      const own = await call('POST', '/tryon/v1/products', {
        externalId: 'shirt',
        images: [{ source: { url: 'https://other.example/s.jpg' } }],
      })
      expect(own.status).toBe(200)
      const first = await drape.call('GET', '/tryon/v1/products/shirt')
      expect(first.body.images[0].sourceUrl).toBe('https://shop.example/shirt.jpg')
      for (const fileKey of ['file', '../file', `persons/${drape.accountId}/${imageId}.jpg`, imageId, '__proto__']) {
        const body = { externalId: 'b', images: [{ source: { fileKey } }] }
        expect((await call('POST', '/tryon/v1/products', body)).body.code).toBe('MULTIPART_FILE_NOT_FOUND')
      }
      for (const [url, code] of [
        [`upload://${'0'.repeat(64)}`, 'INVALID_IMAGE_INPUT'],
        ['file:///etc/passwd', 'VALIDATION_FAILED'],
      ]) {
        const body = { externalId: 'b', images: [{ source: { url } }] }
        expect((await call('POST', '/tryon/v1/products', body)).body.code).toBe(code)
      }
    })

    it('does not get the response of the first account by its Idempotency-Key', async () => {
      const headers = { 'idempotency-key': 'shared' }
      const body = { externalId: 'keyed', images: [{ source: { url: 'https://shop.example/k.jpg' } }] }
      const mine = await drape.call('POST', '/tryon/v1/products', { body, headers })
      const theirs = await call('POST', '/tryon/v1/products', body, headers)
      expect(theirs.status).toBe(200)
      expect(theirs.headers.get('idempotent-replay')).toBeNull()
      expect(theirs.body.createdAt).not.toBe(mine.body.createdAt)
    })
  })
})
