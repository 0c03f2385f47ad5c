import { randomBytes } from 'node:crypto'
import { request } from 'node:http'
import { v7 as uuidv7 } from 'uuid'
import { afterAll, describe, expect, it } from 'vitest'
import { createObjects } from '../../../../api/shared/storage/objects.store.ts'
import { createStorage } from '../../../../api/shared/storage/storage.ts'
import { downloadName } from '../../../../api/storefront/fitting-room/download-name.ts'
import { completeForShop, storageOf } from '../../../support/completed.ts'
import { readSample, startDrape } from '../../../support/drape.ts'
import { createDevelopmentShop, type TestShop } from '../../../support/shop.ts'

describe('downloading an image', async () => {
  const image = await readSample('persons/down-half-teal.jpg')
  const drape = await startDrape()
  const shop = await createDevelopmentShop(drape)
  const { resultKey, generationId } = await completeForShop(drape, { shopId: shop.id, image })
  const url = `${drape.api.url}/objects/${resultKey}`
  afterAll(() => drape.stop())

  const pathOf = (query: Record<string, string>) => `/public/download-image?${new URLSearchParams(query)}`
  const download = (query: Record<string, string>, headers = shop.headers) =>
    fetch(`${drape.api.url}${pathOf(query)}`, { headers })
  const refusal = (query: Record<string, string>, headers = shop.headers) =>
    drape.call('GET', pathOf(query), { key: null, headers })
  /** Stores bytes as the API would, and gives their address. */
  const store = async (object: Partial<Parameters<ReturnType<typeof createObjects>['insert']>[0]>) => {
    const { kind = 'person', accountId = drape.accountId, externalUserId = null, expiresAt = null } = object
    const key = object.key ?? `persons/${accountId}/${uuidv7()}.png`
    await createObjects(drape.database).insert({
      key,
      accountId,
      externalUserId,
      kind,
      bytes: image.length,
      expiresAt,
    })
    const contentType = key.endsWith('.bin') ? 'application/octet-stream' : 'image/png'
    await (await storageOf(drape)).put(key, image, { contentType })
    return `${drape.api.url}/objects/${key}`
  }

  /** The same link with a signature of the API. */
  const sign = async (address: string, expiresInSeconds = 60) => {
    const signingSecret = 'a secret for development only'
    const storage = await createStorage(drape.env.STORAGE_URL, { publicUrl: drape.api.url, signingSecret })
    return storage.signedUrl(storage.keyOf(address) ?? '', { expiresInSeconds })
  }

  it('returns the bytes as an attachment, with content type and length', async () => {
    const answer = await download({ url })
    expect(answer.status).toBe(200)
    expect(Buffer.from(await answer.arrayBuffer()).equals(image)).toBe(true)
    const { headers } = answer
    expect(headers.get('content-type')).toBe('image/jpeg')
    expect(headers.get('content-length')).toBe(String(image.length))
    expect(headers.get('content-disposition')).toMatch(/^attachment; filename="Drape - Your Try On.jpg";/)
    expect(headers.get('cache-control')).toBe('no-store')
    expect(headers.get('x-content-type-options')).toBe('nosniff')
  })

  it.each(['png', 'webp'] as const)('returns a result in %s with its media type', async (extension) => {
    const { resultKey: key } = await completeForShop(drape, { shopId: shop.id, image, extension })
    const answer = await download({ url: `${drape.api.url}/objects/${key}`, filename: 'Coat.jpg' })
    expect(answer.headers.get('content-type')).toBe(`image/${extension}`)
    expect(answer.headers.get('content-disposition')).toContain(`filename="Coat.${extension}"`)
  })

  it('accepts signed links until they expire, also for results of other visitors', async () => {
    const { body } = await drape.call('POST', '/public/share-generation', {
      key: null,
      headers: shop.headers,
      body: { generationId },
    })
    const shared = await drape.call('GET', `/s/${body.shareToken}`, { headers: { accept: 'application/json' } })
    const link = shared.body.generation.resultImageUrl as string
    expect(link).toContain('signature=')
    const stranger = { ...shop.headers, 'x-service-anonymous-id': 'anon_stranger' }
    expect((await download({ url: link }, stranger)).status).toBe(200)
    const expired = await sign(url, -2)
    for (const old of [
      link.replace(/expires=\d+/, 'expires=1'),
      link.replace(/expires=\d+/, 'expires=9999999999'),
      expired,
    ]) {
      expect(await refusal({ url: old }, stranger), old).toMatchObject({ status: 403, body: { code: 'FORBIDDEN' } })
    }
  })

  it('accepts an unsigned link only from the visitor who owns the image', async () => {
    const stranger = { ...shop.headers, 'x-service-anonymous-id': 'anon_stranger' }
    const photo = await store({ externalUserId: `${shop.id}:browser:anon_tester` })
    for (const own of [url, photo]) {
      expect((await download({ url: own })).status).toBe(200)
      expect(await refusal({ url: own }, stranger)).toMatchObject({ status: 403 })
      expect(await refusal({ url: own }, { 'x-drape-shop': shop.domain })).toMatchObject({ status: 403 })
    }
  })

  it('names the file after the product, and cannot inject headers by the title', async () => {
    const answer = await download({ url, filename: `Mäntel "rot"\r\nSet-Cookie: a=1 ../../etc\u202egpj` })
    expect(answer.headers.get('set-cookie')).toBeNull()
    const disposition = answer.headers.get('content-disposition') ?? ''
    expect(decodeURIComponent(disposition.split("UTF-8''")[1])).toBe(
      'Drape - Your Try On - Mäntel rot Set-Cookie a1 etcgpj.jpg',
    )
    expect(disposition).toMatch(/^attachment; filename="[^"\\\p{Cc}]*"; filename\*=UTF-8''[\w%.~!-]+$/u)
  })

  it.each([
    ['no address', {}],
    ['an empty one', { url: '' }],
    ['a text', { url: 'image' }],
    ['a path', { url: '/objects/results/a.jpg' }],
    ['another scheme', { url: 'file:///etc/passwd' }],
    ['a broken address', { url: 'http://[::1' }],
  ])('refuses %s', async (_, query) => {
    expect(await refusal(query as Record<string, string>)).toMatchObject({
      status: 400,
      body: { code: 'VALIDATION_FAILED', details: [{ path: 'url' }] },
    })
  })

  it('refuses a repeated url parameter', async () => {
    const answer = await drape.call('GET', `${pathOf({ url })}&url=x`, { key: null, headers: shop.headers })
    expect(answer.status).toBe(400)
  })

  it('refuses URLs of other origins and other paths', async () => {
    const { origin } = new URL(url)
    for (const foreign of [
      'https://example.com/a.jpg',
      `${origin.replace('127.0.0.1', '127.0.0.1.example.com')}/objects/${resultKey}`,
      `http://a@${new URL(url).host}/objects/${resultKey}`,
      `${origin}/objects/../objects/${resultKey}`,
      `${origin}/objects/%2e%2e/${resultKey}`,
      `${origin}/objects/results/../../../etc/passwd.jpg`,
      `${origin}/tryon/v1/openapi.json`,
      'http://169.254.169.254/latest/meta-data.jpg',
    ]) {
      expect(await refusal({ url: foreign }), foreign).toMatchObject({
        status: 400,
        body: { code: 'VALIDATION_FAILED' },
      })
    }
  })

  it('returns photos of shoppers of the shop only', async () => {
    const neighbour = await createDevelopmentShop(drape, 'neighbour.test')
    const own = await sign(await store({ externalUserId: `${shop.id}:customer:1` }))
    expect((await download({ url: own })).status).toBe(200)
    expect(await refusal({ url: own }, neighbour.headers)).toMatchObject({ status: 403 })
    for (const externalUserId of [null, 'user-1', `${neighbour.id}:customer:1`]) {
      expect(await refusal({ url: await sign(await store({ externalUserId })) })).toMatchObject({ status: 403 })
    }
  })

  it('returns no product images, logos or raw uploads', async () => {
    const externalUserId = `${shop.id}:customer:1`
    for (const [kind, key] of [
      ['product', `products/${drape.accountId}/a.png`],
      ['logo', `logos/${drape.accountId}/a.png`],
      ['upload', `uploads/${drape.accountId}/a.bin`],
    ] as const) {
      expect(await refusal({ url: await sign(await store({ kind, key, externalUserId })) }), kind).toMatchObject({
        status: 403,
      })
    }
  })

  it('returns no image of another account', async () => {
    const other = await drape.createAccount(10)
    const foreign = await store({ accountId: other.id, kind: 'result', key: `results/${other.id}/a.png` })
    expect(await refusal({ url: await sign(foreign) })).toMatchObject({ status: 403, body: { code: 'FORBIDDEN' } })
  })

  it('returns 404 for swept, expired and missing objects', async () => {
    const missing = { status: 404, body: { code: 'IMAGE_NOT_FOUND' } }
    expect(await refusal({ url: `${drape.api.url}/objects/results/${drape.accountId}/gone.jpg` })).toMatchObject(
      missing,
    )
    const ended = { externalUserId: `${shop.id}:customer:1`, expiresAt: new Date(Date.now() - 1000) }
    expect(await refusal({ url: await sign(await store(ended)) })).toMatchObject(missing)
    const { resultKey: lost } = await completeForShop(drape, { shopId: shop.id, image })
    await (await storageOf(drape)).delete([lost])
    expect(await refusal({ url: `${drape.api.url}/objects/${lost}` })).toMatchObject(missing)
  })

  it('answers HEAD with the headers only', async () => {
    const answer = await fetch(`${drape.api.url}${pathOf({ url })}`, { method: 'HEAD', headers: shop.headers })
    expect(answer.headers.get('content-length')).toBe(String(image.length))
    expect(await answer.text()).toBe('')
  })

  it('keeps serving after many clients disconnect early', async () => {
    const large = `results/${drape.accountId}/large.png`
    const address = await sign(await store({ kind: 'result', key: large }))
    await (await storageOf(drape)).put(large, randomBytes(8_000_000), { contentType: 'image/png' })
    const neighbour = await createDevelopmentShop(drape, 'leaving.test')
    await Promise.all(Array.from({ length: 40 }, () => leaveEarly(address, neighbour)))
    const whole = await download({ url: address }, neighbour.headers)
    expect((await whole.arrayBuffer()).byteLength).toBe(8_000_000)
    expect(drape.api.output()).not.toMatch(/"msg":"request failed"|unhandled/i)
  })

  function leaveEarly(address: string, { headers }: TestShop): Promise<void> {
    return new Promise((resolve, reject) => {
      const target = `${drape.api.url}${pathOf({ url: address })}`
      const asking = request(target, { headers, agent: false }, (answer) => {
        answer.once('data', () => {
          answer.destroy()
          resolve()
        })
      })
      asking.on('error', reject).end()
    })
  }
})

describe('the name of a download', () => {
  const name = (asked: string, serviceName = 'Drape') => downloadName(asked, { serviceName, extension: 'jpg' })

  it.each([
    ['', 'Drape - Your Try On.jpg'],
    ['   ', 'Drape - Your Try On.jpg'],
    ['!?*', 'Drape - Your Try On.jpg'],
    ['Blue Coat', 'Drape - Your Try On - Blue Coat.jpg'],
    ['  Blue \t\n Coat ', 'Drape - Your Try On - Blue Coat.jpg'],
    ['T-Shirt (100% cotton) / "navy"', 'Drape - Your Try On - T-Shirt 100 cotton navy.jpg'],
    ['Größe 42 – Über', 'Drape - Your Try On - Größe 42 Über.jpg'],
    ['半袖シャツ', 'Drape - Your Try On - 半袖シャツ.jpg'],
    ['../../etc/passwd', 'Drape - Your Try On - etcpasswd.jpg'],
    ['photo\u202egpj', 'Drape - Your Try On - photogpj.jpg'],
    [`${'long '.repeat(20)}`, `Drape - Your Try On - ${'long '.repeat(10).trim()}.jpg`],
    ['👗'.repeat(3), 'Drape - Your Try On.jpg'],
    ['my look.jpg', 'my look.jpg'],
    ['my look.PNG', 'my look.jpg'],
    ['.jpg', 'Drape - Your Try On.jpg'],
    ['../look.webp', 'look.jpg'],
    ['Drape - Your Try On.jpg', 'Drape - Your Try On.jpg'],
    ['Drape - Your Try On - Blue Coat.jpg', 'Drape - Your Try On - Blue Coat.jpg'],
    ['Drape - Your Try On - Blue Coat', 'Drape - Your Try On - Blue Coat.jpg'],
    [`Drape - Your Try On - ${'a'.repeat(80)}.jpg`, `Drape - Your Try On - ${'a'.repeat(50)}.jpg`],
  ])('for %j is %j', (asked, expected) => {
    expect(name(asked)).toBe(expected)
  })

  it('contains the name of the service, with any characters', () => {
    expect(name('Coat', 'Tom & Co.')).toBe('Tom & Co. - Your Try On - Coat.jpg')
    expect(name('Tom & Co. - Your Try On - Coat.jpg', 'Tom & Co.')).toBe('Tom & Co. - Your Try On - Coat.jpg')
  })
})
