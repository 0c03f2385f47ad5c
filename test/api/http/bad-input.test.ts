import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { generateKey } from '../../../api/accounts/credentials.ts'
import { sql } from '../../../api/shared/database/database.ts'
import { type Drape, formOf, readSample, startDrape } from '../../support/drape.ts'

const MAX_BYTES = 10 * 1024 * 1024

describe('bad input', () => {
  let drape: Drape
  let person: Buffer
  let shirt: Buffer

  beforeAll(async () => {
    drape = await startDrape()
    person = await readSample('persons/down-half-teal.jpg')
    shirt = await readSample('garments/tshirt-navy.jpg')
  })
  afterAll(() => drape.stop())

  const post = (body: unknown, options = {}) => drape.call('POST', '/tryon/v1/try-on', { body, ...options })
  const valid = () => ({
    products: [{ images: [{ source: { fileKey: 'shirt' } }] }],
    person: { image: { source: { fileKey: 'me' } } },
  })
  const countRows = async () => {
    const { rows } = await drape.database.query(sql.unsafe`
      select (select count(*) from generations)::int as generations, (select count(*) from images)::int as images`)
    return rows[0]
  }

  it.each([
    ['missing', null, 'MISSING_API_KEY'],
    ['empty', '', 'MISSING_API_KEY'],
    ['made up', 'sk_abc', 'INVALID_API_KEY'],
    ['well formed but unknown', generateKey('secret'), 'INVALID_API_KEY'],
    ['publishable', generateKey('publishable'), 'INVALID_API_KEY'],
    ['endless', 'k'.repeat(10_000), 'INVALID_API_KEY'],
  ])('refuses a key that is %s', async (_, key, code) => {
    const answer = await drape.call('GET', '/tryon/v1/account', { key })
    expect(answer).toMatchObject({ status: 401, body: { code, status: 401, message: expect.any(String) } })
  })

  it('refuses a key with another case, and a key sent twice', async () => {
    for (const key of [drape.apiKey.toLowerCase(), `${drape.apiKey}, ${drape.apiKey}`]) {
      expect((await drape.call('GET', '/tryon/v1/account', { key })).body.code).toBe('INVALID_API_KEY')
    }
  })

  it('returns 404 for unknown routes, and names the methods of known routes', async () => {
    for (const key of [null, 'sk_wrong', drape.apiKey]) {
      expect((await drape.call('GET', '/tryon/v1/nothing', { key })).body.code).toBe('ROUTE_NOT_FOUND')
    }
    const wrong = await drape.call('DELETE', '/tryon/v1/try-on')
    expect(wrong).toMatchObject({ status: 405, body: { code: 'METHOD_NOT_ALLOWED' } })
    expect(wrong.headers.get('allow')).toContain('POST')
  })

  it.each([
    ['no JSON', '{"products":', 'VALIDATION_FAILED'],
    ['no object', '[]', 'VALIDATION_FAILED'],
    ['no person', JSON.stringify({ products: [{ externalId: 'a' }] }), 'CUSTOMER_IMAGE_REQUIRED'],
    ['no images of a one-shot product', JSON.stringify({ ...valid(), products: [{}] }), 'PRODUCT_IMAGES_REQUIRED'],
    [
      'an image from nowhere',
      JSON.stringify({ ...valid(), products: [{ images: [{ source: {} }] }] }),
      'INVALID_IMAGE_INPUT',
    ],
    [
      'a reserved id',
      JSON.stringify({
        ...valid(),
        products: [{ externalId: '_anon_x', images: [{ source: { url: 'http://a.b/c' } }] }],
      }),
      'RESERVED_EXTERNAL_ID',
    ],
    ['a depth without end', `${'{"a":'.repeat(500)}1${'}'.repeat(500)}`, 'VALIDATION_FAILED'],
    ['a character that cannot be stored', JSON.stringify({ ...valid(), externalUserId: 'a\0b' }), 'VALIDATION_FAILED'],
  ])('refuses a body with %s', async (_, body, code) => {
    const answer = await post(body)
    expect(answer.body).toMatchObject({ code, status: answer.status, message: expect.any(String) })
    expect(answer.status).toBeLessThan(500)
  })

  it('names the path of every offending field', async () => {
    const answer = await post({
      products: [{ externalId: 'a', validForDays: 366, images: [{ source: { url: 'x', fileKey: 'y' } }] }, {}],
      person: { image: { source: { id: 'a', url: 'http://a.b/c' } } },
      output: { keepForDays: 2 },
    })
    expect(answer).toMatchObject({ status: 400, body: { code: 'VALIDATION_FAILED' } })
    const paths = answer.body.details.map(({ path }: { path: string }) => path)
    expect(paths).toEqual(
      expect.arrayContaining(['products', 'products[0].validForDays', 'person.image.source', 'output.keepForDays']),
    )
  })

  it.each([
    ['0 bytes', () => Buffer.alloc(0), 400, 'INVALID_IMAGE'],
    ['3 bytes', () => Buffer.from([0xff, 0xd8, 0xff]), 400, 'INVALID_IMAGE'],
    ['a text', () => Buffer.from('this is a text, not a photograph'), 400, 'UNSUPPORTED_IMAGE_TYPE'],
    ['half a JPEG', () => person.subarray(0, person.length / 2), 400, 'INVALID_IMAGE'],
    [
      'one byte too many',
      () => Buffer.concat([person, Buffer.alloc(MAX_BYTES + 1 - person.length)]),
      413,
      'FILE_TOO_LARGE',
    ],
  ])('refuses an upload of %s named .jpg', async (_, bytes, status, code) => {
    const before = await countRows()
    const upload = await drape.call('POST', '/tryon/v1/images/upload', { body: formOf(undefined, { file: bytes() }) })
    expect(upload).toMatchObject({ status, body: { code, status } })
    const tryOn = await post(formOf(valid(), { me: bytes(), shirt }))
    expect(tryOn).toMatchObject({ status, body: { code } })
    expect(await countRows()).toEqual(before)
  })

  it('accepts a file of exactly 10 MB', async () => {
    const file = Buffer.concat([person, Buffer.alloc(MAX_BYTES - person.length)])
    const upload = await drape.call('POST', '/tryon/v1/images/upload', { body: formOf(undefined, { file }) })
    expect(upload.status).toBe(201)
  })

  it('refuses an upload without a file, and a fileKey without a file', async () => {
    const upload = await drape.call('POST', '/tryon/v1/images/upload', { body: formOf(undefined, { photo: person }) })
    expect(upload).toMatchObject({ status: 400, body: { code: 'FILE_REQUIRED' } })
    const tryOn = await post(formOf(valid(), { me: person }))
    expect(tryOn).toMatchObject({ status: 400, body: { code: 'MULTIPART_FILE_NOT_FOUND' } })
  })

  it('keeps running after broken multipart bodies', async () => {
    const bodies = [
      '--x\r\nContent-Disposition: form-data; name="file"; filename="a"\r\n\r\nno end',
      '--x\r\nContent-Disposition: form-data; name="file"\r\n',
      '',
      `--x\r\nContent-Disposition: form-data; name="file"; filename="${'n'.repeat(10_000)}\u202e../a\r\n\r\nz\r\n--x--`,
    ]
    for (const body of bodies) {
      const answer = await drape.call('POST', '/tryon/v1/images/upload', {
        body,
        headers: { 'content-type': 'multipart/form-data; boundary=x' },
      })
      expect(answer.status).toBe(400)
    }
    expect((await drape.call('GET', '/tryon/v1/account')).status).toBe(200)
  })

  it('refuses with 402 without credits, and stores nothing', async () => {
    const poor = await drape.createAccount(0)
    const before = await countRows()
    const answer = await post(formOf(valid(), { me: person, shirt }), { key: poor.apiKey })
    expect(answer).toMatchObject({ status: 402, body: { code: 'INSUFFICIENT_CREDITS' } })
    expect(await countRows()).toEqual(before)
  })

  it('returns a generation only to its account', async () => {
    const id = await drape.tryOn(valid(), { me: person, shirt })
    const other = await drape.createAccount(1)
    const foreign = await drape.call('GET', `/tryon/v1/generations/${id}`, { key: other.apiKey })
    expect(foreign).toMatchObject({ status: 403, body: { code: 'FORBIDDEN' } })
    const unknown = await drape.call('GET', '/tryon/v1/generations/gen_unknown')
    expect(unknown).toMatchObject({ status: 404, body: { code: 'GENERATION_NOT_FOUND' } })
    const own = await drape.call('GET', `/tryon/v1/generations/${id}`)
    expect(own.body).toMatchObject({ generationId: id, status: 'PENDING' })
    expect(own.body).not.toHaveProperty('resultImageUrl')
  })

  it('serves no object without a valid signature', async () => {
    const upload = await drape.call('POST', '/tryon/v1/images/upload', { body: formOf(undefined, { file: person }) })
    const link = new URL(upload.body.imageUrl)
    expect((await fetch(link)).status).toBe(200)
    for (const change of ['signature', 'expires']) {
      const forged = new URL(link)
      forged.searchParams.set(change, `${link.searchParams.get(change)}0`)
      expect((await fetch(forged)).status).toBe(403)
    }
    expect((await fetch(`${link.origin}/objects/..%2f..%2fetc%2fpasswd?${link.searchParams}`)).status).toBe(403)
  })
})
