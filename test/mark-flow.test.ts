import { spawn } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { json } from 'node:stream/consumers'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { Type } from '../api/shared/contract/schema.ts'
import { rowType, sql } from '../api/shared/database/database.ts'
import { decodeImage, encodeImage } from '../api/shared/image/image.ts'
import { verifyProvenance } from '../api/shared/provenance/verify.ts'
import { ENGINES } from '../worker/engines/registry.ts'
import { openMark } from '../worker/outputs/mark/mark.ts'
import { createCommandLine } from './support/command-line.ts'
import { type Drape, readSample, startDrape } from './support/drape.ts'
import { linesOf, spawnProcess, type TestProgram } from './support/process.ts'
import { writeTinyMark } from './support/tiny-mark.ts'
import { until } from './support/until.ts'

const WARP_VERSION = ENGINES.get('warp')?.manifest.version
const ROOT = resolve(import.meta.dirname, '..')
const MarkRow = rowType(Type.Object({ id: Type.String(), engine: Type.String(), day: Type.String() }))

describe('a worker with models of an imperceptible mark', () => {
  let drape: Drape
  let worker: TestProgram
  let folder: string
  let result: Buffer
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'drape-mark-flow-'))
    await writeTinyMark(folder)
    drape = await startDrape({ defaultEngines: true })
    worker = await drape.startWorker({ MARK_DIR: folder, ENGINES: 'warp,mock' })
    result = await tryOn()
  })
  afterAll(async () => {
    await drape.stop()
    await rm(folder, { recursive: true })
  })

  const tryOn = async (engine?: string) => {
    const [me, shirt] = await Promise.all([
      readSample('persons/down-half-teal.jpg'),
      readSample('garments/tshirt-mustard.jpg'),
    ])
    const id = await drape.tryOn(
      {
        products: [{ title: 'T-shirt', images: [{ source: { fileKey: 'shirt' } }] }],
        person: { image: { source: { fileKey: 'me' } } },
        ...(engine !== undefined && { output: { engine } }),
      },
      { me, shirt },
    )
    const { status, resultImageUrl, timings } = await drape.finish(id)
    expect(status).toBe('COMPLETED')
    expect('mark' in timings).toBe(engine !== 'mock')
    return Buffer.from(await (await fetch(resultImageUrl)).arrayBuffer())
  }
  const listMarks = () =>
    drape.database.any(sql.type(MarkRow)`select id, engine, made_on::text as day from result_marks`)
  const put = async (name: string, bytes: Uint8Array) => {
    await writeFile(join(folder, name), bytes)
    return join(folder, name)
  }
  const verify = async (name: string, bytes: Uint8Array) => {
    const { drape: command } = createCommandLine(drape.env.DATABASE_URL)
    const { code, output, stderr } = await command('provenance', 'verify', await put(name, bytes), '--mark', folder)
    return { code, stderr, ...(output && JSON.parse(output)) }
  }

  it('marks results below their Content Credentials', async () => {
    const [mark, ...others] = await listMarks()
    expect(others).toEqual([])
    expect(mark).toEqual({ id: expect.stringMatching(/^[0-9a-f]{10}$/), engine: 'warp', day: expect.any(String) })
    expect(await verifyProvenance(result)).toMatchObject({ status: 'valid' })
    const { read, release } = await openMark(folder)
    expect(await read(await decodeImage(result))).toBe(mark.id)
    await release()
    const metrics = await (await fetch(`${worker.probeUrl}/metrics`)).text()
    expect(metrics).toMatch(/drape_result_marks_total{outcome="(marked|weakened)"} 1\n/)
  })

  it('shows what made an image without Content Credentials', async () => {
    const [{ id, day }] = await listMarks()
    const stripped = await encodeImage(await decodeImage(result), { format: 'jpeg', quality: 70 })
    expect(await verify('stripped.jpg', stripped)).toMatchObject({
      ...{ code: 1, status: 'none', mark: { id, result: { engine: 'warp', version: WARP_VERSION, day } } },
    })
    expect(await verify('result.jpg', result)).toMatchObject({ code: 0, status: 'valid', mark: { id } })
  })

  it('knows neither photos nor the marks of others', async () => {
    const photo = await readSample('persons/down-half-teal.jpg')
    expect(await verify('photo.jpg', photo)).toMatchObject({ status: 'none', mark: { id: null, result: null } })
    const { embed, release } = await openMark(folder)
    const { bitmap } = await embed(await decodeImage(photo), 'abcdef0123')
    await release()
    const foreign = await encodeImage(bitmap, { format: 'jpeg' })
    expect(await verify('foreign.jpg', foreign)).toMatchObject({ mark: { id: 'abcdef0123', result: null } })
  })

  it('reads marks where a worker runs, with its rights', async () => {
    const [{ id }] = await listMarks()
    const child = spawn(process.execPath, ['worker/outputs/mark/read-mark.ts'], {
      cwd: ROOT,
      stdio: ['pipe', 'pipe', 'inherit'],
      env: { ...process.env, MARK_DIR: folder, REDIS_URL: drape.env.REDIS_URL },
    })
    child.stdin.end(result)
    expect(await json(child.stdout)).toMatchObject({ id, result: { engine: 'warp', version: WARP_VERSION } })
  })

  it('leaves results of a test engine as they are', async () => {
    const before = await listMarks()
    await tryOn('mock')
    expect(await listMarks()).toEqual(before)
  })

  it('is not ready if the decoder does not read what the encoder writes', async () => {
    const wrong = await mkdtemp(join(folder, 'wrong-'))
    await writeTinyMark(wrong, { decoderOrder: 3 })
    const broken = await spawnProcess({
      command: process.execPath,
      args: ['worker/main.ts'],
      cwd: ROOT,
      env: {
        ...process.env,
        ...drape.env,
        NODE_ENV: 'development',
        PUBLIC_URL: drape.api.url,
        PROBE_PORT: '0',
        ENGINES: 'mock',
        MARK_DIR: wrong,
      },
    })
    const problem = await until(async () => linesOf(broken.output()).find(({ problem }) => problem)?.problem)
    expect(problem).toContain(`${wrong}: the decoder does not read what the encoder writes`)
    expect(await broken.end()).toBe(0)
  })
})
