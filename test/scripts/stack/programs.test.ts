import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { type Replica, waitUntilReady } from '../../../scripts/stack/programs.ts'

describe('waiting for a program', () => {
  afterEach(() => void vi.useRealTimers())

  it.each([
    [170, 'resolves', undefined],
    [301, 'throws the last response', 'worker is not ready: no inference process is ready'],
  ])('that is ready after %i s %s', async (seconds, _what, message) => {
    vi.useFakeTimers({ toFake: ['Date'] })
    let asked = 0
    const server = createServer((_request, response) => {
      if (asked++ > 0) return void response.end('ready')
      vi.setSystemTime(Date.now() + seconds * 1000)
      response.writeHead(503).end('no inference process is ready')
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const { port } = server.address() as AddressInfo
    const worker = { name: 'worker', ports: { PROBE_PORT: { port } } } as unknown as Replica
    const said: string[] = []
    const waiting = waitUntilReady(worker, { say: (text) => said.push(text), signal: new AbortController().signal })
    const thrown = await waiting.then(
      () => undefined,
      (error: Error) => error.message,
    )
    server.close()
    server.closeAllConnections()
    expect(thrown).toBe(message)
    if (!message) expect(said).toEqual(['Waiting for worker, 10 s so far: no inference process is ready'])
  })
})
