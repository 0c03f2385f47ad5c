import { writeFile } from 'node:fs/promises'
import { connect } from 'node:net'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterAll, describe, expect, it } from 'vitest'
import { reserveFreePort } from '../../scripts/stack/ports.ts'
import { type Drape, startDrape } from '../support/drape.ts'
import { linesOf, spawnProcess, type TestProcess } from '../support/process.ts'
import { asProcess } from '../support/process-roles.ts'
import { requestService } from '../support/request-service.ts'
import { until } from '../support/until.ts'

const RUNS = process.env.LONG_TESTS === '1' ? 20_000 : 250
const AT_ONCE = 50
/** A server that waits for the rest of a request closes nothing. */
const SILENCE_MS = 300

const METHODS = ['GET', 'POST', 'HEAD', 'OPTIONS', 'CONNECT', 'TRACE', 'PRI', 'QUERY', 'M-SEARCH', 'get', '']
const TARGETS = [
  ...[
    '//',
    '///',
    '//:',
    '//[',
    '//[::1',
    '//\\',
    '/\\',
    '*',
    '',
    '?',
    '#',
    ':',
    ':80',
    '/%',
    '/%00',
    '/%ff%fe',
    '/..//',
  ],
  ...[
    'http://',
    'http://[',
    'http://:0/',
    'http://a:b@c:99999/',
    'https://x/healthz',
    'javascript:1',
    'a:b',
    '/;/',
    '/\t',
  ],
  ...[
    '//healthz',
    '/healthz//',
    '//readyz?',
    '/metrics#',
    `/${'a'.repeat(20_000)}`,
    '/\u00ff\u00fe',
    '/?__proto__[a]=1',
    '/readyz',
    '/metrics',
  ],
  ...['/tryon/v1/generations/%E0%A4%A', '/s/%', '/public/%2e%2e/', '/tryon/v1/products//', '/login?next=//%5c'],
]
const VERSIONS = ['HTTP/1.1', 'HTTP/1.0', 'HTTP/2.0', 'HTTP/0.9', 'HTTP/1', 'HTTPS/1.1', '']
const HEADERS = [
  ...[
    'Host: a',
    'Host:',
    'Host: [',
    'Host: a:b:c',
    'Host: \u00ff',
    'Host: a\r\nHost: b',
    'Connection: upgrade',
    'Upgrade: h2c',
  ],
  ...[
    'Upgrade: websocket\r\nConnection: Upgrade',
    'Expect: 100-continue',
    'Expect: nonsense',
    'Transfer-Encoding: chunked',
  ],
  ...[
    'Transfer-Encoding: gzip, chunked',
    'Transfer-Encoding: \u000bchunked',
    'Content-Length: 5',
    'Content-Length: -1',
  ],
  ...[
    'Content-Length: 5\r\nContent-Length: 6',
    'Content-Length: 99999999999999999999',
    'Content-Length: 0x5',
    'TE: trailers',
  ],
  ...[
    'Cookie: \u0000',
    'Cookie: a=%',
    `Cookie: ${'a=b;'.repeat(5000)}`,
    ': nothing',
    ' folded: yes',
    'X-Forwarded-For: \u00ff,,,',
  ],
  ...[
    'Content-Type: multipart/form-data',
    'Content-Type: multipart/form-data; boundary=',
    'Content-Type: application/json',
  ],
  ...['Accept: \u00ff', 'Accept: */*;q=x', 'Range: bytes=9-1', 'If-None-Match: "', 'Origin: null', 'Origin: http://['],
  ...[
    'X-Request-Id: \u00ff',
    'traceparent: 00-zz',
    'Authorization: Bearer ',
    'X-Api-Key: \u00ff',
    'Idempotency-Key: \u00ff',
  ],
]
const BODIES = [
  '',
  '{}',
  '[',
  '5\r\nhello\r\n0\r\n\r\n',
  'zz\r\n',
  '-1\r\n',
  'ffffffffffffffff\r\n',
  '0\r\na: b\r\n\r\nGET // HTTP/1.1\r\n\r\n',
]

const oneOf = (known: readonly string[]) =>
  fc.oneof({ weight: 5, arbitrary: fc.constantFrom(...known) }, fc.string({ unit: 'binary', maxLength: 40 }))
const request = fc
  .record({
    line: fc.tuple(oneOf(METHODS), oneOf(TARGETS), oneOf(VERSIONS)),
    headers: fc.array(oneOf(HEADERS), { maxLength: 4 }),
    end: fc.constantFrom('\r\n\r\n', '\n\n', '\r\n', ''),
    body: oneOf(BODIES),
  })
  .map(({ line, headers, end, body }) => [line.join(' '), ...headers].join('\r\n') + end + body)

/** Sends the bytes and resolves with what the server answers until it or this side closes the connection. */
function send(port: number, text: string): Promise<string> {
  return new Promise((resolve) => {
    let answer = ''
    const socket = connect(port, '127.0.0.1', () => socket.end(text, 'latin1'))
    socket.setTimeout(SILENCE_MS, () => socket.destroy())
    socket.setEncoding('latin1').on('data', (piece) => {
      answer += piece
    })
    socket.on('error', () => {})
    socket.on('close', () => resolve(answer))
  })
}

const KUBECONFIG_HEAD = ['apiVersion: v1', 'kind: Config', 'current-context: absent']
const portOf = (url: string) => Number(new URL(url).port)

async function freePort(): Promise<number> {
  const { port, release } = await reserveFreePort()
  await release()
  return port
}

/** The controller beside a cluster that does not answer: its probe port is open, as during an outage of the API server. */
async function startController(env: Drape['env']): Promise<{ process: TestProcess; probes: number }> {
  const [probes, absent, folder] = [await freePort(), await freePort(), await requestService('folder', null)]
  const kubeconfig = join(folder.path, 'kubeconfig.yaml')
  const objects = [
    `clusters: [{ name: absent, cluster: { server: 'https://127.0.0.1:${absent}' } }]`,
    'contexts: [{ name: absent, context: { cluster: absent, user: nobody } }]',
    'users: [{ name: nobody, user: { token: none } }]',
  ]
  await writeFile(kubeconfig, [...KUBECONFIG_HEAD, ...objects].join('\n'))
  const started = await spawnProcess({
    command: process.execPath,
    args: ['controller/main.ts'],
    cwd: process.cwd(),
    env: {
      ...process.env,
      ...env,
      DATABASE_URL: asProcess(env.DATABASE_URL as string, 'controller'),
      KUBECONFIG: kubeconfig,
      PROBE_PORT: String(probes),
    },
  })
  return { process: started, probes }
}

/** What a server logs when its handler throws. */
const FAULT = 'HTTP handler failed'

const PORTS = [
  ['api', 'api', 'api'],
  ['api', 'probes', 'probes'],
  ['api', 'dashboard', 'dashboard'],
  ['worker', 'probes', 'workerProbes'],
  ['controller', 'probes', 'controllerProbes'],
] as const

describe('malformed HTTP', async () => {
  let outputOf: Record<(typeof PORTS)[number][0], () => string>
  const dashboard = await freePort()
  const drape = await startDrape({ env: { DASHBOARD_PORT: String(dashboard), PROBE_HOST: '127.0.0.1' } })
  const [worker, started] = await Promise.all([drape.startWorker({ ENGINES: 'mock' }), startController(drape.env)])
  const controller = started.process
  outputOf = { api: drape.api.output, worker: worker.output, controller: started.process.output }
  const probesOf = { api: portOf(drape.api.probeUrl), worker: portOf(worker.probeUrl), controller: started.probes }
  const ports = {
    api: portOf(drape.api.url),
    probes: probesOf.api,
    dashboard,
    workerProbes: probesOf.worker,
    controllerProbes: probesOf.controller,
  }
  afterAll(() => Promise.all([drape?.stop(), controller?.end()]))

  const get = (port: number, path: string) => send(port, `GET ${path} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n`)

  it.each(PORTS)(
    'does not crash the %s through its server "%s"',
    async (process, server, port) => {
      const probes = probesOf[process]
      await until(async () => (await get(probes, '/healthz')).includes('200 OK'))
      const lines = TARGETS.map((target) => `GET ${target} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n`)
      const texts = [...lines, ...fc.sample(request, { numRuns: RUNS, seed: 16 })]
      for (let i = 0; i < texts.length; i += AT_ONCE) {
        await Promise.all(texts.slice(i, i + AT_ONCE).map((text) => send(ports[port], text)))
      }
      expect(await get(probes, '/healthz')).toContain('200 OK')
      const faults = linesOf(outputOf[process]()).filter(({ msg, server: name }) => msg === FAULT && name === server)
      expect(faults).toEqual([])
    },
    RUNS > 1000 ? 300_000 : 60_000,
  )
})
