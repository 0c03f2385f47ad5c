import { request } from 'node:http'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ROUTES } from '../../api/http/core-routes.ts'
import { createDocument } from '../../api/http/openapi/document.ts'
import { sql } from '../../api/shared/database/database.ts'
import { type Drape, readSample, startDrape } from '../support/drape.ts'

describe('the API contract', () => {
  let drape: Drape

  beforeAll(async () => {
    drape = await startDrape({ credits: 1000 })
    await drape.call('POST', '/tryon/v1/products', { body: { externalId: 'kept', images } })
  })
  afterAll(() => drape.stop())

  const images = [{ source: { url: 'https://shop.example/shirt.jpg' } }]
  const upload = async (): Promise<string> => (await drape.upload(await readSample('persons/astronaut.jpg'))).imageId
  const state = () =>
    drape.database.one(sql.unsafe`
      select (select count(*) from products)::int as products, (select count(*) from generations)::int as generations,
        (select count(*) from images)::int as images, (select sum(balance) from accounts)::int as credits`)
  /** Any method and path, as they are. */
  const send = (method: string, path: string, headers: Record<string, string> = {}) =>
    new Promise<{ status: number; allow: string; text: string }>((resolve, reject) => {
      const { hostname, port } = new URL(drape.api.url)
      const sending = request({ hostname, port, method, path, headers: { 'x-api-key': drape.apiKey, ...headers } })
      sending.on('error', reject).on('response', async (response) => {
        const chunks = await response.toArray()
        const { statusCode: status = 0, headers: received } = response
        resolve({ status, allow: String(received.allow ?? ''), text: Buffer.concat(chunks).toString() })
      })
      sending.end()
    })

  it.each([
    ['HEAD', '/tryon/v1/products/kept', 200],
    ['HEAD', '/tryon/v1/try-on', 405],
    ['HEAD', '/tryon/v1/customers/kept', 405],
    ['OPTIONS', '/tryon/v1/products/kept', 405],
    ['OPTIONS', '/tryon/v1/customers/kept', 405],
    ['TRACE', '/tryon/v1/products/kept', 405],
    ['TRACE', '/tryon/v1/account', 405],
    ['PUT', '/tryon/v1/products', 405],
    ['PATCH', '/tryon/v1/account', 405],
    ['DELETE', '/tryon/v1/products', 405],
    ['GET', '/tryon/v1/try-on', 405],
    ['PROPFIND', '/tryon/v1/products', 405],
    ['TRACE', '/tryon/v1/nothing', 404],
  ])('%s %s has no side effect and answers %i', async (method, path, status) => {
    const before = await state()
    const answer = await send(method, path)
    expect(answer.status).toBe(status)
    if (method === 'HEAD') expect(answer.text).toBe('')
    if (status === 405) expect(answer.allow).toMatch(/GET|POST|DELETE/)
    // A TRACE response would contain the key.
    expect(answer.text).not.toContain(drape.apiKey)
    expect(await state()).toEqual(before)
  })

  it('ignores headers, fields and parameters that override the method', async () => {
    const before = await state()
    const path = '/tryon/v1/products/kept'
    for (const header of ['x-http-method-override', 'x-http-method', 'x-method-override']) {
      expect((await send('GET', path, { [header]: 'DELETE' })).status).toBe(200)
      expect((await send('POST', path, { [header]: 'DELETE' })).status).toBe(405)
    }
    expect((await send('GET', `${path}?_method=DELETE`)).status).toBe(200)
    expect((await drape.call('POST', path, { body: { _method: 'DELETE' } })).status).toBe(405)
    expect(await state()).toEqual(before)
  })

  it.each([
    '/tryon/v1/products/%',
    '/tryon/v1/products/%E0%A4%A',
    '/tryon/v1/products/%ff',
    '/tryon/v1/products/a%00b',
    '/tryon/v1/generations/gen_%00',
    '/tryon/v1/generations/%F0%9F%91%95',
    `/tryon/v1/products/${'a'.repeat(8000)}`,
    '/tryon/v1/../../../etc/passwd',
    '/tryon/v1/products/..%2f..%2fetc%2fpasswd',
    '//tryon/v1/account',
    '/tryon/v1/products?limit=[$gt]',
    '/tryon/v1/products?cursor=%00',
    '/tryon/v1/products?cursor=[__proto__]',
    '/objects/%2e%2e/%2e%2e/etc/passwd',
    '/objects/persons%00.jpg?signature=x&expires=99999999999',
    '/objects/?signature=',
    '/%',
    '/nothing',
    '*',
  ])('answers odd path %# with a 4xx status', async (path) => {
    const { status, text } = await send('GET', path)
    expect(status).toBeGreaterThanOrEqual(400)
    expect(status).toBeLessThan(500)
    if (text !== '') expect(JSON.parse(text)).toMatchObject({ status })
  })

  it.each(['a%00b', '%', '%ff', 'a'.repeat(8000), '%E2%80%AE'])('erases customer %# or refuses the ID', async (id) => {
    const { status } = await send('DELETE', `/tryon/v1/customers/${id}`)
    expect([204, 400, 404]).toContain(status)
  })

  it.each([
    ['from=0001-01-01', 200],
    ['from=0000-01-01', 200],
    ['from=0000-12-31T23:59:59Z', 200],
    ['to=9999-12-31', 200],
    ['to=9999-12-31T23:59:59.999-14:00', 200],
    ['from=0001-01-01T00:00:00%2B14:00', 200],
    ['from=2026-01-01T12:00:00%2B02:00', 200],
    ['from=2026-01-01T12:00:00+02:00', 200],
    ['from=2016-12-31T23:59:60Z', 400],
    ['from=2026-02-01&to=2026-01-01', 400],
    ['from=2026-01-01&from=2026-01-02', 400],
    ['from=-000001-01-01', 400],
    ['from=%00', 400],
  ])('answers product statistics for %s with %i', async (query, status) => {
    const answer = await send('GET', `/tryon/v1/products/kept/stats?${query}`)
    expect({ status: answer.status, text: answer.text }).toMatchObject({ status })
  })

  // Each iteration erases its customer together with the photo, so it uploads a new photo.
  it('treats names like __proto__ as data everywhere', async () => {
    for (const name of ['__proto__', 'constructor', 'hasOwnProperty', 'toString']) {
      const value = `{"${name}":{"polluted":true}}`
      const body = `{"products":[{"externalId":"${name}","images":${JSON.stringify(images)},"metadata":${value}}],
        "person":{"image":{"source":{"id":"${await upload()}"}}},"externalUserId":"${name}"}`
      const answer = await drape.call('POST', '/tryon/v1/try-on', { body })
      expect(answer).toMatchObject({ status: 201, body: { productExternalId: name } })
      const stored = await drape.call('GET', `/tryon/v1/products/${name}`)
      expect(JSON.stringify(stored.body.metadata)).toBe(value)
      const classified = `{"externalId":"c","images":[{"source":{"url":"https://a.b/c"},"classifications":${value}}]}`
      const product = await drape.call('POST', '/tryon/v1/products', { body: classified })
      expect(JSON.stringify(product.body.images[0].classifications)).toBe(value)
      expect((await drape.call('DELETE', `/tryon/v1/customers/${name}`)).status).toBe(204)
      for (const place of ['', 'products', 'person', 'output']) {
        const inner = place === '' ? value.slice(1, -1) : `"${place}":${value}`
        expect((await drape.call('POST', '/tryon/v1/try-on', { body: `{${inner}}` })).status).toBe(400)
      }
    }
    const plain = await drape.call('GET', '/tryon/v1/products/kept')
    expect(plain.body).not.toHaveProperty('polluted')
    expect((await drape.call('GET', '/tryon/v1/products/valueOf')).status).toBe(404)
  })

  it('names the path of every invalid field, also if two products or sources were sent', async () => {
    const pathsOf = async (body: unknown) => {
      const answer = await drape.call('POST', '/tryon/v1/try-on', { body })
      expect(answer).toMatchObject({ status: 400, body: { code: 'VALIDATION_FAILED' } })
      return answer.body.details.map(({ path }: { path: string }) => path)
    }
    const person = { image: { source: { id: 'img_x' } } }
    const product = { externalId: 'kept' }
    expect(await pathsOf({ products: [], person })).toEqual(['products'])
    expect(await pathsOf({ products: [product, product], person })).toEqual(['products'])
    expect(await pathsOf({ products: [{}, {}], person })).toEqual(['products'])
    const two = { id: 'img_x', url: 'https://a.b/c' }
    expect(await pathsOf({ products: [product], person: { image: { source: two } } })).toEqual(['person.image.source'])
    for (const validForDays of [0, 366, 1.5, '7', true, [], {}]) {
      expect(await pathsOf({ products: [{ externalId: 'v', images, validForDays }], person })).toEqual([
        'products[0].validForDays',
      ])
    }
    for (const keepForDays of [2, '3', 0, -1, 7.5, 1e300]) {
      expect(await pathsOf({ products: [product], person, output: { keepForDays } })).toEqual(['output.keepForDays'])
    }
  })

  it('refuses numbers beyond the range of a double', async () => {
    const refused = async (metadata: string) => {
      const body = `{"externalId":"kept","metadata":${metadata}}`
      return (await drape.call('POST', '/tryon/v1/products', { body })).body.details
    }
    expect(await refused('{"a":[1,{"b":1e999}]}')).toMatchObject([{ path: 'metadata.a[1].b' }])
    expect(await refused('{"a":-1e400}')).toMatchObject([{ path: 'metadata.a' }])
    const { body } = await drape.call('POST', '/tryon/v1/products', {
      body: '{"externalId":"kept","metadata":{"large":1e300,"small":5e-324,"none":1e-400}}',
    })
    expect(body.metadata).toEqual({ large: 1e300, small: 5e-324, none: 0 })
  })

  it('returns metadata in the order of the request, with long numbers exact', async () => {
    const metadata = '{"z":12345678901234567890,"a":[-9007199254740993,{"y":0.12345678901234567890,"b":1.50}],"m":1e3}'
    const body = `{"products":[{"externalId":"exact","images":[{"url":"https://shop.example/a.jpg"}],"metadata":${metadata}}],
      "person":{"image":{"source":{"id":"${await upload()}"}}}}`
    expect((await drape.call('POST', '/tryon/v1/try-on', { body })).status).toBe(201)
    const url = `${drape.api.url}/tryon/v1/products/exact`
    const text = await (await fetch(url, { headers: { 'x-api-key': drape.apiKey } })).text()
    expect(text).toContain('"metadata":{"z":12345678901234567890,"a":[-9007199254740993,{"y":0.12345678901234567890,')
    expect(text).toContain('"b":1.5}],"m":1000}')
  })

  it.each(['metadata', 'externalId', 'images', 'validForDays'])('refuses a number beyond 2^53 as %s', async (name) => {
    const body = `{"externalId":"kept","${name}":12345678901234567890}`
    expect(await drape.call('POST', '/tryon/v1/products', { body })).toMatchObject({
      status: 400,
      body: { code: 'VALIDATION_FAILED', details: [{ path: name }] },
    })
  })

  it('prefers person over customer, with a warning and the Deprecation header', async () => {
    const body = {
      products: [{ externalId: 'kept' }],
      person: { image: { source: { id: await upload() } } },
      customer: { source: { id: 'img_unknown' } },
    }
    const answer = await drape.call('POST', '/tryon/v1/try-on', { body })
    expect(answer).toMatchObject({ status: 201, body: { warnings: ['CUSTOMER_IGNORED'] } })
    expect(answer.headers.get('deprecation')).toBe('@1781654400')
  })

  it.each([
    [{ products: [{ images: null }] }, 'PRODUCT_IMAGES_REQUIRED'],
    [{ products: [{ images: [{ source: { url: null } }] }] }, 'INVALID_IMAGE_INPUT'],
    [{ products: [{ images: [{ url: null }] }] }, 'INVALID_IMAGE_INPUT'],
    [{ products: [{ externalId: 'kept' }], person: null }, 'CUSTOMER_IMAGE_REQUIRED'],
    [{ products: [{ externalId: 'kept' }], person: { image: { source: { id: null } } } }, 'VALIDATION_FAILED'],
  ])('refuses %j as if members that are null were absent', async (body, code) => {
    const person = { image: { source: { id: 'img_unknown' } } }
    expect(await drape.call('POST', '/tryon/v1/try-on', { body: { person, ...body } })).toMatchObject({
      body: { code },
    })
  })

  it('has paths that are case-sensitive', async () => {
    for (const path of ['/tryon/v1/Account', '/TRYON/v1/account', '/tryon/V1/account']) {
      expect(await drape.call('GET', path)).toMatchObject({ status: 404, body: { code: 'ROUTE_NOT_FOUND' } })
    }
    expect((await drape.call('GET', '/tryon/v1/account')).status).toBe(200)
    const { paths } = createDocument(ROUTES, { publicUrl: '', serviceName: 'Drape' })
    for (const [path, operations] of Object.entries(paths)) {
      const otherCase = path.replace(/(?<=\/)[a-z](?=[^/]*$)/, (letter) => letter.toUpperCase())
      if (otherCase === path) continue
      for (const method of Object.keys(operations)) {
        const url = `${drape.api.url}${otherCase.replace(/\{\w+\}/g, 'x')}`
        const { status } = await fetch(url, { method: method.toUpperCase(), headers: { 'x-api-key': drape.apiKey } })
        // 405: the segment may be read as the id of a product.
        expect([404, 405], `${method} ${otherCase}`).toContain(status)
      }
    }
  })
})
