import { afterAll, describe, expect, it } from 'vitest'
import { readSample, startDrape } from '../../../support/drape.ts'

/** One part of a multipart body, as a client may write it. */
interface Part {
  readonly disposition: string
  readonly type?: string
  readonly bytes: string | Uint8Array
}

const BOUNDARY = 'the-boundary'

describe('a multipart body', async () => {
  const drape = await startDrape()
  const person = await readSample('persons/down-half-teal.jpg')
  afterAll(() => drape.stop())

  const send = async (path: string, parts: readonly Part[]) => {
    const bytes = parts.flatMap(({ disposition, type, bytes }) => [
      Buffer.from(`--${BOUNDARY}\r\nContent-Disposition: form-data; ${disposition}\r\n`),
      Buffer.from(type === undefined ? '\r\n' : `Content-Type: ${type}\r\n\r\n`),
      Buffer.from(bytes as Uint8Array),
      Buffer.from('\r\n'),
    ])
    const response = await fetch(`${drape.api.url}${path}`, {
      method: 'POST',
      headers: { 'x-api-key': drape.apiKey, 'content-type': `multipart/form-data; boundary=${BOUNDARY}` },
      body: new Uint8Array(Buffer.concat([...bytes, Buffer.from(`--${BOUNDARY}--\r\n`)])),
    })
    return { status: response.status, body: (await response.json()) as Record<string, unknown> }
  }
  const data = JSON.stringify({ externalId: 'shirt', title: 'Hemd für dich', images: [{ source: { fileKey: 'a' } }] })
  const file: Part = { disposition: 'name="a"; filename="a.jpg"', type: 'image/jpeg', bytes: '' }

  it.each([
    ['is a plain field', { disposition: 'name="data"' }],
    ['has a type', { disposition: 'name="data"', type: 'application/json' }],
    ['has a type and a charset', { disposition: 'name="data"', type: 'application/json; charset=utf-8' }],
    ['came as a file', { disposition: 'name="data"; filename="blob"', type: 'application/json' }],
    ['has another type', { disposition: 'name="data"', type: 'text/plain' }],
  ])('is parsed when its data %s', async (_, part) => {
    const answer = await send('/tryon/v1/products', [
      { ...part, bytes: data },
      { ...file, bytes: person },
    ])
    expect(answer).toMatchObject({ status: 200, body: { title: 'Hemd für dich' } })
  })

  it.each([
    ['without a name', { disposition: 'name="a"', type: 'image/jpeg' }],
    ['without a type', { disposition: 'name="a"; filename="a.jpg"' }],
    ['without a name and a type', { disposition: 'name="a"' }],
    ['with an extended name alone', { disposition: 'name="a"; filename*=UTF-8\'\'a%20b.jpg' }],
    ['of no special type', { disposition: 'name="a"', type: 'application/octet-stream' }],
    ['that calls itself a text', { disposition: 'name="a"; filename="a.txt"', type: 'text/plain' }],
  ])('is parsed with a file %s', async (_, part) => {
    const answer = await send('/tryon/v1/products', [
      { disposition: 'name="data"', bytes: data },
      { ...part, bytes: person },
    ])
    expect(answer.status).toBe(200)
  })

  it.each([
    ['without a name and a type', 'name="file"'],
    ['with an extended name alone', 'name="file"; filename*=UTF-8\'\'fa%C3%A7ade.jpg'],
    ['with an extended name in Latin-1', 'name="file"; filename*=ISO-8859-1\'fr\'fa%E7ade.jpg'],
  ])('is parsed with a photo %s', async (_, disposition) => {
    const answer = await send('/tryon/v1/images/upload', [{ disposition, bytes: person }])
    expect(answer.status).toBe(201)
    const text = await send('/tryon/v1/images/upload', [{ disposition, bytes: 'no image at all' }])
    expect(text).toMatchObject({ status: 400, body: { code: 'UNSUPPORTED_IMAGE_TYPE' } })
  })

  it.each([
    ['files', 53, 'a"; filename="a', 'has more than 52 files'],
    ['fields', 21, 'a', 'has more than 20 fields'],
  ])('with too many %s is refused with a message', async (_, count, name, message) => {
    const parts = Array.from({ length: count }, () => ({ disposition: `name="${name}"`, bytes: 'x' }))
    const answer = await send('/tryon/v1/products', parts)
    expect(answer).toMatchObject({ status: 400, body: { details: [{ path: '', message }] } })
  })

  it('has a file with the name of its field, even if a browser escaped the name', async () => {
    const images = [{ source: { fileKey: 'a "b"\r\nc' } }, { source: { fileKey: '100%22' } }]
    const answer = await send('/tryon/v1/products', [
      { disposition: 'name="data"', bytes: JSON.stringify({ externalId: 'quoted', images }) },
      { disposition: 'name="a %22b%22%0D%0Ac"; filename="a.jpg"', type: 'image/jpeg', bytes: person },
      { disposition: 'name="100%22"; filename="b.jpg"', type: 'image/jpeg', bytes: person },
    ])
    expect(answer.status).toBe(200)
  })

  it('has no file for an empty file input of a browser', async () => {
    const unchosen: Part = { disposition: 'name="file"; filename=""', type: 'application/octet-stream', bytes: '' }
    const answer = await send('/tryon/v1/images/upload', [unchosen])
    expect(answer).toMatchObject({ status: 400, body: { code: 'FILE_REQUIRED' } })
    const product = await send('/tryon/v1/products', [
      { disposition: 'name="data"', bytes: data },
      { ...unchosen, disposition: 'name="a"; filename=""' },
    ])
    expect(product).toMatchObject({ status: 400, body: { code: 'MULTIPART_FILE_NOT_FOUND' } })
    const chosen = await send('/tryon/v1/images/upload', [{ ...unchosen, bytes: person }])
    expect(chosen.status).toBe(201)
  })

  it('has fields that may have a content type', async () => {
    const [cropped, whole] = await Promise.all(
      ['maybe', 'false'].map((crop) =>
        send('/tryon/v1/images/upload', [
          { disposition: 'name="file"; filename="me.jpg"', type: 'image/jpeg', bytes: person },
          { disposition: 'name="crop"', type: 'text/plain; charset=utf-8', bytes: crop },
        ]),
      ),
    )
    expect(cropped).toMatchObject({ status: 400, body: { details: [{ path: 'crop' }] } })
    expect(whole.status).toBe(201)
  })

  it('contains all files complete, in any order', async () => {
    const names = Array.from({ length: 10 }, (_, i) => `file${i}`)
    const garment = await readSample('garments/tshirt-navy.jpg')
    const images = names.map((fileKey) => ({ source: { fileKey } }))
    const answer = await send('/tryon/v1/products', [
      ...names.map((name, i) => ({
        disposition: `name="${name}"; filename="x"`,
        type: 'image/jpeg',
        bytes: i % 2 === 0 ? person : garment,
      })),
      { disposition: 'name="data"', type: 'application/json', bytes: JSON.stringify({ externalId: 'many', images }) },
    ])
    expect(answer.status).toBe(200)
    const sources = (answer.body.images as { sourceUrl: string }[]).map(({ sourceUrl }) => sourceUrl)
    expect(sources).toEqual(names.map((_, i) => sources[i % 2]))
    expect(sources[0]).not.toBe(sources[1])
  })
})
