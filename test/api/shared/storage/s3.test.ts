import { hash } from 'node:crypto'
import { createServer, type RequestListener, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { CreateMultipartUploadCommand, S3Client } from '@aws-sdk/client-s3'
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest'
import { createS3Storage } from '../../../../api/shared/storage/s3.ts'
import { createStorage, type ObjectStorage } from '../../../../api/shared/storage/storage.ts'
import { startS3Server } from '../../../support/s3-server.ts'
import { behavesAsStorage } from '../../../support/storage-behaviour.ts'

const LINKS = { publicUrl: 'https://fit.example', signingSecret: 'hush' }
const JPEG = { contentType: 'image/jpeg' }

function useCredentials({ accessKeyId, secretAccessKey }: { accessKeyId: string; secretAccessKey: string }): void {
  vi.stubEnv('AWS_ACCESS_KEY_ID', accessKeyId)
  vi.stubEnv('AWS_SECRET_ACCESS_KEY', secretAccessKey)
}

const server = await startS3Server()
const reason = 'unavailable' in server ? server.unavailable : ''
if (reason) console.warn(`S3 tests are skipped: ${reason}`)

describe.skipIf(reason)(`S3 storage${reason && ` (skipped: ${reason})`}`, () => {
  let storage: ObjectStorage
  let urlOf: (bucket: string) => string

  beforeAll(async () => {
    if ('unavailable' in server) return
    useCredentials(server.credentials)
    urlOf = (bucket) => `s3://${bucket}/some/prefix/?endpoint=${encodeURIComponent(server.endpoint)}&pathStyle=true`
    storage = await createStorage(urlOf(server.bucket), LINKS)
  })
  afterAll(async () => {
    storage?.close()
    if ('stop' in server) await server.stop()
    vi.unstubAllEnvs()
  })

  behavesAsStorage(() => storage)

  it('returns links that need no credentials and have the stored content type', async () => {
    await storage.put('results/a.jpg', Buffer.from('image'), JPEG)
    const answer = await fetch(await storage.signedUrl('results/a.jpg', { expiresInSeconds: 60 }))
    expect([answer.status, await answer.text()]).toEqual([200, 'image'])
    expect(answer.headers.get('content-type')).toBe('image/jpeg')
    expect(answer.headers.get('content-disposition')).toBeNull()
    // Not longer than the link, and at most 5 minutes.
    expect(answer.headers.get('cache-control')).toBe('private, max-age=60')
    const longer = await fetch(await storage.signedUrl('results/a.jpg', { expiresInSeconds: 3600 }))
    expect(longer.headers.get('cache-control')).toBe('private, max-age=300')
  })

  it('keeps no versions in a bucket without versioning', async () => {
    await storage.put('results/once.jpg', Buffer.from('image'), JPEG)
    expect([0, null]).toContain(await storage.countVersioned(['results/once.jpg']))
  })

  it('returns links that download under a file name', async () => {
    await storage.put('results/b.jpg', Buffer.from('image'), JPEG)
    const url = await storage.signedUrl('results/b.jpg', { expiresInSeconds: 60, filename: 'Blue "coat".jpg' })
    const answer = await fetch(url)
    expect(answer.headers.get('content-disposition')).toBe(
      `attachment; filename="Blue _coat_.jpg"; filename*=UTF-8''Blue%20%22coat%22.jpg`,
    )
  })

  it('returns links that are invalid with another signature or key', async () => {
    await storage.put('results/c.jpg', Buffer.from('image'), JPEG)
    const url = await storage.signedUrl('results/c.jpg', { expiresInSeconds: 60 })
    const forged = url.replace(/Signature=(.)/, (_, first) => `Signature=${first === '0' ? '1' : '0'}`)
    expect((await fetch(forged)).status).toBe(403)
    expect((await fetch(url.replace('c.jpg', 'a.jpg'))).status).toBe(403)
  })

  it('returns links that fail once the object is deleted', async () => {
    await storage.put('results/d.jpg', Buffer.from('image'), JPEG)
    const url = await storage.signedUrl('results/d.jpg', { expiresInSeconds: 60 })
    await storage.delete(['results/d.jpg'])
    expect((await fetch(url)).status).toBe(404)
  })

  it('returns links to the public endpoint, and uses the other one itself', async () => {
    if ('unavailable' in server) return
    const publicOf = (endpoint: string) => `${urlOf(server.bucket)}&publicEndpoint=${encodeURIComponent(endpoint)}`
    const outside = server.endpoint.replace('127.0.0.1', 'localhost')
    const outer = await createStorage(publicOf(outside), LINKS)
    await outer.put('results/e.jpg', Buffer.from('image'), JPEG)
    const link = await outer.signedUrl('results/e.jpg', { expiresInSeconds: 60, filename: 'coat.jpg' })
    expect(new URL(link).origin).toBe(outside)
    expect(await (await fetch(link)).text()).toBe('image')
    // A link from before the setting leads to the same object.
    for (const known of [link, await storage.signedUrl('results/e.jpg', { expiresInSeconds: 60 })]) {
      expect(outer.keyOf(known)).toBe('results/e.jpg')
      expect(await outer.isSignedUrl(known)).toBe(true)
      expect(await outer.isSignedUrl(known.replace('e.jpg', 'a.jpg'))).toBe(false)
    }
    expect(await storage.isSignedUrl(link)).toBe(false)
    outer.close()
    const unreachable = await createStorage(publicOf('https://images.example'), LINKS)
    expect(String(await unreachable.get('results/e.jpg'))).toBe('image')
    await unreachable.delete(['results/e.jpg'])
    unreachable.close()
  })

  it('isolates prefixes', async () => {
    await storage.put('apart.jpg', Buffer.from('image'), JPEG)
    const other = await createStorage(urlOf('images').replace('some/prefix/', ''), LINKS)
    expect(await other.get('apart.jpg')).toBeNull()
    expect(String(await other.get('some/prefix/apart.jpg'))).toBe('image')
    other.close()
  })

  it('aborts incomplete multipart uploads, but none in a dry run or newer ones', async () => {
    if ('unavailable' in server) return
    const { endpoint, bucket, credentials } = server
    const client = new S3Client({ endpoint, region: 'us-east-1', forcePathStyle: true, credentials })
    await client.send(new CreateMultipartUploadCommand({ Bucket: bucket, Key: 'some/prefix/large.bin' }))
    const later = new Date(Date.now() + 60_000)
    expect(await storage.deleteIncomplete({ before: new Date(0), dryRun: false })).toBe(0)
    expect(await storage.deleteIncomplete({ before: later, dryRun: true })).toBe(1)
    expect(await storage.deleteIncomplete({ before: later, dryRun: false })).toBe(1)
    expect(await storage.deleteIncomplete({ before: later, dryRun: false })).toBe(0)
    client.destroy()
  })

  it('throws for a missing bucket, which is not a missing object', async () => {
    const lost = await createStorage(urlOf('no-such-bucket'), LINKS)
    const fault = { code: 'SERVICE_UNAVAILABLE', retryable: true }
    await expect(lost.check()).rejects.toMatchObject(fault)
    await expect(lost.get('a.jpg')).rejects.toMatchObject(fault)
    await expect(lost.put('a.jpg', Buffer.from('x'), JPEG)).rejects.toMatchObject(fault)
    lost.close()
  })

  it('throws for wrong credentials', async () => {
    useCredentials({ accessKeyId: 'somebody', secretAccessKey: 'else' })
    const stranger = await createStorage(urlOf('images'), LINKS)
    await expect(stranger.get('a.jpg')).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE', retryable: true })
    stranger.close()
  })
})

describe('an S3 server that fails', () => {
  let failing: Server | undefined

  async function storageBefore(
    listener: RequestListener,
    onFallback?: (reason: string) => void,
  ): Promise<ObjectStorage> {
    useCredentials({ accessKeyId: 'drape', secretAccessKey: 'secret' })
    failing = createServer(listener).listen(0, '127.0.0.1')
    await new Promise((resolve) => failing?.once('listening', resolve))
    const { port } = failing.address() as AddressInfo
    return createS3Storage({
      bucket: 'images',
      prefix: '',
      endpoint: `http://127.0.0.1:${port}`,
      region: 'us-east-1',
      pathStyle: true,
      timeoutMs: 100,
      onFallback,
    })
  }

  afterEach(() => {
    failing?.closeAllConnections()
    failing?.close()
    vi.unstubAllEnvs()
  })

  it('is retried while it is busy', async () => {
    let requests = 0
    const storage = await storageBefore((_, response) => {
      response.writeHead(++requests === 1 ? 503 : 200).end('bytes')
    })
    expect(String(await storage.get('a.jpg'))).toBe('bytes')
  })

  it.each<[string, RequestListener]>([
    ['answers 500', (_, response) => response.writeHead(500).end()],
    ['never answers', () => {}],
    ['closes the connection', (request) => request.socket.destroy()],
    ['answers half an object', (_, response) => response.writeHead(200, { 'content-length': 9 }).write('half')],
    ['answers nonsense', (_, response) => response.writeHead(400).end('<html>')],
  ])('is a fault worth another attempt when it %s', async (_, listener) => {
    const storage = await storageBefore(listener)
    await expect(storage.get('a.jpg')).rejects.toMatchObject({
      code: 'SERVICE_UNAVAILABLE',
      retryable: true,
      message: 'The object storage is unavailable.',
    })
    storage.close()
  })

  it('makes a deletion throw if it does not delete every object', async () => {
    const storage = await storageBefore((_, response) => {
      const error = '<Error><Key>a.jpg</Key><Code>AccessDenied</Code><Message>no</Message></Error>'
      response.writeHead(200, { 'content-type': 'application/xml' }).end(`<DeleteResult>${error}</DeleteResult>`)
    })
    await expect(storage.delete(['a.jpg'])).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE' })
  })

  describe('by lacking a way to delete', () => {
    const NAMES = ['a.jpg', 'b.jpg', 'locked.jpg']

    /** A server that deletes only with one of the ways `accepts`, and never `locked.jpg`. */
    async function startLacking(accepts: readonly ('md5' | 'single')[], status: number) {
      const stored = new Set(NAMES)
      const sent: string[] = []
      const reasons: string[] = []
      const storage = await storageBefore(
        async (request, response) => {
          const body = await text(request)
          const { pathname } = new URL(request.url ?? '', 'http://server')
          const md5 = request.headers['content-md5']
          const hasChecksum = Object.keys(request.headers).some((name) => name.startsWith('x-amz-checksum'))
          const way = request.method === 'DELETE' ? 'single' : md5 === undefined ? 'checksum' : 'md5'
          sent.push(way)
          const isAccepted = (accepts as string[]).includes(way) && !(hasChecksum && way === 'md5')
          if (!isAccepted) return response.writeHead(status).end('<Error><Code>NotImplemented</Code></Error>')
          if (way === 'single') {
            const name = pathname.slice('/images/'.length)
            if (name === 'locked.jpg') return response.writeHead(403).end('<Error><Code>AccessDenied</Code></Error>')
            if (!stored.delete(name)) return response.writeHead(404).end('<Error><Code>NoSuchKey</Code></Error>')
            return response.writeHead(204).end()
          }
          if (md5 !== hash('md5', body, 'base64')) return response.writeHead(400).end()
          const names = [...body.matchAll(/<Key>(.*?)<\/Key>/g)].map(([, name]) => name)
          for (const name of names) if (name !== 'locked.jpg') stored.delete(name)
          const isLocked = names.includes('locked.jpg')
          const error = '<Error><Key>locked.jpg</Key><Code>AccessDenied</Code></Error>'
          return response.writeHead(200).end(`<DeleteResult>${isLocked ? error : ''}</DeleteResult>`)
        },
        (reason) => reasons.push(reason),
      )
      return { storage, stored, sent, reasons }
    }

    it.each([
      { accepts: ['md5'], status: 400, ways: ['checksum', 'md5'], lacks: 1 },
      { accepts: ['single'], status: 501, ways: ['checksum', 'md5', 'single'], lacks: 2 },
    ] as const)('deletes with the ways $accepts of one that answers $status otherwise', async (server) => {
      const { storage, stored, sent, reasons } = await startLacking(server.accepts, server.status)
      await expect(storage.delete(NAMES)).rejects.toMatchObject({ keys: new Set(['locked.jpg']) })
      expect([...stored]).toEqual(['locked.jpg'])
      expect([...new Set(sent)]).toEqual(server.ways)
      expect(reasons).toHaveLength(server.lacks)
      expect(reasons[0]).toContain(String(server.status))
      sent.length = 0
      await storage.delete(['a.jpg', 'b.jpg'])
      // The way that works is remembered.
      expect([...new Set(sent)]).toEqual(server.accepts)
      expect(reasons).toHaveLength(server.lacks)
      storage.close()
    })

    it('throws if no way works, and names the answer', async () => {
      const { storage, reasons } = await startLacking([], 501)
      await expect(storage.delete(NAMES)).rejects.toMatchObject({
        code: 'SERVICE_UNAVAILABLE',
        retryable: true,
        cause: { message: expect.stringContaining('501') },
      })
      expect(reasons).toEqual([])
      storage.close()
    })
  })
})

describe("Amazon's own S3", () => {
  it.each(['s3://images/shop?region=eu-central-1', 's3://images?region=eu-central-1&pathStyle=true'])(
    'is found without an endpoint: %s',
    async (url) => {
      useCredentials({ accessKeyId: 'drape', secretAccessKey: 'secret' })
      const storage = await createStorage(url, LINKS)
      const link = await storage.signedUrl('results/a.jpg', { expiresInSeconds: 60 })
      expect(new URL(link).host).toMatch(/s3\.eu-central-1\.amazonaws\.com$/)
      expect(storage.keyOf(link)).toBe('results/a.jpg')
      vi.unstubAllEnvs()
    },
  )
})
