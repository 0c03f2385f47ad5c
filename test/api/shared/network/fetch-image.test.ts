import { channel } from 'node:diagnostics_channel'
import { readFileSync } from 'node:fs'
import { createServer, type IncomingHttpHeaders, type RequestListener } from 'node:http'
import { createServer as createSecureServer } from 'node:https'
import { type AddressInfo, createServer as createRawServer, type Server, type Socket } from 'node:net'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { getCACertificates, setDefaultCACertificates } from 'node:tls'
import { brotliCompressSync, constants, gzipSync } from 'node:zlib'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { DrapeError } from '../../../../api/shared/contract/errors.ts'
import { createImageFetcher, type ImageFetcherSettings } from '../../../../api/shared/network/fetch-image.ts'
import { createHostLookup } from '../../../../api/shared/network/host-lookup.ts'

const JPEG = Buffer.concat([Buffer.from('ffd8ffe000104a464946', 'hex'), Buffer.alloc(5000, 7)])
const CERTIFICATE = join(import.meta.dirname, '../../../fixtures/tls')
const servers: Server[] = []
let port = 0
let listener: RequestListener = (_, response) => response.end(JPEG)
let requests: { url: string | undefined; headers: IncomingHttpHeaders }[] = []
let connections = 0
const countConnection = () => connections++

async function listen(server: Server): Promise<number> {
  servers.push(server.listen(0, '127.0.0.1'))
  await new Promise((resolve) => server.once('listening', resolve))
  return (server.address() as AddressInfo).port
}

function close(server: Server): void {
  if ('closeAllConnections' in server && typeof server.closeAllConnections === 'function') server.closeAllConnections()
  server.close()
}

beforeAll(async () => {
  port = await listen(
    createServer((request, response) => {
      requests.push({ url: request.url, headers: request.headers })
      listener(request, response)
    }),
  )
  channel('net.client.socket').subscribe(countConnection)
})
beforeEach(() => {
  requests = []
  connections = 0
})
afterEach(() => {
  for (const server of servers.splice(1)) close(server)
})
afterAll(() => {
  channel('net.client.socket').unsubscribe(countConnection)
  servers.forEach(close)
})

/** A fetcher that may connect to this machine, to which every host resolves by default. */
function fetcher(changes: Partial<ImageFetcherSettings> = {}) {
  return createImageFetcher({
    failureCode: 'CUSTOMER_IMAGE_FETCH_FAILED',
    allowCidrs: ['127.0.0.1/32'],
    allowPorts: [port, 80, 443],
    lookup: async () => ['127.0.0.1'],
    ...changes,
  })
}

async function failureOf(
  fetching: Promise<unknown>,
  code: DrapeError['code'] = 'CUSTOMER_IMAGE_FETCH_FAILED',
): Promise<string> {
  const outcome = await fetching.then(
    () => 'fetched',
    (error: unknown) => error,
  )
  if (!(outcome instanceof DrapeError)) throw outcome
  expect(outcome).toMatchObject({ code, retryable: false })
  expect(outcome.message).not.toMatch(/127\.|localhost|internal|ECONN|EHOST/)
  return outcome.message
}

const here = (path = '/') => `http://shop.example:${port}${path}`

describe('fetching an image', () => {
  it('returns the bytes, with the host name in the request', async () => {
    listener = (_, response) => response.end(JPEG)
    expect(await fetcher()(here('/coat.jpg?size=2#top'))).toEqual(JPEG)
    expect(requests).toHaveLength(1)
    expect(requests[0].url).toBe('/coat.jpg?size=2')
    expect(requests[0].headers).toMatchObject({ host: `shop.example:${port}`, 'accept-encoding': 'identity' })
    expect(requests[0].headers.accept).not.toMatch(/\*|avif/)
  })

  it('fetches from a literal address that is allowed', async () => {
    listener = (_, response) => response.end(JPEG)
    expect(await fetcher()(`http://127.0.0.1:${port}/`)).toEqual(JPEG)
  })

  it('accepts a body without length', async () => {
    listener = (_, response) => Readable.from([JPEG.subarray(0, 100), JPEG.subarray(100)]).pipe(response)
    expect(await fetcher()(here())).toEqual(JPEG)
  })

  it.each([
    ['gzip', gzipSync(JPEG)],
    ['GZIP', gzipSync(JPEG)],
    ['br', brotliCompressSync(JPEG)],
    ['identity', JPEG],
  ])('understands a server that sends %s', async (encoding, body) => {
    listener = (_, response) => response.writeHead(200, { 'content-encoding': encoding }).end(body)
    expect(await fetcher()(here())).toEqual(JPEG)
  })

  it('accepts at most 10 MiB', async () => {
    let size = 10 * 1024 * 1024
    listener = (_, response) => response.end(Buffer.concat([JPEG, Buffer.alloc(size - JPEG.length)]))
    expect((await fetcher()(here())).length).toBe(10_485_760)
    size++
    expect(await failureOf(fetcher()(here()), 'FILE_TOO_LARGE')).toMatch(/larger than 10485760 bytes/)
    const ofProduct = fetcher({ failureCode: 'PRODUCT_IMAGE_FETCH_FAILED' })
    expect(await failureOf(ofProduct(here()), 'PRODUCT_IMAGE_FETCH_FAILED')).toMatch(/larger than/)
  })

  it('fails with the error code of the caller', async () => {
    listener = (_, response) => response.writeHead(404).end()
    const fetching = fetcher({ failureCode: 'PRODUCT_IMAGE_FETCH_FAILED' })(here())
    await expect(fetching).rejects.toMatchObject({ code: 'PRODUCT_IMAGE_FETCH_FAILED' })
  })
})

const FORBIDDEN_HOSTS = `
  127.0.0.1 127.1 127.0.1 127.000.000.001 2130706433 0x7f000001 0x7f.1 0x7f.0.0.1 0X7F.0X0.0X0.0X1 0177.0.0.1 0177.1
  017700000001 127.0.0.1. 127.1. 127.255.255.254 127.0.0.2 %31%32%37.0.0.1 127%2e0%2e0%2e1 １２７.0.0.1 127。0。0。1 ①②⑦.0.0.1
  0 0x0 00 0.0.0.0 0.0.0.1 0.255.255.255 [::] [::0] [0:0:0:0:0:0:0:0] [::1] [0:0:0:0:0:0:0:1] [0000:0000:0000:0000:0000:0000:0000:0001]
  [::ffff:127.0.0.1] [::ffff:7f00:1] [::FFFF:7F00:0001] [0:0:0:0:0:ffff:127.0.0.1] [::ffff:127.0.0.2] [::127.0.0.1] [::7f00:1]
  [::ffff:0:127.0.0.1] [64:ff9b::127.0.0.1] [64:ff9b::7f00:1] [64:ff9b:1::7f00:1] [2002:7f00:1::] [2002:a00:1::1] [2001::1]
  [::ffff:0.0.0.0] [::ffff:0:0] [::ffff:10.0.0.1] [::ffff:a9fe:a9fe] [::ffff:192.168.1.1]
  10.0.0.1 10.1 167772161 0xa000001 012.0.0.1 10.255.255.255 172.16.0.1 172.31.255.255 0xac100001 192.168.0.1 192.168.1
  3232235777 0xc0a80101 0300.0250.1.1 100.64.0.1 100.127.255.254 100.100.100.200 169.254.169.254 169.254.1 2852039166 0xa9fea9fe
  0251.0376.0251.0376 168.63.129.16 192.0.0.192 192.0.2.1 198.18.0.1 198.19.255.254 198.51.100.7 203.0.113.9 224.0.0.1 239.1.1.1
  240.0.0.1 255.255.255.255 4294967295 0xffffffff [fc00::1] [fd00::1] [fd00:ec2::254] [fe80::1] [fec0::1] [ff02::1]
  [2001:db8::1] [3fff::1] [100::1] [5f00::1] localhost LOCALHOST`
  .trim()
  .split(/\s+/)

describe('the host of a URL', () => {
  const guarded = (changes: Partial<ImageFetcherSettings> = {}) =>
    createImageFetcher({
      failureCode: 'CUSTOMER_IMAGE_FETCH_FAILED',
      allowCidrs: [],
      allowPorts: [port, 80, 443],
      timeoutMs: 5000,
      lookup: createHostLookup({ servers: [] }),
      ...changes,
    })

  it('is tested with at least 80 spellings of forbidden hosts', () => {
    expect(new Set(FORBIDDEN_HOSTS).size).toBeGreaterThanOrEqual(80)
  })

  it.each(FORBIDDEN_HOSTS)('is not http://%s, and not one connection is opened', async (host) => {
    const message = await failureOf(guarded()(`http://${host}:${port}/`))
    expect(message).toMatch(/is unreachable|not a valid/)
    expect(connections).toBe(0)
  })

  it.each([
    ['127.0.0.1'],
    ['93.184.216.34', '127.0.0.1'],
    ['2606:4700::1111', '::ffff:10.0.0.1'],
    ['fe80::1%eth0'],
    ['not an address'],
    [],
  ])('is no host whose addresses are %j %j', async (...addresses) => {
    const message = await failureOf(guarded({ lookup: async () => addresses })(here()))
    expect(message).toMatch(/is unreachable/)
    expect(connections).toBe(0)
  })

  it('gives the same error message if unknown, private or silent', async () => {
    const unknown = guarded({ lookup: async () => Promise.reject(new Error('getaddrinfo ENOTFOUND db.internal')) })
    const closed = await listen(createRawServer())
    servers.pop()?.close()
    const messages = await Promise.all([
      failureOf(unknown('http://db.internal/')),
      failureOf(guarded()('http://10.0.0.1/')),
      failureOf(fetcher({ allowPorts: [closed] })(`http://127.0.0.1:${closed}/`)),
    ])
    expect(new Set(messages).size).toBe(1)
  })

  it.each([
    ['ftp://shop.example/coat.jpg', /valid http/],
    ['file:///etc/passwd', /valid http/],
    ['data:image/png;base64,iVBORw0KGgo=', /valid http/],
    ['//shop.example/coat.jpg', /valid http/],
    ['coat.jpg', /valid http/],
    ['', /valid http/],
    ['http://', /valid http/],
    ['http://shop.example:65536/', /valid http/],
    ['http://[fe80::1%25eth0]/', /valid http/],
    ['http://user@shop.example/', /credentials/],
    ['http://user:secret@shop.example/', /credentials/],
    ['http://:secret@shop.example/', /credentials/],
    ['http://shop.example:22/', /port/],
    ['http://shop.example:6379/', /port/],
    ['http://shop.example:5432/', /port/],
    ['https://shop.example:8443/', /port/],
    ['http://shop.example:0/', /port/],
  ])('is not %s', async (url, reason) => {
    expect(await failureOf(fetcher()(url))).toMatch(reason)
    expect(connections).toBe(0)
  })

  it('is connected at the checked address, even if the DNS record changes', async () => {
    const answers = [['127.0.0.1'], ['10.0.0.1']]
    listener = ({ url }, response) => {
      if (url === '/moved') response.writeHead(302, { location: '/' }).end()
      else response.end(JPEG)
    }
    const moving = fetcher({ lookup: async () => answers.shift() ?? [] })
    expect(await moving(here())).toEqual(JPEG)
    expect(answers).toHaveLength(1)

    answers.unshift(['127.0.0.1'])
    expect(await failureOf(moving(here('/moved')))).toMatch(/is unreachable/)
    expect(requests.map(({ url }) => url)).toEqual(['/', '/moved'])
    expect(connections).toBe(2)
  })

  it('is refused when the resolver never responds', async () => {
    const silent = fetcher({ timeoutMs: 50, lookup: () => new Promise(() => {}) })
    expect(await failureOf(silent(here()))).toMatch(/too long/)
  })
})

describe('redirects', () => {
  const redirectTo = (location: string, status = 302): RequestListener => {
    return (_, response) => response.writeHead(status, { location, 'set-cookie': 'visited=1' }).end('moved')
  }

  it.each([301, 302, 303, 307, 308])('are followed after %i, without credentials or Referer', async (status) => {
    listener = (request, response) => {
      if (request.url === '/old') redirectTo('/new', status)(request, response)
      else response.end(JPEG)
    }
    expect(await fetcher()(here('/old'))).toEqual(JPEG)
    expect(requests.map(({ url }) => url)).toEqual(['/old', '/new'])
    for (const header of ['cookie', 'referer', 'authorization']) expect(requests[1].headers).not.toHaveProperty(header)
  })

  it.each([
    ['/gr\u00fcn/ma\u00df.jpg', '/gr%c3%bcn/ma%c3%9f.jpg'],
    ['ma\u00df.jpg?gr\u00f6\u00dfe=\u00fc', '/old/ma%c3%9f.jpg?gr%c3%b6%c3%9fe=%c3%bc'],
    ['/\u6771\u4eac.jpg', '/%e6%9d%b1%e4%ba%ac.jpg'],
    ['/gr%C3%BCn.jpg', '/gr%C3%BCn.jpg'],
    ['/a b.jpg', '/a%20b.jpg'],
    ['/100%25.jpg', '/100%25.jpg'],
    ['/100%.jpg', '/100%.jpg'],
    [() => Buffer.from('/gr\xfcn.jpg', 'latin1'), '/gr%fcn.jpg'],
    [() => `http://b\u00fccher.example:${port}/\u00fc`, '/%c3%bc'],
  ])('to %s lead to the bytes that the server named', async (location, path) => {
    const target = typeof location === 'string' ? location : location()
    const looked: string[] = []
    const lookup = async (host: string) => {
      looked.push(host)
      return ['127.0.0.1']
    }
    listener = (request, response) => {
      if (request.url !== '/old/image') response.end(JPEG)
      else {
        // Not by `setHeader`, which writes other bytes.
        const head = 'HTTP/1.1 302 Found\r\ncontent-length: 0\r\nlocation: '
        const bytes = typeof target === 'string' ? Buffer.from(target) : target
        response.socket?.end(Buffer.concat([Buffer.from(head), bytes, Buffer.from('\r\n\r\n')]))
      }
    }
    expect(await fetcher({ lookup })(`http://shop.example:${port}/old/image`)).toEqual(JPEG)
    expect(requests.map(({ url }) => url)).toEqual(['/old/image', path])
    expect(looked[1]).toBe(path === '/%c3%bc' ? 'xn--bcher-kva.example' : 'shop.example')
  })

  it('are followed at most three times', async () => {
    listener = (request, response) => {
      const left = Number(request.url?.slice(1))
      if (left > 0) redirectTo(`/${left - 1}`)(request, response)
      else response.end(JPEG)
    }
    expect(await fetcher()(here('/3'))).toEqual(JPEG)
    requests = []
    expect(await failureOf(fetcher()(here('/4')))).toMatch(/too often/)
    expect(requests).toHaveLength(4)
  })

  it.each([
    ['http://127.0.0.2/', /is unreachable/],
    ['http://169.254.169.254/latest/meta-data/', /is unreachable/],
    ['http://[::1]/', /is unreachable/],
    ['http://2130706434/', /is unreachable/],
    ['//10.0.0.1/', /is unreachable/],
    ['http://shop.example:6379/', /port/],
    ['http://me:secret@shop.example/', /credentials/],
    ['file:///etc/passwd', /valid http/],
    ['gopher://shop.example/', /valid http/],
    ['http://[/', /valid http/],
  ])('to %s are refused', async (location, reason) => {
    listener = redirectTo(location)
    expect(await failureOf(fetcher()(here()))).toMatch(reason)
    expect(connections).toBe(1)
  })

  it('without a target are failures', async () => {
    listener = (_, response) => response.writeHead(302).end()
    expect(await failureOf(fetcher()(here()))).toMatch(/returned 302/)
  })
})

describe('https', () => {
  const trusted = getCACertificates('default')
  const certificate = readFileSync(join(CERTIFICATE, 'shop-certificate.pem'), 'utf8')
  const key = readFileSync(join(CERTIFICATE, 'shop-key.pem'), 'utf8')
  const serve = (answer: RequestListener) => listen(createSecureServer({ cert: certificate, key }, answer))

  beforeAll(() => setDefaultCACertificates([...trusted, certificate]))
  afterAll(() => setDefaultCACertificates(trusted))

  it('is fetched when the certificate names the host', async () => {
    const secure = await serve((_, response) => response.end(JPEG))
    const fetchImage = fetcher({ allowPorts: [secure] })
    expect(await fetchImage(`https://shop.example:${secure}/`)).toEqual(JPEG)
    expect(await failureOf(fetchImage(`https://other.example:${secure}/`))).toMatch(/is unreachable/)
  })

  it('is never left for http', async () => {
    listener = (_, response) => response.end(JPEG)
    const secure = await serve((_, response) => response.writeHead(301, { location: here() }).end())
    const fetching = fetcher({ allowPorts: [secure, port] })(`https://shop.example:${secure}/`)
    expect(await failureOf(fetching)).toMatch(/from https to http/)
    expect(requests).toHaveLength(0)
  })

  it('may be the target of a redirect from http', async () => {
    const secure = await serve((_, response) => response.end(JPEG))
    listener = (_, response) => response.writeHead(301, { location: `https://shop.example:${secure}/` }).end()
    expect(await fetcher({ allowPorts: [secure, port] })(here())).toEqual(JPEG)
  })
})

describe('responses without an image', () => {
  it.each([201, 204, 205, 206, 304, 400, 401, 403, 404, 410, 429, 500, 503])('fail with status %i', async (status) => {
    listener = (_, response) => response.writeHead(status).end()
    const reason = status === 201 ? 'does not return an image' : `returned ${status}`
    expect(await failureOf(fetcher()(here()))).toMatch(reason)
  })

  it.each([
    '<!DOCTYPE html><title>Sign in</title>',
    '\ufeff\n <html lang="en">',
    '<HEAD>',
    '',
    '{"error":"not found"}',
    'Access denied',
    '<?xml version="1.0"?><Error><Code>NoSuchKey</Code></Error>',
    '%PDF-1.7',
    'PK\x03\x04',
  ])('fail when %j comes instead', async (body) => {
    listener = (_, response) => response.writeHead(200, { 'content-type': 'image/jpeg' }).end(body)
    expect(await failureOf(fetcher()(here()))).toMatch(/does not return an image/)
  })

  it.each(['GIF89a', '<svg xmlns="http://www.w3.org/2000/svg"/>', '\0\0\0\x1cftypavif', 'II*\0'])(
    'return an image of another format: %j',
    async (body) => {
      listener = (_, response) => response.end(Buffer.from(body, 'latin1'))
      expect((await fetcher()(here())).toString('latin1')).toBe(body)
    },
  )

  it('fail if Content-Length exceeds the limit', async () => {
    listener = (_, response) => response.writeHead(200, { 'content-length': 10 * 2 ** 30 }).write('x')
    expect(await failureOf(fetcher()(here()), 'FILE_TOO_LARGE')).toMatch(/larger than/)
  })

  it('fail when the body never ends, and the connection is closed', async () => {
    const closed = new Promise((resolve) => {
      listener = (request, response) => {
        request.socket.once('close', resolve)
        const fill = () => {
          while (!response.destroyed && response.write(Buffer.alloc(65_536)));
        }
        response.on('drain', fill)
        fill()
      }
    })
    expect(await failureOf(fetcher()(here()), 'FILE_TOO_LARGE')).toMatch(/larger than/)
    await closed
  })

  it.each([
    ['gzip', gzipSync(Buffer.alloc(60_000_000))],
    ['br', brotliCompressSync(Buffer.alloc(20_000_000), { params: { [constants.BROTLI_PARAM_QUALITY]: 1 } })],
  ])('fail when %s unpacks to more than allowed', async (encoding, body) => {
    expect(body.length).toBeLessThan(100_000)
    listener = (_, response) => response.writeHead(200, { 'content-encoding': encoding }).end(body)
    expect(await failureOf(fetcher()(here()), 'FILE_TOO_LARGE')).toMatch(/larger than/)
  })

  it.each([
    ['cut', gzipSync(JPEG).subarray(0, 30)],
    ['not gzip at all', JPEG],
  ])('fail when the gzip is %s', async (_, body) => {
    listener = (_, response) => response.writeHead(200, { 'content-encoding': 'gzip' }).end(body)
    expect(await failureOf(fetcher()(here()))).toMatch(/closed the connection/)
  })

  it.each(['gzip, gzip', 'zstd', 'aes128gcm'])('fail when the encoding is %s', async (encoding) => {
    listener = (_, response) => response.writeHead(200, { 'content-encoding': encoding }).end(JPEG)
    expect(await failureOf(fetcher()(here()))).toMatch(/unknown content encoding/)
  })
})

describe('servers that misbehave', () => {
  async function rawFailure(answer: (socket: Socket) => void, timeoutMs = 5000): Promise<string> {
    const server = createRawServer((socket) => {
      socket.on('error', () => {})
      socket.once('data', () => answer(socket))
    })
    const raw = await listen(server)
    return failureOf(fetcher({ allowPorts: [raw], timeoutMs })(`http://127.0.0.1:${raw}/`))
  }

  function forever(socket: Socket, text: string): void {
    const fill = () => {
      while (!socket.destroyed && socket.write(text));
    }
    socket.on('drain', fill)
    fill()
  }

  it('end half of the promised body early', async () => {
    const head = 'HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\n'
    expect(await rawFailure((socket) => socket.end(`${head}only half of it`))).toMatch(/closed the connection/)
  })

  it('end a chunked body without its last chunk', async () => {
    const head = 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n'
    expect(await rawFailure((socket) => socket.end(`${head}5\r\nhello\r\n`))).toMatch(/closed the connection/)
  })

  it('close without an answer', async () => {
    expect(await rawFailure((socket) => socket.destroy())).toMatch(/closed the connection/)
  })

  it('do not speak HTTP', async () => {
    expect(await rawFailure((socket) => socket.end('-ERR unknown command\r\n'))).toMatch(/closed the connection/)
  })

  it('send headers forever', async () => {
    const failing = rawFailure((socket) => {
      socket.write('HTTP/1.1 200 OK\r\n')
      forever(socket, `x-more: ${'y'.repeat(1000)}\r\n`)
    })
    expect(await failing).toMatch(/closed the connection/)
  })

  it('send interim answers forever', async () => {
    expect(await rawFailure((socket) => forever(socket, 'HTTP/1.1 103 Early Hints\r\n\r\n'), 200)).toMatch(/too long/)
  })

  it('send nothing', async () => {
    expect(await rawFailure(() => {}, 100)).toMatch(/too long/)
  })

  it('send the headers drop by drop', async () => {
    const failing = rawFailure((socket) => {
      const drip = setInterval(() => socket.write('h'), 10)
      socket.once('close', () => clearInterval(drip))
      socket.write('HTTP/1.1 200 OK\r\nx-slow: ')
    }, 150)
    expect(await failing).toMatch(/too long/)
  })

  it('send the body drop by drop', async () => {
    const failing = rawFailure((socket) => {
      socket.write('HTTP/1.1 200 OK\r\ncontent-length: 100000\r\n\r\n')
      const drip = setInterval(() => socket.write('x'), 10)
      socket.once('close', () => clearInterval(drip))
    }, 150)
    expect(await failing).toMatch(/too long/)
  })

  it('spend the time on redirects', async () => {
    listener = (_, response) => {
      setTimeout(() => response.writeHead(302, { location: '/next' }).end(), 60)
    }
    expect(await failureOf(fetcher({ timeoutMs: 100 })(here()))).toMatch(/too long/)
  })
})
