import { request as httpRequest } from 'node:http'
import { text } from 'node:stream/consumers'
import sharp from 'sharp'
import { afterAll, describe, expect, it } from 'vitest'
import { createAccounts } from '../../api/accounts/accounts.store.ts'
import { createOperatorSessions } from '../../api/dashboard/sign-in/operator-sessions.store.ts'
import { createOperators } from '../../api/dashboard/sign-in/operators.store.ts'
import { hashPassword } from '../../api/dashboard/sign-in/password.ts'
import { reserveFreePort } from '../../scripts/stack/ports.ts'
import { startDrape } from '../support/drape.ts'
import { box } from '../support/heic-file.ts'
import { MAX_LOOP_MS, measureLoop } from '../support/loop-time.ts'
import { chunk } from '../support/odd-images.ts'

const IS_LONG = process.env.LONG_TESTS === '1'

/** Node takes 16 KB of headers; the request needs a few hundred bytes itself. */
const HEADER_BYTES = 15_000
const filling = (part: string, end = '') => part.repeat(Math.floor((HEADER_BYTES - end.length) / part.length)) + end

const VALUES: Readonly<Record<string, string>> = {
  'a,': filling('a,'),
  ', ': filling(', '),
  ' ,': filling('x ,'),
  spaces: `a${filling(' ')}b`,
  'spaces at the start': filling(' ', 'b'),
  tabs: `a${filling('\t')};`,
  'a/b;q=': filling('a/b;q=0.1,'),
  '*/*': filling('*/*,'),
  ';': `text/html${filling(';')}`,
  '; ': `application/json${filling('; ', 'x')}`,
  ';a=': `application/json${filling(';a=b')}`,
  ';"': `application/json; a="${filling('\\"')}`,
  quotes: filling('"'),
  'W/"a",': filling('W/"a",'),
  '=': filling('='),
  'a=b;': filling('a=b;'),
  'a=b; ': filling('a=b; '),
  '; many': filling(';  drape-operator'),
  'name=': filling('drape-operator=a;'),
  'bytes=': `bytes=${filling('0-1,')}`,
  'bytes= spaces': `bytes=0-${filling(' ')}x`,
  ':': filling(':'),
  '1.1.1.1,': filling('1.1.1.1,'),
  '[': filling('['),
  '%41': filling('%41'),
  '\\': filling('\\'),
  'Bearer spaces': `Bearer ${filling(' ')}x y`,
  'Bearer long': `Bearer pk_${filling('a')}`,
  'boundary=': `multipart/form-data; boundary=${filling('-')}`,
  'boundary=;': `multipart/form-data;${filling('boundary=;')}`,
  'multipart spaces': `multipart/form-data;${filling(' ', 'x')}`,
  'charset=': `application/json; charset=${filling('a')}`,
  '00-': filling('00-'),
  'a@': filling('a@1,'),
}
const HEADERS = [
  ...['accept', 'accept-language', 'accept-encoding', 'cookie', 'if-none-match', 'if-modified-since', 'forwarded'],
  ...['range', 'content-type', 'traceparent', 'tracestate', 'baggage', 'authorization', 'x-api-key', 'x-request-id'],
  ...['x-forwarded-for', 'x-forwarded-host', 'x-forwarded-proto', 'origin', 'host', 'idempotency-key', 'user-agent'],
  ...['x-service-anonymous-id', 'x-service-visitor-token', 'x-service-customer-id', 'x-service-customer-email'],
  ...['x-drape-shop', 'x-drape-signature', 'x-drape-timestamp', 'x-drape-nonce', 'x-shopify-shop-domain'],
  ...['x-shopify-hmac-sha256', 'expect', 'te', 'content-disposition', 'referer', 'access-control-request-headers'],
]

const TARGET_BYTES = 15_000
const stuffed = (part: string) => part.repeat(Math.floor(TARGET_BYTES / part.length))
const PATHS = ['/tryon/v1/products', '/public/download-image', '/s/a', '/objects/a', '/webhooks/shopify']
const QUERIES = {
  parameters: stuffed('a=b&'),

  'the same parameter': stuffed('limit=1&'),
  ampersands: stuffed('&'),
  nested: `a${stuffed('[a]')}=1`,
  escapes: `a=${stuffed('%E4')}`,
  pluses: `a=${stuffed('+')}`,
  'a cursor': `cursor=${stuffed('QUJD')}`,
  'a cursor of escapes': `cursor=${stuffed('%2B')}`,
  'a url': `url=http://${stuffed('a.')}`,
  'a url of slashes': `url=http:${stuffed('/')}`,
  'a url of dots': `url=http://a/${stuffed('../')}`,
  'a filename': `url=http://a&filename=${stuffed('%20.')}`,
  'a signature': `signature=${stuffed('a')}&shop=${stuffed('.').slice(0, 50)}`,
}
const LONG_PATHS = {
  slashes: stuffed('/'),
  dots: `/objects${stuffed('/..')}`,
  escapes: `/tryon/v1/products/${stuffed('%2F')}`,
  folders: `/objects/${stuffed('a/')}`,
  names: `/tryon/v1/products/${stuffed('a')}`,
  'a generation': `/tryon/v1/generations/${stuffed('%E2%82%AC')}`,
  'a token': `/s/${stuffed('a.')}`,
  'a playground file': `/playground/${stuffed('x/')}`,
}
const MB = 1024 * 1024
const FORM = 'application/x-www-form-urlencoded'
const kb = (part: string, bytes: number) => part.repeat(Math.floor(bytes / part.length))
const FORMS = {
  'many fields': kb('a=b&', 256_000),
  'many empty fields': kb('&', 256_000),
  '999 fields': kb('a=b&', 999 * 4),
  'a field of escapes': `email=${kb('%41', 250_000)}`,
  'a field of pluses': `email=${kb('+', 250_000)}`,
  'a field of half escapes': `email=${kb('%', 250_000)}`,
  'a field of spaces': `email=a${kb('%20', 250_000)}b&password=${kb('%20', 100)}`,
  'a password': `email=ada@example.com&password=${kb('a', 250_000)}`,
  'an address': `email=${kb('a@', 250_000)}`,
  'one field without value': kb('a', 250_000),
  'more than is read': kb('a', MB),
}
const part = (head: string, body = '0') => `--x\r\n${head}\r\n\r\n${body}\r\n`
const field = (name: string, body?: string) => part(`content-disposition: form-data; name="${name}"`, body)
const MULTIPARTS = {
  'very many parts': '--x\r\n\r\n\r\n'.repeat(MB / 11),
  '99 parts': [...Array(99).keys()].map((i) => field(`f${i}`)).join(''),
  '99 parts with one name': field('data').repeat(99),
  'headers of one part': part(`content-disposition: form-data; name="a"\r\n${'a: b\r\n'.repeat(2000)}c: d`),
  'a long header': part(`content-disposition: form-data; name="a"; ${'filename="'.repeat(1500)}`),
  'a header of spaces': part(`content-disposition:${' '.repeat(15_000)}form-data; name="a"`),
  'a header of semicolons': part(`content-disposition: form-data${'; '.repeat(7000)}name="a"`),
  'a name of escapes': part(`content-disposition: form-data; name="${'%22'.repeat(5000)}"`),
  'a type of parameters': part(`content-disposition: form-data; name="a"\r\ncontent-type: a/b${';a=b'.repeat(3500)}`),
  'a field of 1 MB': field('data', '['.repeat(MB - 500)),
  'a field of line ends': field('data', '\r\n'.repeat(MB / 2 - 500)),
  'a field of dashes': field('data', '\r\n-'.repeat(MB / 3 - 500)),
  'a field of half boundaries': field('data', '\r\n--'.repeat(MB / 4 - 500)),
  'other fields of 1 MB': [...Array(19).keys()].map((i) => field(`f${i}`, 'a'.repeat(MB / 20))).join(''),
}

/** Just below the limit of a file. */
const FILE_BYTES = 10 * MB - 2000
const repeated = (...bytes: number[]) => Buffer.alloc(FILE_BYTES, Buffer.from(bytes))
const plain = () => sharp({ create: { width: 64, height: 64, channels: 3, background: '#a04020' } })
const jpegWith = async (data: Buffer, at: (file: Buffer) => number) => {
  const file = await plain().jpeg().toBuffer()
  return Buffer.concat([file.subarray(0, at(file)), data, file.subarray(at(file))])
}
const startOfScan = (file: Buffer) => file.indexOf(Buffer.from([0xff, 0xda]))
const dataOfScan = (file: Buffer) => startOfScan(file) + 2 + file.readUInt16BE(startOfScan(file) + 2)
const FILES: Readonly<Record<string, () => Promise<Buffer>>> = {
  'a JPEG scan of stuffed bytes': () => jpegWith(repeated(0xff, 0), dataOfScan),
  'a JPEG scan of fill bytes': () => jpegWith(repeated(0xff), dataOfScan),
  'a JPEG scan of restart markers': () => jpegWith(repeated(0xff, 0xd0), dataOfScan),
  'a JPEG with stuffed bytes before its frame': () => jpegWith(repeated(0xff, 0), () => 2),
  'a JPEG of fill bytes without an end': async () =>
    Buffer.concat([(await plain().jpeg().toBuffer()).subarray(0, -2), repeated(0xff)]),
  'a PNG of empty chunks': async () => {
    const file = await plain().png().toBuffer()
    const empty = Buffer.alloc(FILE_BYTES, chunk('IDAT', Buffer.alloc(0)))
    return Buffer.concat([file.subarray(0, -12), empty.subarray(0, FILE_BYTES - (FILE_BYTES % 12)), file.subarray(-12)])
  },
  'a WebP with a chunk of V': async () => {
    const file = await plain().webp().toBuffer()
    const size = (bytes: number) => Buffer.from(Uint32Array.of(bytes).buffer)
    const whole = Buffer.concat([file, Buffer.from('junk'), size(FILE_BYTES), Buffer.alloc(FILE_BYTES, 'V')])
    whole.writeUInt32LE(whole.length - 8, 4)
    return whole
  },
  'a HEIC of empty boxes': async () => {
    const boxes = Buffer.alloc(FILE_BYTES, box('free')).subarray(0, FILE_BYTES - (FILE_BYTES % 8))
    const size = box('ispe', Buffer.from(Uint8Array.of(0, 0, 0, 0, 0, 0, 3, 0, 0, 0, 3, 0)))
    const meta = box('meta', Buffer.alloc(4), box('iprp', box('ipco', size, boxes)))
    return Buffer.concat([box('ftyp', Buffer.from('heic\0\0\0\0heic')), meta])
  },
}

interface Sent {
  readonly method?: string
  readonly path: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string | Buffer
}

/** Like no client would: any header, any path. Resolves with the status, or null when the server hung up. */
function send(base: string, { method = 'GET', path, headers = {}, body }: Sent): Promise<number | null> {
  return new Promise((resolve) => {
    const sent = httpRequest(base, { method, path, headers, insecureHTTPParser: true }, async (response) => {
      await text(response).catch(() => '')
      resolve(response.statusCode ?? null)
    })
    sent.on('error', () => resolve(null))
    sent.end(body)
  })
}

/** A multipart body with one file. */
function formWith(file: Buffer): Buffer {
  const head = '--x\r\ncontent-disposition: form-data; name="file"; filename="a"\r\n\r\n'
  return Buffer.concat([Buffer.from(head), file, Buffer.from('\r\n--x--')])
}

describe('a request blocks the event loop only briefly', async () => {
  const dashboard = await reserveFreePort()
  await dashboard.release()
  const limits = { EVENTS_PER_MINUTE: '100000000' }
  const drape = await startDrape({
    separate: true,
    env: {
      PROXY_HOPS: '1',
      DASHBOARD_PORT: String(dashboard.port),
      ...limits,
      ...(process.env.PROF && { NODE_OPTIONS: '--cpu-prof --cpu-prof-dir=/tmp/prof' }),
    },
  })
  const dashboardUrl = `http://127.0.0.1:${dashboard.port}`
  const operator = await createOperators(drape.database).insert({
    ...{
      email: 'ada@example.com',
      name: 'Ada',
      role: 'admin',
      passwordHash: await hashPassword('correct horse battery'),
    },
  })
  const id = (operator as { id: string }).id
  const proof = {
    server: { 'x-api-key': drape.apiKey },
    shopper: {
      authorization: `Bearer ${await createAccounts(drape.database).insertKey(drape.accountId, 'publishable')}`,
    },
    operator: { cookie: `drape-operator=${await createOperatorSessions(drape.database).insert(id)}` },
  }
  afterAll(() => drape?.stop())

  // Each request comes from another address: what is refused for its rate is not read.
  let addresses = 0
  const costOf = async (base: string, sent: Sent, enoughMs = MAX_LOOP_MS) => {
    const from = { 'x-forwarded-for': `10.0.${addresses >> 8}.${addresses++ & 255}` }
    const run = () => send(base, { ...sent, headers: { ...from, ...sent.headers } })
    return measureLoop(drape.api.pid, run, { enoughMs })
  }
  const attack = async (about: string, base: string, sent: Sent, receivingMs = 0) => {
    const { ms, result } = await costOf(base, sent, MAX_LOOP_MS + receivingMs)
    if (process.env.SHOW_COST) console.log(`COST ${ms.toFixed(1)} ms ${result} ${about}`)
    expect(ms - receivingMs, about).toBeLessThan(MAX_LOOP_MS)
  }

  /** The same header does different things on different routes. */
  const routesWith = (header: Record<string, string>): readonly (readonly [base: string, sent: Sent])[] => {
    const headers = { ...proof.server, ...proof.shopper, ...header }
    const post = { method: 'POST', body: '{}', headers: { 'content-type': 'application/json', ...headers } }
    return [
      [drape.api.url, { path: '/tryon/v1/products', headers }],
      [drape.api.url, { path: '/s/a', headers }],
      [drape.api.url, { path: '/tryon/v1/openapi.json', headers }],
      [drape.api.url, { ...post, path: '/storefront/v1/events' }],
      [drape.api.url, { ...post, path: '/tryon/v1/try-on' }],
      [dashboardUrl, { path: '/', headers: { ...proof.operator, ...header } }],
      [dashboardUrl, { ...post, path: '/sign-in', headers: { origin: dashboardUrl, ...header } }],
    ]
  }

  it.each([...HEADERS.entries()])('with any header %i, %s', async (number, name) => {
    for (const [i, [about, value]] of Object.entries(VALUES).entries()) {
      if (!IS_LONG && (i + number) % 4 > 0) continue
      const routes = routesWith({ [name]: value })
      const attacked = IS_LONG ? routes : [routes[(i + number) % routes.length]]
      for (const [base, sent] of attacked) await attack(`${name}: ${about} at ${sent.path}`, base, sent)
    }
  })

  it('with any query', async () => {
    for (const [about, query] of Object.entries(QUERIES)) {
      for (const path of PATHS) {
        await attack(`${about} at ${path}`, drape.api.url, { path: `${path}?${query}`, headers: proof.server })
      }
      await attack(`${about} at the dashboard`, dashboardUrl, {
        path: `/generations?${query}`,
        headers: proof.operator,
      })
      await attack(`${about} at the sign-in`, dashboardUrl, { path: `/sign-in?next=${query}` })
    }
  })

  it('with any path', async () => {
    for (const [about, path] of Object.entries(LONG_PATHS)) {
      await attack(about, drape.api.url, { path, headers: proof.server })
      await attack(about, dashboardUrl, { path, headers: proof.operator })
    }
  })

  it.each(Object.entries(FORMS))('with a form of the dashboard of %s', async (about, body) => {
    for (const path of ['/sign-in', '/accounts', '/sign-in/second-factor']) {
      const headers = { origin: dashboardUrl, 'content-type': FORM, ...(path === '/accounts' && proof.operator) }
      await attack(`${about} at ${path}`, dashboardUrl, { method: 'POST', path, headers, body })
    }
  })

  it.each(Object.entries(MULTIPARTS))('with a multipart body of %s', async (about, body) => {
    const type = { 'content-type': 'multipart/form-data; boundary=x' }
    const sent = { method: 'POST', body: `${body}--x--` }
    await attack(about, drape.api.url, { ...sent, path: '/tryon/v1/try-on', headers: { ...proof.server, ...type } })
    await attack(`${about} at the dashboard`, dashboardUrl, {
      ...sent,
      path: '/accounts',
      headers: { ...proof.operator, ...type, origin: dashboardUrl },
    })
  })

  it.each(Object.entries(FILES))('with %s', async (about, makeFile) => {
    const headers = { ...proof.server, 'content-type': 'multipart/form-data; boundary=x' }
    const upload = { method: 'POST', path: '/tryon/v1/images/upload', headers }
    // Receiving a large file takes many short turns of the loop.
    const { ms } = await costOf(drape.api.url, { ...upload, body: formWith(repeated(0)) }, 0)
    await attack(about, drape.api.url, { ...upload, body: formWith(await makeFile()) }, ms)
  })
})
