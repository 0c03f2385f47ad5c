import { readFile } from 'node:fs/promises'
import { createServer, request as openRequest, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { json } from 'node:stream/consumers'
import { afterEach, describe, expect, it } from 'vitest'
import { type ReceiveLimits, receiveFile } from '../../../../api/http/bodies/received-file.ts'
import { requestService } from '../../../support/request-service.ts'

const LIMITS = { maxBytes: 2 * 1024 * 1024, maxMs: 60_000 }

describe('a request body received into a file', async () => {
  let server: Server

  const folder = (await requestService('folder', null)).path
  afterEach(() => {
    server.closeAllConnections()
    server.close()
  })

  /** A server that responds with the outcome of the body. `ended` resolves with the same. */
  async function start(limits: ReceiveLimits = LIMITS, path = join(folder, 'file')) {
    const { promise: ended, resolve } = Promise.withResolvers<{ code: string; details?: unknown }>()
    server = createServer(async (request, response) => {
      const outcome = await receiveFile(request, path, limits).then(
        () => ({ code: 'received' }),
        ({ code, details }) => ({ code, details }),
      )
      resolve(outcome)
      response.end(JSON.stringify(outcome))
    })
    await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening))
    return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, ended, path }
  }
  const put = async (url: string, body: RequestInit['body']) => {
    const answer = await fetch(url, { method: 'PUT', body, ...(body instanceof ReadableStream && { duplex: 'half' }) })
    return json(answer.body as never)
  }
  /** The same number of bytes, chunked, without Content-Length. */
  const inParts = (bytes: number) => {
    let left = bytes
    return new ReadableStream({
      pull: (controller) => {
        const part = Math.min(left, 65_536)
        left -= part
        if (part > 0) controller.enqueue(new Uint8Array(part).fill(7))
        else controller.close()
      },
    })
  }

  it('contains every byte, up to the limit', async () => {
    const { url, path } = await start()
    const bytes = Buffer.alloc(LIMITS.maxBytes, 'image')
    expect(await put(url, bytes)).toEqual({ code: 'received' })
    expect((await readFile(path)).equals(bytes)).toBe(true)
  })

  it('can arrive in parts', async () => {
    const { url, path } = await start()
    expect(await put(url, inParts(LIMITS.maxBytes))).toEqual({ code: 'received' })
    expect(await readFile(path)).toHaveLength(LIMITS.maxBytes)
  })

  it('can be empty', async () => {
    const { url, path } = await start()
    expect(await put(url, '')).toEqual({ code: 'received' })
    expect(await readFile(path)).toHaveLength(0)
  })

  it('is refused one byte above the limit, with or without Content-Length', async () => {
    for (const body of [
      Buffer.alloc(LIMITS.maxBytes + 1),
      inParts(LIMITS.maxBytes + 1),
      inParts(9 * LIMITS.maxBytes),
    ]) {
      const { url } = await start()
      const details = [{ path: '', message: expect.stringMatching(/^is larger than .* MB$/) }]
      expect(await put(url, body)).toEqual({ code: 'FILE_TOO_LARGE', details })
      server.close()
    }
  })

  it('has a time limit', async () => {
    const { url } = await start({ ...LIMITS, maxMs: 50 })
    const answer = await new Promise((resolve, reject) => {
      const sending = openRequest(url, { method: 'PUT' }, (response) => resolve(json(response)))
      sending.on('error', reject)
      sending.write('the beginning')
    })
    const details = [{ path: '', message: 'did not arrive within 0.05 seconds' }]
    expect(answer).toEqual({ code: 'VALIDATION_FAILED', details })
  })

  it('is discarded when the client disconnects', async () => {
    const { url, ended } = await start()
    const sending = openRequest(url, { method: 'PUT', headers: { 'content-length': 1000 } })
    sending.on('error', () => {})
    await new Promise((resolve) => sending.write('the beginning', resolve))
    sending.destroy()
    expect(await ended).toMatchObject({ code: 'VALIDATION_FAILED' })
  })

  it('fails as SERVICE_UNAVAILABLE if the file cannot be written', async () => {
    const { url } = await start(LIMITS, join(folder, 'no', 'such', 'folder'))
    expect(await put(url, Buffer.alloc(1_000_000))).toEqual({ code: 'SERVICE_UNAVAILABLE' })
  })
})
