import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { type ClientRequest, createServer, request, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'
import { afterEach, describe, expect, it } from 'vitest'
import { DrapeError } from '../../api/shared/errors.ts'
import { createBodyReceiver } from '../../api/signed-body.ts'

const MB = 1024 * 1024
const TEXT = { 'Content-Type': 'application/json' }
const FORM = { 'Content-Type': 'multipart/form-data; boundary=x' }

describe('a body that is received before it is read', () => {
  const servers: Server[] = []
  afterEach(() => {
    for (const server of servers.splice(0)) {
      server.closeAllConnections()
      server.close()
    }
  })

  /** A server that answers with the hash of each body, or with what is wrong with it, when it may. */
  async function start(options: Parameters<typeof createBodyReceiver>[0], mayEnd = Promise.resolve()) {
    const receive = createBodyReceiver(options)
    const outcomes: string[] = []
    const server = createServer(async (incoming, response) => {
      const outcome = await receive(incoming, { keep: true }).then(
        async ({ hash, replay, release }) => {
          const again = await buffer(replay())
          await mayEnd
          release()
          return createHash('sha256').update(again).digest('hex') === hash ? 'whole' : 'changed'
        },
        (error: unknown) => (error instanceof DrapeError ? error.code : String(error)),
      )
      outcomes.push(outcome)
      response.end(outcome)
    })
    servers.push(server)
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const { port } = server.address() as AddressInfo
    const open = (headers: Record<string, string>) =>
      request({ port, host: '127.0.0.1', method: 'POST', headers }).on('error', () => {})
    const send = (headers: Record<string, string>, bytes: number) => {
      const call = open(headers)
      call.end(Buffer.alloc(bytes, 7))
      return answerTo(call)
    }
    return { open, send, outcomes }
  }
  const answerTo = async (call: ClientRequest): Promise<string> => {
    const [response] = await once(call, 'response')
    return (await buffer(response)).toString()
  }

  it('comes again as it was', async () => {
    const { send } = await start({})
    expect(await send(TEXT, 0)).toBe('whole')
    expect(await send(TEXT, MB)).toBe('whole')
    expect(await send(FORM, 10 * MB + 1000)).toBe('whole')
  })

  it('is refused above its limit, told or not', async () => {
    const { send } = await start({})
    expect(await send(TEXT, MB + 1)).toBe('VALIDATION_FAILED')
    expect(await send({ ...TEXT, 'Transfer-Encoding': 'chunked' }, MB + 1)).toBe('VALIDATION_FAILED')
    expect(await send(FORM, 11 * MB + 1)).toBe('FILE_TOO_LARGE')
    expect(await send({ ...FORM, 'Transfer-Encoding': 'chunked' }, 11 * MB + 1)).toBe('FILE_TOO_LARGE')
  })

  it('is refused before it comes when it says that it is too long', async () => {
    const { open } = await start({})
    const call = open({ ...FORM, 'Content-Length': String(100 * MB) })
    call.flushHeaders()
    expect(await answerTo(call)).toBe('FILE_TOO_LARGE')
    call.destroy()
  })

  it('waits for better times when all of them together are too much', async () => {
    const mayEnd = Promise.withResolvers<void>()
    const { send } = await start({ maxHeldBytes: 3 * MB }, mayEnd.promise)
    const bodies = Array.from({ length: 5 }, () => send(TEXT, MB))
    const refused = await Promise.race(bodies)
    expect(refused).toBe('SERVICE_UNAVAILABLE')
    mayEnd.resolve()
    const outcomes = await Promise.all(bodies)
    expect(new Set(outcomes)).toEqual(new Set(['whole', 'SERVICE_UNAVAILABLE']))
    expect(await Promise.all([1, 2, 3].map(() => send(TEXT, MB)))).toEqual(['whole', 'whole', 'whole'])
  })

  it('is not waited for without end', async () => {
    const { open } = await start({ maxMs: 50 })
    const call = open({ ...TEXT, 'Content-Length': '100' })
    call.write('x')
    expect(await answerTo(call)).toBe('PROXY_SIGNATURE_INVALID')
    call.destroy()
  })

  it('is given up when its sender hangs up, and held no longer', async () => {
    const { open, send, outcomes } = await start({ maxHeldBytes: MB })
    const call = open({ ...TEXT, 'Content-Length': String(MB) })
    call.write(Buffer.alloc(MB - 1), () => call.destroy())
    while (outcomes.length === 0) await new Promise((resolve) => setTimeout(resolve, 10))
    expect(outcomes).toEqual(['PROXY_SIGNATURE_INVALID'])
    expect(await send(TEXT, MB)).toBe('whole')
  })
})
