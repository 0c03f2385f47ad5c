import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { type ClientRequest, createServer, request, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { afterAll, afterEach, describe, expect, it } from 'vitest'
import {
  type BodyReceiverOptions,
  createBodyReceiver,
  type ReceivedBody,
} from '../../../../api/http/bodies/signed-body.ts'
import { DrapeError } from '../../../../api/shared/contract/errors.ts'

const KB = 1024
const MB = 1024 * KB
const TEXT = '/public/fitting-room'
const UPLOAD = '/public/upload-image'

describe('a body that is buffered until its signature is verified', async () => {
  const servers: Server[] = []
  const folder = await mkdtemp(join(tmpdir(), 'drape-spool-'))
  afterAll(() => rm(folder, { recursive: true }))
  afterEach(() => {
    for (const server of servers.splice(0)) {
      server.closeAllConnections()
      server.close()
    }
  })

  /** A server that responds whether each body arrived completely, or with the error; requests with `x-proof` authenticate the shop. */
  async function start(options: BodyReceiverOptions, mayEnd = Promise.resolve()) {
    const receive = createBodyReceiver({ folder, ...options })
    const outcomes: string[] = []
    const check = async (body: ReceivedBody, isProven: boolean) => {
      if (isProven) body.trust()
      const again = await buffer(body.replay())
      expect(await body.bytes()).toEqual(again)
      await mayEnd
      body.release()
      return createHash('sha256').update(again).digest('hex') === body.hash ? 'whole' : 'changed'
    }
    const server = createServer(async (incoming, response) => {
      const { 'x-address': address = 'a', 'x-shop': shop = 's', 'x-proof': proof } = incoming.headers
      const outcome = await receive(incoming, { address: String(address), shop: String(shop) }).then(
        (body) => check(body, proof !== undefined),
        (error: unknown) => (error instanceof DrapeError ? error.code : String(error)),
      )
      outcomes.push(outcome)
      response.end(outcome)
    })
    servers.push(server)
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const { port } = server.address() as AddressInfo
    const open = (path: string, headers: Record<string, string> = {}) =>
      request({ port, host: '127.0.0.1', method: 'POST', path, headers }).on('error', () => {})
    const send = (path: string, bytes: number, headers: Record<string, string> = {}) => {
      const call = open(path, headers)
      call.end(Buffer.alloc(bytes, 7))
      return answerTo(call)
    }
    return { open, send, outcomes }
  }
  const answerTo = async (call: ClientRequest): Promise<string> => {
    const [response] = await once(call, 'response')
    return (await buffer(response)).toString()
  }

  it('is returned unchanged, and leaves no file', async () => {
    const { send } = await start({})
    for (const bytes of [0, 1, 16 * KB, 16 * KB + 1, MB]) expect(await send(TEXT, bytes)).toBe('whole')
    expect(await send(UPLOAD, 10 * MB + 1000)).toBe('whole')
    expect(await readdir(folder)).toEqual([])
  })

  it('is returned unchanged when it arrived in small pieces', async () => {
    const { open } = await start({})
    const call = open(TEXT, { 'Transfer-Encoding': 'chunked' })
    for (let i = 0; i < 300; i++) call.write(Buffer.alloc(100, i))
    call.end()
    expect(await answerTo(call)).toBe('whole')
  })

  it('is refused above 1 MB, with or without Content-Length, except uploads', async () => {
    const { send } = await start({})
    const chunked = { 'Transfer-Encoding': 'chunked' }
    expect(await send(TEXT, MB + 1)).toBe('VALIDATION_FAILED')
    expect(await send(TEXT, MB + 1, chunked)).toBe('VALIDATION_FAILED')
    expect(await send(TEXT, 2 * MB, { 'Content-Type': 'multipart/form-data; boundary=x' })).toBe('VALIDATION_FAILED')
    expect(await send(UPLOAD, 11 * MB + 1)).toBe('FILE_TOO_LARGE')
    expect(await send(UPLOAD, 11 * MB + 1, chunked)).toBe('FILE_TOO_LARGE')
  })

  it('is refused before it arrives if its Content-Length is too large', async () => {
    const { open } = await start({})
    const call = open(UPLOAD, { 'Content-Length': String(100 * MB) })
    call.flushHeaders()
    expect(await answerTo(call)).toBe('FILE_TOO_LARGE')
    call.destroy()
  })

  it('is refused when its address has too many bytes buffered, without effect on other addresses', async () => {
    const mayEnd = Promise.withResolvers<void>()
    const { send } = await start({ address: 3 * MB }, mayEnd.promise)
    const bodies = Array.from({ length: 5 }, () => send(TEXT, MB))
    expect(await Promise.race(bodies)).toBe('SERVICE_UNAVAILABLE')
    const other = send(TEXT, MB, { 'x-address': 'b' })
    mayEnd.resolve()
    expect(await other).toBe('whole')
    expect(new Set(await Promise.all(bodies))).toEqual(new Set(['whole', 'SERVICE_UNAVAILABLE']))
    expect(await Promise.all([1, 2, 3].map(() => send(TEXT, MB - KB)))).toEqual(['whole', 'whole', 'whole'])
  })

  it('is received from an address that has authenticated as its shop, whatever other addresses have buffered for that shop', async () => {
    const { send, open } = await start({ strangers: 2 * MB, address: 2 * MB })
    expect(await send(TEXT, MB, { 'x-address': 'shop', 'x-proof': '' })).toBe('whole')
    const stalled = Array.from({ length: 40 }, (_, i) => {
      const call = open(TEXT, { 'x-address': `stranger ${i}`, 'Content-Length': String(MB) })
      call.write(Buffer.alloc(100 * KB))
      return call
    })
    expect(await Promise.race(stalled.map(answerTo))).toBe('SERVICE_UNAVAILABLE')
    expect(await send(TEXT, MB, { 'x-address': 'shop' })).toBe('whole')
    for (const call of stalled) call.destroy()
  })

  it('has a time limit and a minimum rate', async () => {
    for (const options of [{ maxMs: 50 }, { graceMs: 50 }]) {
      const { open } = await start(options)
      const call = open(TEXT, { 'Content-Length': '100000' })
      call.write('x')
      expect(await answerTo(call)).toBe('PROXY_SIGNATURE_INVALID')
      call.destroy()
    }
  })

  it('is discarded when the client disconnects', async () => {
    const { open, send, outcomes } = await start({ address: MB })
    const call = open(TEXT, { 'Content-Length': String(MB) })
    call.write(Buffer.alloc(MB - 1), () => call.destroy())
    while (outcomes.length === 0) await new Promise((resolve) => setTimeout(resolve, 10))
    expect(outcomes).toEqual(['PROXY_SIGNATURE_INVALID'])
    expect(await send(TEXT, MB)).toBe('whole')
    expect(await readdir(folder)).toEqual([])
  })
})
