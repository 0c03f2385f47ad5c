import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { createServer, type RequestListener, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { findEnginePython, type Published, startExports } from '../../support/export-engine.ts'

const WEIGHTS = resolve(import.meta.dirname, '../../fixtures/fashn-vton/tiny.state.safetensors')
const HALF = 100_000
const { python, reason } = await findEnginePython()

describe.skipIf(reason)(`downloading the weights of an engine${reason && ` (skipped: ${reason})`}`, () => {
  let [root, folder, url] = ['', '', '']
  let file: Buffer
  let server: Server
  let exports: ReturnType<typeof startExports>
  /** How the server answers; it logs the address and the range of each request. */
  let answer: RequestListener
  let requests: string[]

  beforeAll(async () => {
    root = await mkdtemp(join(tmpdir(), 'drape-weights-'))
    file = await readFile(WEIGHTS)
    exports = startExports(python)
    server = createServer((request, response) => {
      requests.push(`${request.url} ${request.headers.range ?? 'all'}`)
      answer(request, response)
    })
    await once(server.listen(0, '127.0.0.1'), 'listening')
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  })
  beforeEach(async () => {
    folder = await mkdtemp(join(root, 'case-'))
    requests = []
    answer = serveRanges
  })
  afterAll(async () => {
    server.close()
    exports.stop()
    await rm(root, { recursive: true, force: true })
  })

  const serveRanges: RequestListener = ({ headers: { range } }, response) => {
    const from = Number(range?.match(/bytes=(\d+)-/)?.[1] ?? 0)
    response.writeHead(range ? 206 : 200, { 'content-length': file.length - from })
    response.end(file.subarray(from))
  }
  /** Sends at most `HALF` bytes of the whole file, and closes the connection. */
  const cutWhole: RequestListener = (_request, response) => {
    response.writeHead(200, { 'content-length': file.length })
    response.write(file.subarray(0, HALF), () => response.destroy())
  }
  const published = (): Published => ({
    url: `${url}/model.safetensors`,
    sha256: createHash('sha256').update(file).digest('hex'),
    bytes: file.length,
  })
  const exported = (
    args: string[] = [],
    { pins = published(), ...more }: { pins?: Published; env?: Record<string, string>; maxBytes?: number } = {},
  ) =>
    exports.run(['fashn-vton', '--download', ...args, '--no-golden', '--output', join(folder, 'engine')], {
      published: pins,
      ...more,
    })
  const weights = () => readFile(join(folder, 'model.safetensors'))
  const left = async () => (await readdir(folder)).sort()
  const lines = (errors: string) => errors.split('\n').filter((line) => line !== '' && !line.startsWith('downloaded'))

  it('downloads once, verifies, exports, and tells how far it is', async () => {
    const { code, errors } = await exported()
    expect([code, lines(errors)]).toEqual([0, []])
    expect(errors).toMatch(/downloaded 100 %/)
    expect(await left()).toEqual(['engine', 'model.safetensors'])
    expect(await weights()).toEqual(file)
    const { models } = JSON.parse(await readFile(join(folder, 'engine/engine.json'), 'utf8'))
    expect(models[0].source).toBe(`model.safetensors sha256 ${published().sha256}`)
    await rm(join(folder, 'engine'), { recursive: true })
    expect((await exported()).code).toBe(0)
    expect(requests).toEqual(['/model.safetensors all'])
  })

  it('continues where a connection was cut, in the same run and in the next', async () => {
    await writeFile(join(folder, 'model.safetensors.part'), file.subarray(0, 1000))
    answer = (request, response) =>
      requests.length === 1 ? cutAfter(request, response) : serveRanges(request, response)
    const cutAfter: RequestListener = (_request, response) => {
      response.writeHead(206, { 'content-length': file.length - 1000 })
      response.write(file.subarray(1000, HALF), () => response.destroy())
    }
    expect((await exported()).code).toBe(0)
    expect(requests).toEqual(['/model.safetensors bytes=1000-', `/model.safetensors bytes=${HALF}-`])
    expect(await weights()).toEqual(file)
  })

  it('starts over if the server sends the whole file', async () => {
    await writeFile(join(folder, 'model.safetensors.part'), file.subarray(0, 1000))
    answer = (_request, response) => response.end(file)
    expect((await exported()).code).toBe(0)
    expect(await weights()).toEqual(file)
  })

  it('takes a copy from another address, and through a proxy', async () => {
    const args = [`${url}/mirror/weights`]
    expect((await exported(args, { pins: { ...published(), url: 'https://nowhere.invalid' } })).code).toBe(0)
    await rm(folder, { recursive: true })
    folder = await mkdtemp(join(root, 'case-'))
    const pins = { ...published(), url: 'http://weights.example/model.safetensors' }
    expect((await exported([], { pins, env: { http_proxy: url } })).code).toBe(0)
    expect(requests).toEqual(['/mirror/weights all', 'http://weights.example/model.safetensors all'])
  })

  it.each<[string, RegExp, string[], () => void]>([
    [
      'a file of another size',
      /is not the published file: it has 5 bytes/,
      [],
      () => (answer = (_, to) => to.end('wrong')),
    ],
    [
      'other contents',
      /is not the published file: it has the SHA-256 \w+, expected \w+; it was removed/,
      [],
      () => (answer = (_, to) => to.end(Buffer.alloc(file.length))),
    ],
    ['a missing file', /the server answered 404/, [], () => (answer = (_, to) => to.writeHead(404).end())],
    [
      'connections that are always cut at the same place',
      /the connection was closed after 100,000 of [\d,]+ bytes; try again/,
      ['model.safetensors.part'],
      () => (answer = cutWhole),
    ],
  ])('fails on %s with one line, without an engine', async (_what, message, kept, change) => {
    change()
    const { code, errors } = await exported()
    expect(lines(errors)).toEqual([expect.stringMatching(message)])
    expect([code, await left()]).toEqual([1, kept])
  })

  it('fails on a full disk with one line, without an engine', async () => {
    const { code, errors } = await exported([], { maxBytes: HALF })
    expect(lines(errors)).toEqual([expect.stringMatching(/model\.safetensors\.part cannot be written: .+/)])
    expect([code, await left()]).toEqual([1, ['model.safetensors.part']])
  })

  it('asks for the free space before the download', async () => {
    const { code, errors } = await exported([], { pins: { ...published(), bytes: 2 ** 52 } })
    expect(lines(errors)).toEqual([expect.stringMatching(/has [\d,]+ bytes free; the download needs/)])
    expect([code, requests, await left()]).toEqual([1, [], []])
  })

  it('does not use another file of that name', async () => {
    await writeFile(join(folder, 'model.safetensors'), 'mine')
    const { code, errors } = await exported()
    expect(lines(errors)).toEqual([
      expect.stringMatching(/is not the published file: .+; remove it, or export it with/),
    ])
    expect([code, await left()]).toEqual([1, ['model.safetensors']])
  })
})
