import { spawn } from 'node:child_process'
import { createHash, randomBytes } from 'node:crypto'
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'

const PROGRAM = join(import.meta.dirname, '../../../worker/engine-files/main.ts')
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
    expect(await bring()).toMatchObject({ code: 0, output: expect.stringContaining('"verified":2') })
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

async function bring(
  settings: Record<string, string> = {},
): Promise<{ code: number; output: string; problem: string }> {
  const { port } = server.address() as AddressInfo
  const child = spawn(process.execPath, [PROGRAM], {
    env: {
      ...{ PATH: process.env.PATH, ENGINE_FOLDER: folder, ENGINE_FILES: JSON.stringify(FILES) },
      ...{ ENGINE_URL: `http://127.0.0.1:${port}/v1/`, ...settings },
    },
  })
  const [output, errors, code] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    new Promise<number>((resolve) => child.on('close', (ended) => resolve(ended ?? -1))),
  ])
  return { code, output, problem: errors.trim().split('\n').at(-1) ?? '' }
}

function fileOf(path: string, bytes: Buffer) {
  return { path, sha256: createHash('sha256').update(bytes).digest('hex'), bytes: bytes.length }
}
