import { afterAll, describe, expect, it } from 'vitest'
import { sql } from '../../../api/shared/database/database.ts'
import { formOf, readSample, startDrape } from '../../support/drape.ts'

const MAX_BYTES = 10 * 1024 * 1024

describe('bad input', async () => {
  const drape = await startDrape()
  const person = await readSample('persons/down-half-teal.jpg')
  const shirt = await readSample('garments/tshirt-navy.jpg')
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

  it('returns 404 for unknown routes, with any key or none', async () => {
    for (const key of [null, 'sk_wrong', drape.apiKey]) {
      expect((await drape.call('GET', '/tryon/v1/nothing', { key })).body.code).toBe('ROUTE_NOT_FOUND')
    }
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

  it('refuses with 402 without credits, and stores nothing', async () => {
    const poor = await drape.createAccount(0)
    const before = await countRows()
    const answer = await post(formOf(valid(), { me: person, shirt }), { key: poor.apiKey })
    expect(answer).toMatchObject({ status: 402, body: { code: 'INSUFFICIENT_CREDITS' } })
    expect(await countRows()).toEqual(before)
  })
})
