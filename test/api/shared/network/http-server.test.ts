import { once } from 'node:events'
import { type AddressInfo, connect } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, describe, expect, it } from 'vitest'
import { createHttpServer } from '../../../../api/shared/network/http-server.ts'
import { createLog } from '../../../../api/shared/telemetry/log.ts'

const log = createLog({ process: 'api', level: 'silent' })

describe('an HTTP server', () => {
  const stops: (() => void)[] = []
  afterEach(() => {
    for (const stop of stops.splice(0)) stop()
  })

  async function serve(handle: Parameters<typeof createHttpServer>[0], stalledMs?: number, headersMs?: number) {
    const faults: unknown[] = []
    const error = (entry: unknown) => faults.push(entry)
    const server = createHttpServer(handle, { name: 'probes', log: { error }, stalledMs, headersMs })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    stops.push(() => server.close())
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    return { url, faults }
  }

  it.each([
    [
      'at once',
      () => {
        throw new Error('at once')
      },
    ],
    ['later', async () => Promise.reject(new Error('later'))],
  ])('answers 500 and logs it when its handler throws %s', async (_, handle) => {
    const { url, faults } = await serve(handle)
    expect(faults).toEqual([])
    const response = await fetch(url)
    expect([response.status, await response.json()]).toMatchObject([500, { code: 'INTERNAL_ERROR' }])
    expect(faults).toEqual([expect.objectContaining({ server: 'probes' })])
  })

  it('closes the connection when its handler throws after the response has started', async () => {
    const { url, faults } = await serve(async (_, response) => {
      response.writeHead(200, { 'content-length': '10' })
      response.write('half')
      throw new Error('in the middle')
    })
    await expect(fetch(url).then((response) => response.text())).rejects.toThrow()
    expect(faults).toEqual([expect.objectContaining({ server: 'probes' })])
  })

  it('stops as soon as the last response has ended', async () => {
    const { promise: asked, resolve: ask } = Promise.withResolvers<() => void>()
    const server = createHttpServer((_, response) => ask(() => response.end('late')), {
      name: 'probes',
      log,
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const answer = fetch(`http://127.0.0.1:${(server.address() as AddressInfo).port}`)
    const end = await asked
    const closed = once(server, 'close')
    server.close()
    end()
    expect(await (await answer).text()).toBe('late')
    await closed
  }, 20_000)

  it('drops a response of which the client reads nothing, and no other', async () => {
    const size = 50_000_000
    const { promise: dropped, resolve } = Promise.withResolvers<boolean>()
    const { url } = await serve((request, response) => {
      if (request.url === '/stalled') response.once('close', () => resolve(!response.writableFinished))
      // Longer than the limit: a handler may take its time.
      setTimeout(() => response.end(Buffer.alloc(size)), 1500)
    }, 1000)
    const { hostname, port } = new URL(url)
    const stalled = connect(Number(port), hostname)
    stops.push(() => stalled.destroy())
    stalled.pause()
    stalled.on('error', () => {})
    stalled.write('GET /stalled HTTP/1.1\r\nHost: drape\r\n\r\n')
    expect(await dropped).toBe(true)
    expect((await (await fetch(url)).arrayBuffer()).byteLength).toBe(size)
  })

  it('keeps idle connections longer than load balancers, whatever its other limits of time are', async () => {
    const { url } = await serve((_, response) => response.end('answer'), 50, 100)
    const { hostname, port } = new URL(url)
    const socket = connect(Number(port), hostname).setEncoding('latin1')
    stops.push(() => socket.destroy())
    const ask = async () => {
      socket.write('GET / HTTP/1.1\r\nHost: a\r\n\r\n')
      const [answer] = await once(socket, 'data')
      return String(answer)
    }
    const [, seconds] = /\r\nKeep-Alive: timeout=(\d+)\r\n/.exec(await ask()) ?? []
    // An ALB reuses a connection for 60 s by default; 70 s lets it wait for a synchronous try-on.
    expect(Number(seconds)).toBeGreaterThan(70)
    await sleep(500)
    expect(await ask()).toMatch(/^HTTP\/1\.1 200/)
  })

  it('refuses Transfer-Encoding of HTTP/1.0, and closes the connection', async () => {
    const { url } = await serve((_, response) => response.end('accepted'))
    const { hostname, port } = new URL(url)
    const socket = connect(Number(port), hostname)
    const request = 'POST / HTTP/1.0\r\nConnection: keep-alive\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n'
    socket.write(request + request)
    const text = (await socket.toArray()).join('')
    expect(text.match(/^HTTP\/1\.1 400 /gm)).toHaveLength(1)
    expect(text).not.toContain('accepted')
  })

  it('handles the requests of one packet one after the other', async () => {
    const seen: string[] = []
    let atOnce = 0
    const { url } = await serve(async ({ url: path = '' }, response) => {
      expect(++atOnce).toBe(1)
      seen.push(path)
      await Promise.resolve()
      atOnce--
      response.end(path)
    })
    const { hostname, port } = new URL(url)
    const socket = connect(Number(port), hostname).setEncoding('latin1')
    stops.push(() => socket.destroy())
    const paths = Array.from({ length: 100 }, (_, i) => `/${i}`)
    socket.write(paths.map((path) => `GET ${path} HTTP/1.1\r\nHost: a\r\n\r\n`).join(''))
    let answers = ''
    socket.on('data', (text) => {
      answers += text
    })
    await expect.poll(() => answers.match(/HTTP\/1.1 200/g)?.length).toBe(paths.length)
    expect(seen).toEqual(paths)
  })

  it('closes a connection with more than 100 unanswered requests, and handles no more of them', async () => {
    let handled = 0
    const { url } = await serve((_, response) => {
      handled++
      response.end()
    })
    const { hostname, port } = new URL(url)
    const socket = connect(Number(port), hostname)
    socket.on('error', () => {})
    socket.resume()
    const closed = new Promise((resolve) => socket.once('close', resolve))
    socket.write('GET / HTTP/1.1\r\nHost: a\r\n\r\n'.repeat(2000))
    await closed
    expect(handled).toBe(1)
    expect((await fetch(url)).status).toBe(200)
  })

  it('refuses several Host headers', async () => {
    const { url } = await serve((_, response) => response.end())
    const { hostname, port } = new URL(url)
    const socket = connect(Number(port), hostname).setEncoding('latin1')
    socket.write('GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n')
    const answer = (await socket.toArray()).join('')
    expect(answer).toMatch(/^HTTP\/1.1 400 /)
    expect(answer).toContain('VALIDATION_FAILED')
  })
})
