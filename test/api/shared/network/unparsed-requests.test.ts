import { type AddressInfo, connect } from 'node:net'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createHttpServer } from '../../../../api/shared/network/http-server.ts'
import { createLog } from '../../../../api/shared/telemetry/log.ts'

describe('a request that reaches no handler', () => {
  let release = () => {}
  const { promise: released, resolve } = Promise.withResolvers<void>()
  const server = createHttpServer(
    async (request, response) => {
      if (request.url === '/slow') await released
      for await (const _ of request);
      response.end('handled')
    },
    {
      name: 'probes',
      log: createLog({ process: 'api', level: 'silent' }),
      headersMs: 2000,
      requestMs: 3000,
    },
  )
  beforeAll(async () => {
    release = resolve
    await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening))
  })
  afterAll(() => {
    release()
    server.close()
  })

  const send = async (text: string) => {
    const socket = connect((server.address() as AddressInfo).port, '127.0.0.1')
    socket.write(text)
    return (await socket.toArray()).join('')
  }

  it.each([
    ['headers of 20 KB', `GET / HTTP/1.1\r\nHost: a\r\nX: ${'x'.repeat(20_000)}\r\n\r\n`, 431],
    ['headers of 5 MB, of which most is sent after the answer', `GET / HTTP/1.1\r\nX: ${'x'.repeat(5_000_000)}`, 431],
    ['a target of 20 KB', `GET /${'a'.repeat(20_000)} HTTP/1.1\r\nHost: a\r\n\r\n`, 431],
    ['no Host', 'GET / HTTP/1.1\r\n\r\n', 400],
    ['no HTTP', 'nonsense\r\n\r\n', 400],
    ['a broken chunk', 'POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n', 400],
    ['CONNECT', 'CONNECT a:80 HTTP/1.1\r\nHost: a\r\n\r\n', 405],
    ['an unknown expectation', 'GET / HTTP/1.1\r\nHost: a\r\nExpect: nonsense\r\n\r\n', 417],
    ['an absolute URL that cannot be parsed', 'GET http://[::1 HTTP/1.1\r\nHost: a\r\n\r\n', 400],
    ['a path in Latin-1', 'GET /zo%EB HTTP/1.1\r\nHost: a\r\n\r\n', 400],
    ['a query in Latin-1', 'GET /?q=%C3%AB&r=%eb HTTP/1.1\r\nHost: a\r\n\r\n', 400],
    ['a cut character', 'GET /%E0%A4%A HTTP/1.1\r\nHost: a\r\n\r\n', 400],
    ['half a surrogate pair', 'GET /%ED%A0%80 HTTP/1.1\r\nHost: a\r\n\r\n', 400],
    ['headers that do not end', 'GET / HTTP/1.1\r\nHost: a\r\n', 408],
    ['a body that does not end', 'POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\nhalf', 408],
    ['a body of 1-byte chunks', chunked('1\r\na\r\n'.repeat(11_000)), 400],
    ['too long extensions of a chunk', chunked(`1;${'e'.repeat(20_000)}\r\na\r\n0\r\n\r\n`), 413],
  ])('gets the error body for %s', async (_, text, status) => {
    const answer = await send(text)
    expect(answer).toMatch(new RegExp(`^HTTP/1\\.1 ${status} [A-Z]`))
    const [head, body] = answer.split('\r\n\r\n')
    expect(head.toLowerCase()).toContain('content-type: application/json')
    expect(JSON.parse(body.slice(body.indexOf('{'), body.lastIndexOf('}') + 1))).toEqual({
      code: expect.stringMatching(/^[A-Z_]+$/),
      message: expect.stringMatching(/\.$/),
      status,
    })
    expect(answer.match(/HTTP\/1\.1 \d/g)).toHaveLength(1)
  })

  it.each(['/zo%C3%AB', '/%F0%9F%91%95?q=100%', '/?q=%zz', '/%'])('is not one for %s', async (url) => {
    expect(await send(`GET ${url} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n`)).toMatch(/handled/)
  })

  it('is not one with 9,000 chunks of 1 byte, or more chunks of 256', async () => {
    expect(await send(chunked(`${'1\r\na\r\n'.repeat(9000)}0\r\n\r\n`, 'close'))).toMatch(/handled$/)
    const chunk = `100\r\n${'a'.repeat(256)}\r\n`
    expect(await send(chunked(`${chunk.repeat(15_000)}0\r\n\r\n`, 'close'))).toMatch(/handled$/)
  })

  it('is not answered in place of an earlier one on its connection', async () => {
    expect(await send('GET /slow HTTP/1.1\r\nHost: a\r\n\r\nnonsense\r\n\r\n')).toBe('')
  })
})

function chunked(body: string, connection = 'keep-alive'): string {
  return `POST / HTTP/1.1\r\nHost: a\r\nConnection: ${connection}\r\nTransfer-Encoding: chunked\r\n\r\n${body}`
}
