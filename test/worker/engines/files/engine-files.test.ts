import { spawn } from 'node:child_process'
import { createHash, randomBytes } from 'node:crypto'
import { mkdtemp, readdir, readFile, rename, rm, truncate, writeFile } from 'node:fs/promises'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { reserveFreePort } from '../../../../scripts/stack/ports.ts'
import { downloadFiles } from '../../../../worker/engines/files/download.ts'
import { readMarker } from '../../../../worker/engines/files/marker.ts'
import { readSettings } from '../../../../worker/engines/files/settings.ts'
import { verifyFiles } from '../../../../worker/engines/files/verify.ts'
import { until } from '../../../support/until.ts'

const PROGRAM = join(import.meta.dirname, '../../../../worker/engines/files/main.ts')
const MODEL = randomBytes(3_000_000)
const FILES = [fileOf('graphs/model.onnx', MODEL), fileOf('engine.json', Buffer.from('{}'))]

let folder: string
let server: Server
let answer: (request: IncomingMessage, response: ServerResponse) => void
let asked: string[]

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'drape-engine-files-'))
  asked = []
  answer = serve
  server = createServer((request, response) => {
    asked.push(request.url ?? '')
    answer(request, response)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
})
afterEach(async () => {
  server.closeAllConnections()
  await new Promise((resolve) => server.close(resolve))
  await rm(folder, { recursive: true, force: true })
})

describe('the files of an engine', () => {
  it('are downloaded and verified once', async () => {
    expect(await start({}).result).toMatchObject({ code: 0, output: expect.stringContaining('"verified":2') })
    expect(await readFile(join(folder, 'graphs/model.onnx'))).toEqual(MODEL)
    expect(asked).toEqual(['/v1/graphs/model.onnx', '/v1/engine.json'])
    expect(await bring()).toMatchObject({ code: 0 })
    expect(asked).toHaveLength(2)
  })

  it('are downloaded with the configured request headers', async () => {
    answer = (request, response) => {
      if (request.headers.authorization === 'Bearer models') serve(request, response)
      else response.writeHead(401).end()
    }
    expect(await bring()).toMatchObject({
      code: 1,
      problem: 'graphs/model.onnx could not be fetched: the server answered 401',
    })
    expect(await bring({ ENGINE_AUTHORIZATION: 'Bearer models' })).toMatchObject({ code: 0 })
  })

  it('are downloaded again after a network error', async () => {
    let faults = 2
    answer = (request, response) => {
      if (faults-- === 2) response.writeHead(503).end()
      else if (faults === 0) response.writeHead(200).write(MODEL.subarray(0, 1000), () => response.destroy())
      else serve(request, response)
    }
    expect(await bring()).toMatchObject({ code: 0 })
    expect(await readFile(join(folder, 'graphs/model.onnx'))).toEqual(MODEL)
  })

  it('are downloaded from where a connection broke, if the server sends the rest', async () => {
    const ranges: (string | undefined)[] = []
    const breakAfter = 1_000_000
    answer = (request, response) => {
      ranges.push(request.headers.range)
      if (request.headers.range) serveRest(request, response)
      else response.writeHead(200).write(MODEL.subarray(0, breakAfter), () => response.destroy())
    }
    const download = () => downloadFiles(FILES.slice(0, 1), { folder, source: sourceOf(server) })
    const logged = vi.spyOn(console, 'error').mockImplementation(() => {})
    await download()
    const [first, from = ''] = ranges
    expect([first, ranges.length]).toEqual([undefined, 2])
    expect(Number(/^bytes=(\d+)-$/.exec(from)?.[1])).toBeGreaterThan(0)
    expect(await readFile(join(folder, 'graphs/model.onnx'))).toEqual(MODEL)
    // The beginning that another process left is damaged: the file is downloaded as a whole.
    await rename(join(folder, 'graphs/model.onnx'), join(folder, 'graphs/model.onnx.part'))
    await truncate(join(folder, 'graphs/model.onnx.part'), 2_000_000)
    await truncate(join(folder, 'graphs/model.onnx.part'), 2_000_100)
    answer = serveRest
    await download()
    logged.mockRestore()
    expect(await readFile(join(folder, 'graphs/model.onnx'))).toEqual(MODEL)
    expect(await readdir(join(folder, 'graphs'))).toEqual(['model.onnx'])
  })

  it('are downloaded again if a download makes no progress', async () => {
    const logged = vi.spyOn(console, 'error').mockImplementation(() => {})
    const pace = { bytes: 200_000, ms: 1500 }
    const download = () => downloadFiles(FILES.slice(0, 1), { folder, source: sourceOf(server), pace })
    // Never silent, but too slow.
    answer = (_, response) => {
      const timer = setInterval(() => response.write(MODEL.subarray(0, 1000)), 20)
      response.on('close', () => clearInterval(timer))
      answer = serve
    }
    await download()
    expect(await readFile(join(folder, 'graphs/model.onnx'))).toEqual(MODEL)
    expect(logged.mock.calls).toEqual([
      ['graphs/model.onnx could not be fetched: less than 200000 bytes arrived within 1.5 seconds; trying again'],
    ])
    // Takes longer as a whole, at a higher pace.
    await rm(join(folder, 'graphs/model.onnx'))
    asked = []
    answer = async (_, response) => {
      for (let at = 0; at < MODEL.length; at += 200_000) {
        response.write(MODEL.subarray(at, at + 200_000))
        await sleep(120)
      }
      response.end()
    }
    await download()
    expect(asked).toHaveLength(1)
    logged.mockRestore()
  })

  it('are rejected with a wrong hash or size', async () => {
    const changed = Buffer.from(MODEL)
    changed[1_500_000] ^= 1
    answer = (_, response) => response.end(changed)
    expect(await bring()).toMatchObject({ code: 1, problem: expect.stringContaining('has the SHA-256') })
    answer = (_, response) => response.end(Buffer.concat([MODEL, MODEL]))
    expect(await bring()).toMatchObject({ code: 1, problem: expect.stringContaining('more than 3000000 bytes') })
    expect(await readdir(folder, { recursive: true })).toEqual(['graphs'])
  })

  it('are only verified without a URL', async () => {
    expect(await bring({ ENGINE_URL: '' })).toMatchObject({ code: 1, problem: 'graphs/model.onnx is missing' })
    await bring()
    expect(await bring({ ENGINE_URL: '' })).toMatchObject({ code: 0 })
    await writeFile(join(folder, 'engine.json'), '[]')
    expect(await bring({ ENGINE_URL: '' })).toMatchObject({
      code: 1,
      problem: expect.stringMatching(/^engine\.json has the SHA-256 [0-9a-f]{64}, expected/),
    })
    await writeFile(join(folder, 'engine.json'), '{"cut":')
    expect(await bring({ ENGINE_URL: '' })).toMatchObject({ problem: 'engine.json has 7 bytes, expected 2' })
  })

  it('are marked as complete by a sidecar, which stays ready and does not download them again after a restart', async () => {
    let deliver = () => {}
    answer = (request, response) => {
      deliver = () => serve(request, response)
      if (request.url !== '/v1/graphs/model.onnx') deliver()
    }
    const { port, release } = await reserveFreePort()
    await release()
    const isReady = () =>
      fetch(`http://127.0.0.1:${port}/readyz`).then(
        ({ status }) => status,
        () => 0,
      )
    const interrupted = start({ PROBE_PORT: String(port) })
    await until(async () => asked.length === 1 && (await isReady()) === 503)
    interrupted.child.kill('SIGTERM')
    expect(await interrupted.result).toMatchObject({ code: 143 })
    const first = start({ PROBE_PORT: String(port) })
    await until(async () => asked.length === 2 && (await isReady()) === 503)
    expect(await readMarker(folder)).toBeNull()
    deliver()
    await until(async () => (await isReady()) === 200)
    expect(await readFile(join(folder, 'graphs/model.onnx'))).toEqual(MODEL)
    expect((await readMarker(folder))?.seconds).toBeGreaterThan(0)
    expect(await (await fetch(`http://127.0.0.1:${port}/metrics`)).text()).toContain('process="engine-files"')
    first.child.kill('SIGTERM')
    expect(await first.result).toMatchObject({ code: 0 })
    // A crash of the node has lost the content of the marker: the files are verified again.
    await writeFile(join(folder, '.complete'), '')
    expect(await readMarker(folder)).toBeNull()
    const repaired = start({ PROBE_PORT: String(port) })
    await until(async () => (await isReady()) === 200)
    repaired.child.kill('SIGTERM')
    expect(await repaired.result).toMatchObject({ code: 0, output: expect.stringContaining('"verified":2') })
    const second = start({ PROBE_PORT: String(port) })
    await until(async () => (await isReady()) === 200)
    expect(asked).toHaveLength(3)
    second.child.kill('SIGTERM')
    expect(await second.result).toMatchObject({ code: 0, output: '' })
  })

  it('are not marked as complete by a sidecar that cannot download them', async () => {
    answer = (_, response) => response.writeHead(404).end()
    expect(await start({ PROBE_PORT: '0' }).result).toMatchObject({
      code: 1,
      problem: 'PROBE_PORT must be a port number',
    })
    const { port, release } = await reserveFreePort()
    await release()
    expect(await start({ PROBE_PORT: String(port) }).result).toMatchObject({
      code: 1,
      problem: 'graphs/model.onnx could not be fetched: the server answered 404',
    })
    expect(await readMarker(folder)).toBeNull()
  })

  it.each(['.complete', './.complete', '.complete/model.onnx', '.complete.part'])(
    'cannot be the marker of complete files: %s',
    (path) => {
      const files = JSON.stringify([{ ...FILES[1], path }])
      expect(() => readSettings({ ENGINE_FOLDER: folder, ENGINE_FILES: files })).toThrow(
        `ENGINE_FILES must not contain ${path}`,
      )
    },
  )

  it.each(['../outside.onnx', '/etc/passwd', 'a/../../b'])('cannot be outside the folder: %s', async (path) => {
    const outside = JSON.stringify([{ ...FILES[1], path }])
    expect(await bring({ ENGINE_FILES: outside })).toMatchObject({
      code: 1,
      problem: 'ENGINE_FILES must be a JSON list of { path, sha256, bytes }',
    })
    expect(asked).toEqual([])
  })
})

function serve(request: IncomingMessage, response: ServerResponse): void {
  response.end(request.url === '/v1/engine.json' ? '{}' : MODEL)
}

/** As most servers do; `serve` always sends the whole file. */
function serveRest({ headers: { range } }: IncomingMessage, response: ServerResponse): void {
  const from = Number(/^bytes=(\d+)-$/.exec(range ?? '')?.[1] ?? 0)
  response.writeHead(from > 0 ? 206 : 200).end(MODEL.subarray(from))
}

/** What `main.ts` does without a probe port, in this process. */
async function bring(settings: Record<string, string> = {}) {
  try {
    const { folder, files, source } = readSettings({ ...environment(), ...settings })
    if (source !== null) await downloadFiles(files, { folder, source })
    await verifyFiles(files, folder)
    return { code: 0 }
  } catch (error) {
    return { code: 1, problem: (error as Error).message }
  }
}

function environment() {
  return { ENGINE_FOLDER: folder, ENGINE_FILES: JSON.stringify(FILES), ENGINE_URL: sourceOf(server).url }
}

function start(settings: Record<string, string>) {
  const child = spawn(process.execPath, [PROGRAM], {
    env: { PATH: process.env.PATH, ...environment(), ...settings },
  })
  const ended = Promise.all([
    text(child.stdout),
    text(child.stderr),
    new Promise<number>((resolve) => child.on('close', (code) => resolve(code ?? -1))),
  ])
  const result = ended.then(([output, errors, code]) => ({
    code,
    output,
    problem: errors.trim().split('\n').at(-1) ?? '',
  }))
  return { child, result }
}

function sourceOf(of: Server) {
  return { url: `http://127.0.0.1:${(of.address() as AddressInfo).port}/v1/`, authorization: undefined }
}

function fileOf(path: string, bytes: Buffer) {
  return { path, sha256: createHash('sha256').update(bytes).digest('hex'), bytes: bytes.length }
}
