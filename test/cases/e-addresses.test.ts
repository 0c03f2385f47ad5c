import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { type AddressInfo, createServer as createRawServer, type Server, type Socket } from 'node:net'
import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { sql } from '../../api/shared/database/database.ts'
import { type Drape, formOf, readSample, startDrape } from '../support/drape.ts'

const LOOPBACK = `
  127.0.0.1 127.1 127.0.1 2130706433 0x7f000001 0x7f.1 0177.0.0.1 0177.1 017700000001 127.0.0.1. 127.255.255.254
  %31%32%37.0.0.1 127%2e0%2e0%2e1 １２７.0.0.1 127。0。0。1 ①②⑦.0.0.1 0 0x0 0.0.0.0 localhost LOCALHOST localhost.
  [::] [::0] [::1] [0:0:0:0:0:0:0:1] [::ffff:127.0.0.1] [::ffff:7f00:1] [::FFFF:7F00:0001] [::127.0.0.1] [64:ff9b::127.0.0.1]`
  .trim()
  .split(/\s+/)
const PRIVATE = `
  10.0.0.1 167772161 172.16.0.1 172.31.255.255 192.168.0.1 192.168.1 100.64.0.1 100.127.255.254 169.254.169.254 2852039166
  [fd00::1] [fe80::1] [ff02::1] 224.0.0.1 255.255.255.255 192.0.2.1 198.18.0.1 198.19.255.254 240.0.0.1 [::ffff:10.0.0.1]`
  .trim()
  .split(/\s+/)

describe('image URLs of callers', () => {
  let drape: Drape
  let visited = 0
  let canary: Server
  let port: number
  let imageId: string

  beforeAll(async () => {
    canary = createRawServer((socket) => {
      visited++
      socket.destroy()
    }).listen(0, '::')
    await new Promise((resolve) => canary.once('listening', resolve))
    port = (canary.address() as AddressInfo).port
    drape = await startDrape({
      credits: 1000,
      env: { FETCH_ALLOW_CIDRS: '', FETCH_ALLOW_PORTS: `80,443,${port}` },
    })
    imageId = (
      await drape.call('POST', '/tryon/v1/images/upload', {
        body: formOf(undefined, { file: await readSample('persons/astronaut.jpg') }),
      })
    ).body.imageId
  })
  afterAll(async () => {
    await drape.stop()
    canary.close()
  })

  const images = [{ source: { url: 'https://shop.example/shirt.jpg' } }]
  const countImages = () => drape.database.oneFirst(sql.unsafe`select count(*)::int from images`)
  const asPerson = (url: string, target = drape, key?: string) =>
    target.call('POST', '/tryon/v1/try-on', {
      ...(key && { key }),
      body: { products: [{ images }], person: { image: { source: { url } } } },
    })

  it('are refused for a person if they are loopback or private, in any spelling', async () => {
    const before = await countImages()
    for (const host of [...LOOPBACK, ...PRIVATE]) {
      const answer = await asPerson(`http://${host}:${port}/me.jpg`)
      expect(answer, host).toMatchObject({ status: 400, body: { code: 'CUSTOMER_IMAGE_FETCH_FAILED' } })
      expect(answer.body.message).not.toMatch(/127|local|ECONN|EHOST|private/i)
    }
    expect(visited).toBe(0)
    expect(await countImages()).toBe(before)
    expect(await drape.balance()).toBe(1000)
  })

  it.each([
    'http://example.com:22/a.jpg',
    'http://example.com:6379/a.jpg',
    'http://example.com:5432/a.jpg',
    'http://example.com:0/a.jpg',
    'http://example.com:65536/a.jpg',
    'http://example.com:-1/a.jpg',
    'http://user:word@example.com/a.jpg',
    'http:///a.jpg',
    'http://',
    'file:///etc/passwd',
    'gopher://127.0.0.1:6379/_FLUSHALL',
    'data:image/png;base64,AAAA',
    'ftp://example.com/a.jpg',
    '//127.0.0.1/a.jpg',
    'javascript:alert(1)',
    `http://${'a'.repeat(70)}.example/`,
    `https://shop.example/${'a'.repeat(100_000)}`,
  ])('are refused when they are no web address (number %#)', async (url) => {
    const answer = await asPerson(url)
    expect(answer.status).toBe(400)
    expect(['CUSTOMER_IMAGE_FETCH_FAILED', 'VALIDATION_FAILED']).toContain(answer.body.code)
  })

  it('fail a generation with a refund if the URL of a product is private', async () => {
    await drape.startWorker({ FETCH_ALLOW_CIDRS: '', CONCURRENCY: '4' })
    const hosts = LOOPBACK.filter((_, i) => i % 4 === 0).concat(PRIVATE.filter((_, i) => i % 8 === 0))
    const before = await drape.balance()
    const ids = await Promise.all(
      hosts.map(async (host) => {
        const products = [{ images: [{ source: { url: `http://${host}:${port}/shirt.jpg` } }] }]
        const body = { products, person: { image: { source: { id: imageId } } } }
        return (await drape.call('POST', '/tryon/v1/try-on', { body })).body.generationId as string
      }),
    )
    for (const id of ids) {
      const ended = await drape.finish(id)
      expect(ended).toMatchObject({ status: 'FAILED', errorCode: 'PRODUCT_IMAGE_FETCH_FAILED' })
      expect(ended.errorMessage).not.toMatch(/127|local|ECONN|EHOST|private/i)
    }
    expect(visited).toBe(0)
    expect(await drape.balance()).toBe(before)
  })

  describe('on misbehaving servers', () => {
    let shop: Server
    let hostile: Server
    let shopUrl: string
    let hostileUrl: string
    let open: Drape
    let person: Buffer
    const sockets = new Set<Socket>()

    type Answer = (response: ServerResponse, request: IncomingMessage) => void
    const pages: Readonly<Record<string, Answer>> = {
      '/good.jpg': (response) => response.end(person),
      '/no-length.jpg': (response) => {
        response.write(person.subarray(0, 1000))
        response.end(person.subarray(1000))
      },
      '/ten-gigabytes': (response) => {
        response.writeHead(200, { 'content-type': 'image/jpeg', 'content-length': 10_000_000_000 })
        response.write(person)
      },
      '/endless': (response) => {
        const chunk = Buffer.alloc(1 << 20, 7)
        const more = () => {
          while (!response.destroyed && response.write(chunk));
        }
        response.on('drain', more)
        more()
      },
      '/gzip-bomb': (response) =>
        response.writeHead(200, { 'content-encoding': 'gzip' }).end(gzipSync(Buffer.alloc(50_000_000))),
      '/page.jpg': (response) =>
        response.writeHead(200, { 'content-type': 'image/jpeg' }).end('<!doctype html><title>no</title>'),
      '/drops': (response) => {
        response.writeHead(200, { 'content-length': person.length })
        const drip = setInterval(() => response.write('x'), 1000)
        response.on('close', () => clearInterval(drip))
      },
      '/half': (response) => {
        response.writeHead(200, { 'content-type': 'image/jpeg', 'content-length': person.length })
        response.write(person.subarray(0, person.length / 2), () => response.destroy())
      },
      '/cut': (response) => response.end(person.subarray(0, person.length / 2)),
      '/silent': () => {},
      '/redirect-to-loopback': (response) => response.writeHead(302, { location: 'http://127.0.0.1:22/' }).end(),
      '/loop': (response) => response.writeHead(302, { location: '/loop' }).end(),
    }

    beforeAll(async () => {
      person = await readSample('persons/astronaut.jpg')
      const answer = (request: IncomingMessage, response: ServerResponse) => {
        const status = Number(/^\/status-(\d+)$/.exec(request.url ?? '')?.[1])
        if (status) response.writeHead(status).end([204, 304].includes(status) ? undefined : person)
        else pages[request.url ?? '']?.(response, request)
      }
      shop = createServer(answer).listen(0, '127.0.0.1')
      hostile = createRawServer((socket) => {
        socket.on('error', () => {}).write('HTTP/1.1 200 OK\r\n')
        const headers = setInterval(() => socket.write(`x-header: ${'y'.repeat(500)}\r\n`), 20)
        socket.on('close', () => clearInterval(headers))
      }).listen(0, '127.0.0.1')
      for (const server of [shop, hostile]) {
        await new Promise((resolve) => (server.listening ? resolve(null) : server.once('listening', resolve)))
        server.on('connection', (socket: Socket) => sockets.add(socket))
      }
      const [shopPort, hostilePort] = [shop, hostile].map((server) => (server.address() as AddressInfo).port)
      shopUrl = `http://127.0.0.1:${shopPort}`
      hostileUrl = `http://127.0.0.1:${hostilePort}/headers`
      open = await startDrape({ credits: 1000, env: { FETCH_ALLOW_PORTS: `80,443,${shopPort},${hostilePort}` } })
    })
    afterAll(async () => {
      await open.stop()
      for (const socket of sockets) socket.destroy()
      for (const server of [shop, hostile]) server.close()
    })

    it('are refused in bounded time, without storing or charging anything', async () => {
      const statuses = [201, 204, 205, 206, 301, 304, 400, 401, 403, 404, 429, 500, 503].map((n) => `/status-${n}`)
      const bad = Object.keys(pages).filter((page) => page !== '/good.jpg' && page !== '/no-length.jpg')
      const since = performance.now()
      const answers = await Promise.all(
        [...[...bad, ...statuses].map((page) => shopUrl + page), hostileUrl].map(async (url) => ({
          url,
          ...(await asPerson(url, open)),
        })),
      )
      const refused = answers.filter(({ url }) => !url.endsWith('/cut') && !url.endsWith('/status-201'))
      for (const { url, status, body } of refused) {
        const code = /ten-gigabytes|endless|gzip-bomb/.test(url) ? 'FILE_TOO_LARGE' : 'CUSTOMER_IMAGE_FETCH_FAILED'
        expect({ url, status, code: body.code }).toEqual({ url, status: code === 'FILE_TOO_LARGE' ? 413 : 400, code })
      }
      expect(answers.find(({ url }) => url.endsWith('/cut'))?.body.code).toBe('INVALID_IMAGE')
      // 15 s are allowed for a fetch.
      expect(performance.now() - since).toBeLessThan(45_000)
      const left = await open.database.one(sql.unsafe`
        select (select count(*) from generations)::int as generations, (select count(*) from objects)::int as objects`)
      const taken = answers.filter(({ status }) => status === 201).length
      expect(left).toEqual({ generations: taken, objects: taken })
      expect(await open.balance()).toBe(1000 - taken)
    })

    it('do not block fetches of other accounts', async () => {
      const { apiKey } = await open.createAccount(100)
      const slow = Array.from({ length: 30 }, () => asPerson(`${shopUrl}/silent`, open, apiKey))
      expect((await asPerson(`${shopUrl}/good.jpg`, open)).status).toBe(201)
      expect((await asPerson(`${shopUrl}/no-length.jpg`, open)).status).toBe(201)
      for (const socket of sockets) socket.destroy()
      // Of one account 10 are fetched at a time; the others wait, and some of them for too long.
      for (const { body } of await Promise.all(slow))
        expect(body.code).toMatch(/^(CUSTOMER_IMAGE_FETCH_FAILED|RATE_LIMITED)$/)
    })
  })
})
