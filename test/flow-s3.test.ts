import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { sql } from '../api/shared/database/database.ts'
import { decodeImage } from '../api/shared/image/image.ts'
import { completeForShop } from './support/completed.ts'
import { type Drape, readSample, startDrape } from './support/drape.ts'
import { startS3Server } from './support/s3-server.ts'
import { createDevelopmentShop } from './support/shop.ts'

const server = await startS3Server()
if ('unavailable' in server) console.warn(`No S3 server: ${server.unavailable}`)

describe.skipIf('unavailable' in server)('a try-on with S3 storage', () => {
  let drape: Drape
  /** The name by which shoppers reach the store. */
  const shown = 'endpoint' in server ? server.endpoint.replace('127.0.0.1', 'localhost') : ''

  beforeAll(async () => {
    if ('unavailable' in server) return
    drape = await startDrape({
      env: {
        STORAGE_URL: `s3://${server.bucket}/drape?endpoint=${server.endpoint}&publicEndpoint=${shown}&pathStyle=true`,
        AWS_ACCESS_KEY_ID: server.credentials.accessKeyId,
        AWS_SECRET_ACCESS_KEY: server.credentials.secretAccessKey,
      },
    })
    await drape.startWorker()
  })
  afterAll(async () => {
    if ('unavailable' in server) return
    await drape.stop()
    await server.stop()
  })

  it('returns a result link that the storage serves', async () => {
    const [me, shirt] = [await readSample('persons/down-half-teal.jpg'), await readSample('garments/tshirt-navy.jpg')]
    const id = await drape.tryOn(
      {
        products: [{ images: [{ source: { fileKey: 'shirt' } }] }],
        person: { image: { source: { fileKey: 'me' } } },
        output: { engine: 'mock', format: 'webp' },
      },
      { me, shirt },
    )
    const { resultImageUrl } = await drape.finish(id)
    const page = await fetch(`${drape.api.url}/playground`)
    const mayShow = `img-src 'self' blob: ${new URL(resultImageUrl).origin};`
    expect(page.headers.get('content-security-policy')).toContain(mayShow)
    expect(new URL(resultImageUrl).origin).toBe(shown)
    const response = await fetch(resultImageUrl)
    expect(response.headers.get('content-type')).toBe('image/webp')
    expect(await decodeImage(new Uint8Array(await response.arrayBuffer()))).toMatchObject({ channels: 3 })
    const unsigned = new URL(resultImageUrl)
    unsigned.search = ''
    expect((await fetch(unsigned)).status).toBe(403)
  })

  it('streams downloads of the bucket, and of no other one', async () => {
    if ('unavailable' in server) return
    const { endpoint, bucket, credentials } = server
    const storageUrl = `s3://${bucket}/shop?endpoint=${encodeURIComponent(endpoint)}&pathStyle=true`
    const env = { AWS_ACCESS_KEY_ID: credentials.accessKeyId, AWS_SECRET_ACCESS_KEY: credentials.secretAccessKey }
    Object.assign(process.env, env)
    const drape = await startDrape({ env: { ...env, STORAGE_URL: storageUrl } })
    try {
      const shop = await createDevelopmentShop(drape)
      const image = await readSample('persons/astronaut.jpg')
      const { resultKey, generationId } = await completeForShop(drape, { shopId: shop.id, image })
      const { body } = await drape.call('POST', '/public/share-generation', {
        key: null,
        headers: shop.headers,
        body: { generationId },
      })
      const page = await fetch(`${drape.api.url}/s/${body.shareToken}`, { headers: { accept: 'text/html' } })
      expect(page.headers.get('content-security-policy')).toContain(`img-src ${endpoint} data:`)
      const shared = await drape.call('GET', `/s/${body.shareToken}`, { headers: { accept: 'application/json' } })
      const get = (url: string) =>
        fetch(`${drape.api.url}/public/download-image?${new URLSearchParams({ url })}`, { headers: shop.headers })
      const stranger = { headers: { ...shop.headers, 'x-service-anonymous-id': 'anon_stranger' } }
      const signed = shared.body.generation.resultImageUrl as string
      const askAs = (url: string) =>
        fetch(`${drape.api.url}/public/download-image?${new URLSearchParams({ url })}`, stranger)
      expect((await askAs(signed)).status).toBe(200)
      expect((await askAs(`${signed}0`)).status).toBe(403)
      expect((await askAs(`${endpoint}/${bucket}/shop/${resultKey}`)).status).toBe(403)
      for (const url of [signed, `${endpoint}/${bucket}/shop/${resultKey}`]) {
        const answer = await get(url)
        expect(answer.headers.get('content-length')).toBe(String(image.length))
        expect(Buffer.from(await answer.arrayBuffer()).equals(image)).toBe(true)
      }
      for (const place of [`${endpoint}/${bucket}/other`, `${endpoint}/${bucket}s/shop`, `${endpoint}/shop`]) {
        expect((await get(`${place}/${resultKey}`)).status).toBe(400)
      }
      await drape.database.query(sql.unsafe`update objects set expires_at = now() where key = ${resultKey}`)
      expect((await get(`${endpoint}/${bucket}/shop/${resultKey}`)).status).toBe(404)
    } finally {
      await drape.stop()
    }
  })
})
