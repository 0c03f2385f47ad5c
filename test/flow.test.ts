import { readFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import sharp from 'sharp'
import { afterAll, describe, expect, it } from 'vitest'
import { createAccounts } from '../api/accounts/accounts.store.ts'
import { decodeImage } from '../api/shared/image/image.ts'
import { shrink, startDrape } from './support/drape.ts'
import { until } from './support/until.ts'

/** A try-on as a caller sees it, from the HTTP request to the result. */
describe('a try-on from end to end', async () => {
  const visits: string[] = []

  const person = await shrink('scripts/samples/persons/down-half-teal.jpg')
  const shirt = await shrink('scripts/samples/garments/tshirt-mustard.jpg')
  const pages: Readonly<Record<string, string | Buffer>> = {
    '/shirt.jpg': shirt,
    '/page.jpg': '<html>no image</html>',
    '/answer.json': '{"error":"not found"}',
    '/empty.jpg': '',
    '/image.gif': `GIF89a${'.'.repeat(20)}`,
  }
  const shop = createServer(({ url = '' }, response) => {
    visits.push(url)
    response.writeHead(url in pages ? 200 : 404).end(pages[url])
  })
  await new Promise<void>((resolve) => shop.listen(0, '127.0.0.1', resolve))
  const { port } = shop.address() as AddressInfo
  const shopUrl = `http://127.0.0.1:${port}`
  const drape = await startDrape({ env: { FETCH_ALLOW_PORTS: `80,443,${port}` }, defaultEngines: true })
  await drape.startWorker()
  afterAll(async () => {
    await drape.stop()
    shop.close()
  })

  const inline = (source: object, more: object = {}) => ({
    products: [{ title: 'T-shirt', images: [{ source }] }],
    person: { image: { source: { fileKey: 'me' } } },
    ...more,
  })

  it('returns an image of the person wearing the garment, for one credit', async () => {
    const before = await drape.balance()
    const id = await drape.tryOn(inline({ fileKey: 'shirt' }, { output: { format: 'png' } }), { me: person, shirt })
    const result = await drape.finish(id)
    expect(result).toMatchObject({
      generationId: id,
      status: 'COMPLETED',
      category: 'tops',
      quality: expect.any(Number),
      engine: { name: 'warp', kind: 'preview' },
    })
    expect(result.quality > 0 && result.quality <= 1).toBe(true)
    expect(await drape.balance()).toBe(before - 1)

    const response = await fetch(result.resultImageUrl)
    expect(response.headers.get('content-type')).toBe('image/png')
    const bytes = new Uint8Array(await response.arrayBuffer())
    const bitmap = await decodeImage(bytes)
    expect(bitmap.width / bitmap.height).toBeCloseTo(4 / 5, 2)
    // Mustard on the chest: red above green above blue, and none of the teal that the person wore.
    const middle = (Math.round(bitmap.height * 0.62) * bitmap.width + Math.round(bitmap.width / 2)) * bitmap.channels
    const [red, green, blue] = bitmap.data.subarray(middle, middle + 3)
    expect(red).toBeGreaterThan(green)
    expect(green).toBeGreaterThan(blue + 30)

    // The link serves the signed result; the API knows the public key of the worker.
    const form = new FormData()
    form.set('file', new Blob([bytes]))
    const verified = await fetch(`${drape.api.url}/verify`, { method: 'POST', body: form })
    expect(await verified.json()).toMatchObject({
      status: 'valid',
      madeHere: true,
      statement: { sourceType: 'composite', weights: expect.stringMatching(/^[0-9a-f]{64}$/) },
    })
  })

  it('changes only the region of the mask, byte by byte, and returns the mask of what it changed', async () => {
    const { width, height } = await sharp(person).metadata()
    // The left half of the photo may change.
    const half = await sharp({ create: { width, height, channels: 3, background: '#000' } })
      .composite([
        { input: { create: { width: width / 2, height, channels: 3, background: '#fff' } }, left: 0, top: 0 },
      ])
      .png()
      .toBuffer()
    const files = { me: person, shirt, mask: half }
    const draw = async (mask: object | undefined, output: object = {}) => {
      const options = {
        format: 'png',
        fullResolution: true,
        watermark: false,
        changedMask: true,
        ...(mask && { mask }),
        ...output,
      }
      return drape.finish(await drape.tryOn(inline({ fileKey: 'shirt' }, { output: options }), files))
    }
    const open = async (url: string) => decodeImage(new Uint8Array(await (await fetch(url)).arrayBuffer()))
    const source = { fileKey: 'mask' }
    const photo = await open((await draw(undefined, { engine: 'mock' })).resultImageUrl)
    const whole = await draw(undefined)
    for (const keep of [false, true]) {
      const result = await draw({ image: { source }, keep })
      expect(result).toMatchObject({ status: 'COMPLETED', results: [{ imageUrl: result.resultImageUrl }] })
      const [image, changed, all] = await Promise.all(
        [result.resultImageUrl, result.results[0].changedMaskUrl, whole.resultImageUrl].map(open),
      )
      expect([changed.width, changed.height]).toEqual([image.width, image.height])
      const counts = { outside: 0, black: 0, inside: 0, like: 0 }
      for (let i = 0; i < image.width * image.height; i++) {
        const isSame = (other: typeof image) => [0, 1, 2].every((c) => image.data[i * 3 + c] === other.data[i * 3 + c])
        const isLeft = i % image.width < image.width / 2
        if (isLeft === keep && !isSame(photo)) counts.outside++
        if (changed.data[i * changed.channels] === 0 && !isSame(photo)) counts.black++
        if (isLeft !== keep && !isSame(photo)) counts.inside++
        if (isLeft !== keep && !isSame(photo) && isSame(all)) counts.like++
      }
      expect(counts).toMatchObject({ outside: 0, black: 0 })
      expect(counts.inside).toBeGreaterThan(0.02 * image.width * image.height)
      // Beyond the soft edge, the drawing is that without a mask.
      expect(counts.like).toBeGreaterThan(0.95 * counts.inside)
    }
  })

  it('fails with a refund if the mask leaves nothing of the product', async () => {
    const { width, height } = await sharp(person).metadata()
    const corner = await sharp({ create: { width, height, channels: 3, background: '#000' } })
      .composite([{ input: { create: { width: 20, height: 20, channels: 3, background: '#fff' } }, left: 0, top: 0 }])
      .png()
      .toBuffer()
    const before = await drape.balance()
    const output = { mask: { image: { source: { fileKey: 'mask' } } } }
    const id = await drape.tryOn(inline({ fileKey: 'shirt' }, { output }), { me: person, shirt, mask: corner })
    expect(await drape.finish(id)).toMatchObject({
      status: 'FAILED',
      errorCode: 'RESULT_REJECTED',
      errorDetails: [{ path: 'output.mask' }],
    })
    expect(await drape.balance()).toBe(before)
  })

  it('rejects and refunds a result below the minimum quality of the account', async () => {
    const accounts = createAccounts(drape.database)
    const before = await drape.balance()
    await accounts.update(drape.accountId, { settings: { minQualityPercent: 100 } })
    const id = await drape.tryOn(inline({ fileKey: 'shirt' }), { me: person, shirt })
    expect(await drape.finish(id)).toMatchObject({ status: 'FAILED', errorCode: 'RESULT_REJECTED' })
    await accounts.update(drape.accountId, { settings: { minQualityPercent: null } })
    expect(await drape.balance()).toBe(before)
  })

  it('detects the category from the silhouette if the product has no title', async () => {
    const body = inline({ fileKey: 'dress' })
    const id = await drape.tryOn(
      { ...body, products: [{ images: [{ source: { fileKey: 'dress' } }] }] },
      { me: person, dress: await shrink('scripts/samples/garments/dress-blue.jpg') },
    )
    expect(await drape.finish(id)).toMatchObject({ status: 'COMPLETED', category: 'one-pieces' })
  })

  it('accepts an uploaded photo by ID and a product by externalId', async () => {
    const form = new FormData()
    form.set('file', new Blob([new Uint8Array(person)]))
    // The response to a slow upload omits personDetected.
    const upload = await until(async () => {
      const answer = await drape.call('POST', '/tryon/v1/images/upload', { body: form })
      expect(answer.status).toBe(201)
      return 'personDetected' in answer.body && answer
    })
    expect(upload.body).toMatchObject({ personDetected: true, crop: { width: expect.any(Number) } })
    expect((await fetch(upload.body.imageUrl)).headers.get('content-type')).toBe('image/jpeg')

    const byId = { person: { image: { source: { id: upload.body.imageId } } }, output: { engine: 'mock' } }
    const first = await drape.tryOn(
      { products: [{ externalId: 'mustard', images: [{ source: { url: `${shopUrl}/shirt.jpg` } }] }], ...byId },
      {},
    )
    expect(await drape.finish(first)).toMatchObject({ status: 'COMPLETED' })
    const second = await drape.call('POST', '/tryon/v1/try-on', {
      body: { products: [{ externalId: 'mustard' }], ...byId },
    })
    expect(second.body).toMatchObject({ status: 'PENDING', productExternalId: 'mustard' })
    expect(await drape.finish(second.body.generationId)).toMatchObject({ status: 'COMPLETED' })
    // The image is fetched from the shop once; the second try-on uses the stored copy.
    expect(visits.filter((path) => path === '/shirt.jpg')).toHaveLength(1)
  })

  it('fetches the person by URL', async () => {
    const body = inline({ fileKey: 'shirt' }, { person: { image: { source: { url: `${shopUrl}/shirt.jpg` } } } })
    const id = await drape.tryOn({ ...body, output: { engine: 'mock' } }, { shirt })
    expect(await drape.finish(id)).toMatchObject({ status: 'COMPLETED' })
    const missing = await drape.call('POST', '/tryon/v1/try-on', {
      body: inline(
        { url: `${shopUrl}/shirt.jpg` },
        { person: { image: { source: { url: `${shopUrl}/nobody.jpg` } } } },
      ),
    })
    expect(missing).toMatchObject({ status: 400, body: { code: 'CUSTOMER_IMAGE_FETCH_FAILED' } })
  })

  it.each([
    ['cannot be reached', '/missing.jpg', 'PRODUCT_IMAGE_FETCH_FAILED'],
    ['is a page', '/page.jpg', 'PRODUCT_IMAGE_FETCH_FAILED'],
    ['is JSON', '/answer.json', 'PRODUCT_IMAGE_FETCH_FAILED'],
    ['is empty', '/empty.jpg', 'PRODUCT_IMAGE_FETCH_FAILED'],
    ['has another format', '/image.gif', 'UNSUPPORTED_IMAGE_TYPE'],
  ])('fails with a refund when the product image %s, inline or stored', async (_, path, code) => {
    const before = await drape.balance()
    const images = [{ source: { url: shopUrl + path } }]
    const stored = await drape.call('POST', '/tryon/v1/products', { body: { externalId: path.slice(1), images } })
    expect(stored.status).toBe(200)
    for (const products of [[{ images }], [{ externalId: path.slice(1) }]]) {
      const id = await drape.tryOn({ ...inline({}), products, output: { engine: 'mock' } }, { me: person })
      const result = await drape.finish(id)
      expect(result).toMatchObject({ status: 'FAILED', errorCode: code, errorMessage: expect.any(String) })
      expect(result).not.toHaveProperty('resultImageUrl')
    }
    expect(await drape.balance()).toBe(before)
  })

  it('fails with a specific code for photos and products of a few pixels', async () => {
    const tiny = (colour: string) =>
      sharp({ create: { width: 16, height: 20, channels: 3, background: colour } })
        .png()
        .toBuffer()
    const [me, thumbnail] = await Promise.all([tiny('teal'), tiny('orange')])
    const withoutPerson = await drape.finish(await drape.tryOn(inline({ fileKey: 'shirt' }), { me, shirt }))
    expect(withoutPerson).toMatchObject({ errorCode: 'NO_PERSON_DETECTED', errorDetails: [{ path: 'person.image' }] })
    const unusable = await drape.finish(await drape.tryOn(inline({ fileKey: 'thumbnail' }), { me: person, thumbnail }))
    expect(unusable).toMatchObject({ status: 'FAILED', errorCode: expect.stringMatching(/^(?!GENERATION_FAILED)/) })
    expect(unusable.errorDetails).toEqual([{ path: 'products[0].images[0]', message: unusable.errorMessage }])
    const shown = await drape.tryOn(
      { ...inline({ fileKey: 'thumbnail' }), output: { engine: 'mock' } },
      { me, thumbnail },
    )
    expect(await drape.finish(shown)).toMatchObject({ status: 'COMPLETED' })
  })

  it('fails with a refund if the photo shows no person', async () => {
    const before = await drape.balance()
    const id = await drape.tryOn(inline({ fileKey: 'shirt' }), { me: shirt, shirt })
    expect(await drape.finish(id)).toMatchObject({ status: 'FAILED', errorCode: 'NO_PERSON_DETECTED' })
    expect(await drape.balance()).toBe(before)
  })

  it('fails with a refund if no person wears an on-model product, or the garment cannot be placed', async () => {
    const before = await drape.balance()
    const images = [{ source: { fileKey: 'shirt' }, classifications: { on_model: true } }]
    const worn = await drape.tryOn(inline({}, { products: [{ title: 'T-shirt', images }] }), { me: person, shirt })
    expect(await drape.finish(worn)).toMatchObject({
      status: 'FAILED',
      errorCode: 'MISSING_REQUIRED_CLASSIFICATION',
    })
    const [portrait, trousers] = await Promise.all(
      ['scripts/samples/persons/astronaut.jpg', 'scripts/samples/garments/trousers-black.jpg'].map(shrink),
    )
    const lower = await drape.tryOn(inline({ fileKey: 'shirt' }), { me: portrait, shirt: trousers })
    expect(await drape.finish(lower)).toMatchObject({ status: 'FAILED', errorCode: 'RESULT_REJECTED' })
    expect(await drape.balance()).toBe(before)
  })

  it('refunds the credit, also in the ledger, if an image shows a crumpled garment', async () => {
    const before = await drape.balance()
    const crumpled = await readFile('test/fixtures/garments/crumpled_jacket.jpg')
    const id = await drape.tryOn(inline({ fileKey: 'shirt' }), { me: person, shirt: crumpled })
    const result = await drape.finish(id)
    expect(result).toMatchObject({
      status: 'FAILED',
      errorCode: 'RESULT_REJECTED',
      errorMessage: expect.stringMatching(/garment/),
    })
    expect(result).not.toHaveProperty('resultImageUrl')
    expect(await drape.balance()).toBe(before)
    expect(await createAccounts(drape.database).findLedgerGaps()).toEqual([])
  })

  it('charges nothing for the mock engine', async () => {
    const before = await drape.balance()
    const id = await drape.tryOn(inline({ fileKey: 'shirt' }, { output: { engine: 'mock', format: 'png' } }), {
      me: person,
      shirt,
    })
    expect(await drape.finish(id)).toMatchObject({ status: 'COMPLETED', engine: { name: 'mock' } })
    expect(await drape.balance()).toBe(before)
  })

  it('warns of options that the engine ignores', async () => {
    const warningsOf = async (output: object) => {
      const body = inline({ fileKey: 'shirt' }, { output: { engine: 'mock', ...output } })
      return (await drape.finish(await drape.tryOn(body, { me: person, shirt }))).warnings
    }
    expect(await warningsOf({})).toEqual([])
    expect(await warningsOf({ seed: 42, mode: 'balanced' })).toEqual([])
    expect(await warningsOf({ seed: 7, mode: 'fast' })).toEqual(['SEED_IGNORED', 'MODE_IGNORED'])
  })
})
