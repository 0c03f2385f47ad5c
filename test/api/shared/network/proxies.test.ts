import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { Agent, createServer, get } from 'node:http'
import { createServer as createSecureServer } from 'node:https'
import { type AddressInfo, createConnection, type Server as NetServer, type Socket } from 'node:net'
import { join } from 'node:path'
import { getCACertificates, setDefaultCACertificates } from 'node:tls'
import { getGlobalDispatcher, setGlobalDispatcher } from 'undici'
import { afterAll, afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { createImageFetcher } from '../../../../api/shared/network/fetch-image.ts'
import { requestGuarded } from '../../../../api/shared/network/guarded-request.ts'
import { agentOptions, useProxies } from '../../../../api/shared/network/proxies.ts'
import { createS3Storage } from '../../../../api/shared/storage/s3.ts'

const IMAGE = Buffer.concat([Buffer.from('ffd8ffe000104a464946', 'hex'), Buffer.alloc(500, 7)])
const CERTIFICATE = join(import.meta.dirname, '../../../fixtures/tls')

async function listen<S extends NetServer>(server: S): Promise<{ server: S; port: number }> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return { server, port: (server.address() as AddressInfo).port }
}

describe('a proxy', async () => {
  /** What it was asked for. */
  const asked: string[] = []
  const connections = new WeakSet<Socket>()
  let mayConnect = true
  const [trusted, dispatcher] = [getCACertificates('default'), getGlobalDispatcher()]

  const certificate = readFileSync(join(CERTIFICATE, 'shop-certificate.pem'), 'utf8')
  const key = readFileSync(join(CERTIFICATE, 'shop-key.pem'), 'utf8')
  const plain = await listen(createServer((_, response) => response.end(IMAGE)))
  const secure = await listen(createSecureServer({ cert: certificate, key }, (_, response) => response.end(IMAGE)))
  const proxy = await listen(
    createServer(({ method, url, socket, headers }, response) => {
      asked.push(`${method} ${url} ${connections.has(socket) ? 'over a former connection' : headers.connection}`)
      connections.add(socket)
      response.end('from the proxy')
    }).on('connect', ({ url = '', headers }, near) => {
      asked.push(`CONNECT ${url} ${headers.host} ${headers['proxy-authorization']}`)
      const far = createConnection(Number(url.split(':').at(-1)), '127.0.0.1')
      for (const [one, other] of [
        [near, far],
        [far, near],
      ])
        one.on('error', () => {}).on('close', () => other.destroy())
      near.write(mayConnect ? 'HTTP/1.1 200 OK\r\n\r\n' : 'HTTP/1.1 403 Forbidden\r\n\r\n')
      if (mayConnect) far.pipe(near).pipe(far)
    }),
  )
  setDefaultCACertificates([...trusted, certificate])
  afterAll(() => {
    setDefaultCACertificates(trusted)
    for (const { server } of [plain, secure, proxy]) server.close()
  })
  beforeEach(() => {
    asked.length = 0
    mayConnect = true
    vi.stubEnv('HTTP_PROXY', `http://me:pass%20word@127.0.0.1:${proxy.port}`)
  })
  afterEach(() => {
    vi.unstubAllEnvs()
    setGlobalDispatcher(dispatcher)
  })

  const fetcher = (lookup = async () => ['127.0.0.1', '::1']) =>
    createImageFetcher({
      failureCode: 'PRODUCT_IMAGE_FETCH_FAILED',
      allowCidrs: ['127.0.0.1/32', '::1/128'],
      allowPorts: [plain.port, secure.port],
      lookup,
    })
  const login = `Basic ${Buffer.from('me:pass word').toString('base64')}`
  const tunnel = (target: string) => `CONNECT ${target} ${target} ${login}`

  it('gets checked addresses of callers instead of names, and TLS verifies the name', async () => {
    expect(await fetcher()(`http://shop.example:${plain.port}/`)).toEqual(IMAGE)
    expect(await fetcher()(`https://shop.example:${secure.port}/`)).toEqual(IMAGE)
    for (const host of ['other.example', '127.0.0.1'])
      await expect(fetcher()(`https://${host}:${secure.port}/`)).rejects.toThrow('unreachable')
    expect(await fetcher(async () => ['::1'])(`http://shop.example:${plain.port}/`)).toEqual(IMAGE)
    const targets = [plain, secure, secure, secure].map(({ port }) => `127.0.0.1:${port}`)
    expect(asked).toEqual([...targets, `[::1]:${plain.port}`].map(tunnel))
  })

  it('gets nothing for a private address, nor for a host in NO_PROXY', async () => {
    for (const addresses of [['10.0.0.1'], ['127.0.0.1', '169.254.169.254'], []])
      await expect(fetcher(async () => addresses)(`http://shop.example:${plain.port}/`)).rejects.toThrow('unreachable')
    vi.stubEnv('no_proxy', 'other.example,.example')
    expect(await fetcher()(`http://shop.example:${plain.port}/`)).toEqual(IMAGE)
    expect(asked).toEqual([])
  })

  it('that refuses a tunnel is the same to a caller as an unreachable host', async () => {
    mayConnect = false
    const fetching = fetcher()(`http://shop.example:${plain.port}/`)
    await expect(fetching).rejects.toThrow(
      'The image could not be fetched: the server is unreachable or closed the connection.',
    )
  })

  it('gets what `fetch` and the object storage request', async () => {
    mayConnect = false
    useProxies(process.env)
    const body = { method: 'POST', body: 'text' }
    expect(await (await fetch('http://keys.example/v1', body)).text()).toBe('from the proxy')
    await expect(fetch('https://keys.example/v1', body)).rejects.toThrow()
    vi.stubEnv('AWS_ACCESS_KEY_ID', 'drape')
    vi.stubEnv('AWS_SECRET_ACCESS_KEY', 'secret')
    const store = { bucket: 'images', prefix: '', region: 'us-east-1', pathStyle: true }
    const images = createS3Storage({ ...store, endpoint: 'http://s3.example' })
    for (let i = 0; i < 2; i++) await images.check()
    await expect(createS3Storage({ ...store, endpoint: 'https://s3.example' }).check()).rejects.toThrow()
    const forKeys = ['POST http://keys.example/v1 close', `CONNECT keys.example:443 keys.example ${login}`]
    const forImages = ['HEAD http://s3.example/images/ keep-alive', `CONNECT s3.example:443 s3.example:443 ${login}`]
    expect([...new Set(asked)]).toEqual([...forKeys, ...forImages])
  })

  it.each([
    ['', true],
    ['s3.example', false],
    ['example', false],
    ['.example', false],
    ['*.example other.example', false],
    ['xample', true],
    ['*', false],
  ])('with NO_PROXY "%s" gets a request of an agent of Node for s3.example: %s', async (names, isProxied) => {
    const agent = new Agent(agentOptions({ http_proxy: process.env.HTTP_PROXY, NO_PROXY: names }).httpAgent)
    const lookup = (_: string, __: object, callback: (error: null, found: object[]) => void) =>
      callback(null, [{ address: '127.0.0.1', family: 4 }])
    await new Promise((resolve, reject) => {
      get({ agent, host: 's3.example', port: plain.port, lookup } as never, resolve).on('error', reject)
    })
    expect(asked).toEqual(isProxied ? [`GET http://s3.example:${plain.port}/ close`] : [])
  })

  it('that never connects delays a request no longer than its time limit', async () => {
    const silent = await listen(createServer().on('connect', () => {}))
    vi.stubEnv('HTTP_PROXY', `http://127.0.0.1:${silent.port}`)
    const limit = new AbortController()
    const lookup = async () => ['127.0.0.1']
    const asking = { method: 'GET', headers: {}, isAllowed: () => true, lookup, signal: limit.signal } as const
    const asked = requestGuarded(new URL(`http://shop.example:${plain.port}/`), asking, async () => 'an answer')
    const [, connection] = await once(silent.server, 'connect')
    limit.abort(new Error('too late'))
    await expect(asked).rejects.toThrow('too late')
    connection.destroy()
    silent.server.close()
  })

  it.each([
    ...['proxy.example:3128', 'socks5://proxy.example:1080', '10.0.0.1:3128', 'http://'],
    ...['http://user@proxy.example:3128', 'http://user:50%@proxy.example:3128'],
  ])('is refused at the start as %s', (url) => {
    expect(() => useProxies({ https_proxy: url, HTTP_PROXY: '' })).toThrow(
      'https_proxy must be the URL of a proxy: http://HOST:PORT',
    )
  })
})
