import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, describe, expect, it } from 'vitest'
import { readBounded } from '../../../../api/shared/network/bounded-body.ts'

describe('a response body of another program', async () => {
  let sent = 0
  const server = createServer((request, response) => {
    if (request.url === '/short') {
      response.end('{"data":{"type":"rsa-2048"}}')
      return
    }
    response.writeHead(200, { 'content-type': 'application/json' })
    response.write('{"data":{"type":"')
    const send = () => {
      while (!response.destroyed && response.write('x'.repeat(65_536))) sent += 65_536
    }
    response.on('drain', send)
    send()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  afterAll(() => server.close().closeAllConnections())

  it('is read completely within the limit, and truncated and cancelled above it', async () => {
    const short = await readBounded((await fetch(`${url}/short`)).body, 100)
    expect({ text: short.bytes.toString(), isCut: short.isCut }).toEqual({
      ...{ text: '{"data":{"type":"rsa-2048"}}', isCut: false },
    })
    expect(await readBounded(null, 10)).toEqual({ bytes: Buffer.alloc(0), isCut: false })
    const endless = await readBounded((await fetch(`${url}/endless`)).body, 100_000)
    expect([endless.bytes.length, endless.isCut]).toEqual([100_000, true])
    const seen = sent
    await new Promise((resolve) => setTimeout(resolve, 200))
    expect(sent - seen).toBeLessThan(4 * 1024 * 1024)
  })
})
