import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { decodeImage } from '../api/shared/image/image.ts'
import { type Drape, readSample, startDrape } from './support/drape.ts'
import { startS3Server } from './support/s3-server.ts'

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
})
