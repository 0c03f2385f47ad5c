import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { sql } from '../../../api/shared/database/database.ts'
import { type Answer, type Drape, formOf, readSample, startDrape } from '../../support/drape.ts'

const TEXT = Buffer.from('this is a text, not a photograph')
const TOO_LARGE = Buffer.alloc(10 * 1024 * 1024 + 1, 1)
const NOWHERE = 'http://10.0.0.1/shirt.jpg'

describe('an error of an image', () => {
  let drape: Drape
  let shop: Server
  let url: string
  let photo: Buffer

  beforeAll(async () => {
    photo = await readSample('persons/astronaut.jpg')
    shop = createServer(({ url: path }, response) => {
      if (path === '/photo.jpg') response.end(photo)
      else if (path === '/large.jpg') response.end(Buffer.concat([photo, TOO_LARGE]))
      else if (path === '/broken.jpg') response.end(photo.subarray(0, photo.length / 2))
      else response.writeHead(404).end()
    })
    await new Promise<void>((listening) => shop.listen(0, '127.0.0.1', listening))
    const { port } = shop.address() as AddressInfo
    url = `http://127.0.0.1:${port}`
    drape = await startDrape({ env: { FETCH_ALLOW_PORTS: `80,443,${port}` } })
  })
  afterAll(async () => {
    await drape.stop()
    shop.close()
  })

  const file = (fileKey: string) => ({ source: { fileKey } })
  const pathsOf = ({ body }: Answer) => (body.details ?? []).map((problem: { path: string }) => problem.path)
  const tryOn = (body: unknown, files: Record<string, Uint8Array> = {}) =>
    drape.call('POST', '/tryon/v1/try-on', {
      body: Object.keys(files).length === 0 ? body : formOf(body, files),
    })
  const ofTwo = (second: unknown, person: unknown = { image: file('me') }) => ({
    products: [{ images: [{ source: { url: NOWHERE } }, second] }],
    person,
  })

  it.each<[string, unknown, Record<string, Uint8Array>, string, string]>([
    [
      'of another type',
      ofTwo(file('it')),
      { it: Buffer.alloc(20, 'RIFF'), me: TEXT },
      'UNSUPPORTED_IMAGE_TYPE',
      'products[0].images[1]',
    ],
    [
      'of a few bytes',
      ofTwo(file('it')),
      { it: TEXT.subarray(0, 3), me: TEXT },
      'INVALID_IMAGE',
      'products[0].images[1]',
    ],
    ['not sent', ofTwo(file('it')), { me: TEXT }, 'MULTIPART_FILE_NOT_FOUND', 'products[0].images[1]'],
    ['too large', ofTwo(file('it')), { it: TOO_LARGE, me: TEXT }, 'FILE_TOO_LARGE', 'products[0].images[1]'],
    ['without a source', ofTwo({ source: {} }), {}, 'INVALID_IMAGE_INPUT', 'products[0].images[1]'],
    [
      'of an older call without a source',
      ofTwo({ classifications: {} }),
      {},
      'INVALID_IMAGE_INPUT',
      'products[0].images[1]',
    ],
    [
      'of an unknown owner',
      ofTwo({ source: { url: `upload://${'0'.repeat(64)}` } }),
      {},
      'INVALID_IMAGE_INPUT',
      'products[0].images[1]',
    ],
    ['missing', { products: [{ images: [] }], person: {} }, {}, 'PRODUCT_IMAGES_REQUIRED', 'products[0].images'],
    [
      'of an older product',
      { product: { images: [{ url: NOWHERE }, { fileKey: 'it' }] }, customer: {} },
      { it: TEXT },
      'VALIDATION_FAILED',
      'customer',
    ],
  ])('of a product that is %s names its field', async (_, body, files, code, path) => {
    const answer = await tryOn(body, files)
    expect(answer.body.code).toBe(code)
    expect(pathsOf(answer)).toEqual([path])
  })

  const onlyPerson = (source: unknown) => ({
    products: [{ images: [{ source: { url: NOWHERE } }] }],
    person: { image: { source } },
  })

  it.each<[string, () => unknown, Record<string, Uint8Array>, string]>([
    ['no image', () => onlyPerson({ fileKey: 'me' }), { me: TEXT }, 'UNSUPPORTED_IMAGE_TYPE'],
    ['not sent', () => onlyPerson({ fileKey: 'me' }), { other: TEXT }, 'MULTIPART_FILE_NOT_FOUND'],
    ['too large', () => onlyPerson({ fileKey: 'me' }), { me: TOO_LARGE }, 'FILE_TOO_LARGE'],
    ['at an address that is blocked', () => onlyPerson({ url: NOWHERE }), {}, 'CUSTOMER_IMAGE_FETCH_FAILED'],
    ['not at its address', () => onlyPerson({ url: `${url}/none.jpg` }), {}, 'CUSTOMER_IMAGE_FETCH_FAILED'],
    ['too large at its address', () => onlyPerson({ url: `${url}/large.jpg` }), {}, 'FILE_TOO_LARGE'],
    ['damaged at its address', () => onlyPerson({ url: `${url}/broken.jpg` }), {}, 'INVALID_IMAGE'],
    ['missing', () => ({ ...onlyPerson({}), person: null }), {}, 'CUSTOMER_IMAGE_REQUIRED'],
  ])('of the person that is %s names its field', async (_, body, files, code) => {
    const answer = await tryOn(body(), files)
    expect(answer.body.code).toBe(code)
    expect(answer.body.details).toEqual([{ path: 'person.image', message: expect.stringMatching(/./) }])
  })

  it('names a photo by its ID, even a photo of another account', async () => {
    const unknown = await tryOn(onlyPerson({ id: 'img_none' }))
    expect([unknown.body.code, pathsOf(unknown)]).toEqual(['VALIDATION_FAILED', ['person.image.source.id']])
    const { apiKey } = await drape.createAccount(0)
    const theirs = await drape.call('POST', '/tryon/v1/images/upload', {
      key: apiKey,
      body: formOf(undefined, { file: photo }),
    })
    const foreign = await tryOn(onlyPerson({ id: theirs.body.imageId }))
    expect([foreign.body.code, pathsOf(foreign)]).toEqual(['FORBIDDEN', ['person.image.source.id']])
  })

  it('names the field in the format of the caller', async () => {
    const older = { product: { images: [{ fileKey: 'it' }] }, customer: { fileKey: 'me' } }
    expect(pathsOf(await tryOn(older, { it: TEXT, me: photo }))).toEqual(['product.images[0]'])
    expect(pathsOf(await tryOn(older, { it: photo, me: TEXT }))).toEqual(['customer'])
    expect(pathsOf(await tryOn(older, { it: photo, me: TOO_LARGE }))).toEqual(['customer'])
  })

  it('names the part of the form if the JSON follows the file', async () => {
    const form = formOf(undefined, { me: TOO_LARGE })
    form.set('data', JSON.stringify(onlyPerson({ fileKey: 'me' })))
    const answer = await drape.call('POST', '/tryon/v1/try-on', { body: form })
    expect(answer.body.code).toBe('FILE_TOO_LARGE')
    // The JSON may have come in the same packet.
    expect(['me', 'person.image']).toContain(pathsOf(answer).join())
  })

  it('never names fields that are not images', async () => {
    const body = { ...onlyPerson({ url: NOWHERE }), metadata: { image: { fileKey: 'me' } } }
    expect(pathsOf(await tryOn(body, { me: TOO_LARGE }))).toEqual(['me'])
  })

  it('of an upload names the field of the form', async () => {
    const upload = (files: Record<string, Uint8Array>) =>
      drape.call('POST', '/tryon/v1/images/upload', { body: formOf(undefined, files) })
    for (const [files, code] of [
      [{ file: TEXT }, 'UNSUPPORTED_IMAGE_TYPE'],
      [{ file: TOO_LARGE }, 'FILE_TOO_LARGE'],
      [{ other: photo }, 'FILE_REQUIRED'],
    ] as const) {
      const answer = await upload(files)
      expect([answer.body.code, pathsOf(answer)]).toEqual([code, ['file']])
    }
  })

  it('of a product of the catalog names the image', async () => {
    const post = (product: unknown, files: Record<string, Uint8Array>) =>
      drape.call('POST', '/tryon/v1/products', { body: formOf(product, files) })
    const images = [file('good'), file('bad')]
    expect(pathsOf(await post({ externalId: 'a', images }, { good: photo, bad: TEXT }))).toEqual(['images[1]'])
    expect(pathsOf(await post({ externalId: 'a', images }, { good: photo, bad: TOO_LARGE }))).toEqual(['images[1]'])
    const batch = await drape.call('POST', '/tryon/v1/products/batch', {
      body: { products: [{ externalId: 'a', images: [{}] }] },
    })
    expect(batch.body.items[0].error).toMatchObject({ code: 'INVALID_IMAGE_INPUT', details: [{ path: 'images[0]' }] })
  })

  describe('found by a worker', () => {
    const ended = async (images: unknown[], output = { engine: 'mock' }) => {
      const body = { products: [{ images }], person: { image: file('me') }, output }
      return drape.finish(await drape.tryOn(body, { me: photo }))
    }
    const flat = (at: string) => ({ source: { url: at }, classifications: { type: 'flat_lay' } })
    const onModel = (at: string) => ({ source: { url: at }, classifications: { type: 'detail' } })

    beforeAll(async () => {
      await drape.startWorker({ FETCH_ALLOW_PORTS: drape.env.FETCH_ALLOW_PORTS })
    })

    it.each<[string, () => string, string, string]>([
      ['cannot be reached', () => NOWHERE, 'PRODUCT_IMAGE_FETCH_FAILED', 'unreachable'],
      ['is not there', () => `${url}/none.jpg`, 'PRODUCT_IMAGE_FETCH_FAILED', 'the server returned 404'],
      ['is damaged', () => `${url}/broken.jpg`, 'INVALID_IMAGE', 'damaged'],
    ])('names the image of the product that %s', async (_, at, errorCode, message) => {
      const failed = await ended([onModel(`${url}/photo.jpg`), flat(at())])
      expect(failed).toMatchObject({
        status: 'FAILED',
        errorCode,
        errorDetails: [{ path: 'products[0].images[1]', message: expect.stringContaining(message) }],
      })
    })

    it('is in events and webhook of the generation', async () => {
      await drape.database.query(sql.unsafe`
        insert into webhook_endpoints (id, account_id, url, event_types, secrets, is_active)
        values ('endpoint_1', ${drape.accountId}, 'https://shop.example/hook', '["generation.failed"]', '[]', true)`)
      const { generationId, errorDetails } = await ended([flat(`${url}/none.jpg`)])
      const data = await drape.database.oneFirst(sql.unsafe`
        select data from webhook_deliveries where data->>'generationId' = ${generationId}`)
      expect(data).toMatchObject({ errorCode: 'PRODUCT_IMAGE_FETCH_FAILED', errorDetails })
      const events = await fetch(`${drape.api.url}/tryon/v1/generations/${generationId}/events`, {
        headers: { 'x-api-key': drape.apiKey },
      })
      expect(await events.text()).toContain('"errorDetails":[{"path":"products[0].images[0]"')
    })
  })
})
