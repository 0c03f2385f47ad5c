import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Bitmap, decodeImage } from '../api/shared/image.ts'
import { reserveFreePort } from '../scripts/stack/ports.ts'
import { commandsOf } from './support/documented-blocks.ts'
import { type Drape, readSample, startDrape } from './support/drape.ts'
import { spawnProcess, type TestProgram } from './support/process.ts'
import { changeEngineFile, copyTinyEngine } from './support/tiny-engine.ts'
import { until } from './support/until.ts'

const PAGE = 'docs/engines/catvton.md'
const HEADING = '3. Acknowledge the licence and run the engine'
const ENV = { ENGINES: 'catvton,mock', QUEUES: 'try-on' }

describe('a try-on by CatVTON', () => {
  let drape: Drape
  let folder: string
  let worker: TestProgram

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'drape-catvton-'))
    await copyTinyEngine(join(folder, 'catvton'), 'catvton')
    drape = await startDrape({ env: { ENGINES: 'catvton,mock' } })
    const [, line] = /^((?:\w+=\S+ )+)node worker\/main\.ts$/m.exec(commandsOf(PAGE, HEADING, 1)) ?? []
    const documented = Object.fromEntries(
      (line ?? '')
        .trim()
        .split(' ')
        .map((word) => word.split('=')),
    )
    expect(documented).toMatchObject({ ENGINES: 'catvton', ENGINE_DIR: '/models', EXECUTION_PROVIDER: 'cuda' })
    worker = await drape.startWorker({ ...documented, ...ENV, ENGINE_DIR: folder, EXECUTION_PROVIDER: 'cpu' })
  })
  afterAll(async () => {
    await drape?.stop()
    await rm(folder, { recursive: true, force: true })
  })

  const tryOn = async (output: object) => {
    const product = { externalId: 'shirt', title: 'T-shirt', images: [{ source: { fileKey: 'shirt' } }] }
    const call = {
      products: [product],
      person: { image: { source: { fileKey: 'me' } } },
      output: { engine: 'catvton', format: 'png', watermark: false, seed: 3, mode: 'fast', ...output },
    }
    const me = await readSample('persons/down-half-teal.jpg')
    const shirt = await readSample('garments/tshirt-navy.jpg')
    return drape.finish(await drape.tryOn(call, { me, shirt }))
  }
  const downloadBitmap = async (result: { resultImageUrl: string }): Promise<Bitmap> =>
    decodeImage(new Uint8Array(await (await fetch(result.resultImageUrl)).arrayBuffer()))

  it('changes the photo only where the garment is, and names the licence', async () => {
    const balance = await drape.balance()
    const result = await tryOn({})
    expect(result).toMatchObject({
      status: 'COMPLETED',
      engine: { name: 'catvton', version: '1.0.0', license: 'CC-BY-NC-SA-4.0' },
    })
    expect(await drape.balance()).toBe(balance - 1)
    const [bitmap, photo] = [await downloadBitmap(result), await downloadBitmap(await tryOn({ engine: 'mock' }))]
    expect([bitmap.width, bitmap.height]).toEqual([photo.width, photo.height])
    const differing = (part: { x: number; y: number; width: number; height: number }) => {
      let count = 0
      for (let y = part.y; y < part.y + part.height; y++) {
        for (let x = part.x; x < part.x + part.width; x++) {
          const at = (y * bitmap.width + x) * 3
          if ([0, 1, 2].some((c) => bitmap.data[at + c] !== photo.data[at + c])) count++
        }
      }
      return count / (part.width * part.height)
    }
    expect(differing({ x: 250, y: 350, width: 200, height: 200 })).toBeGreaterThan(0.9)
    expect(differing({ x: 0, y: 0, width: 90, height: 875 })).toBe(0)
    expect(differing({ x: 330, y: 150, width: 60, height: 60 })).toBe(0)
  })

  it('evicts a deleted product from the caches of all workers', async () => {
    await until(async () => (await cachedGarments()) > 0)
    const deleted = await drape.call('DELETE', '/tryon/v1/products/shirt')
    expect(deleted.status).toBe(200)
    await until(async () => (await cachedGarments()) === 0)
  })

  /** Garments in the caches of the worker's inference processes, from its metrics. */
  async function cachedGarments(): Promise<number> {
    const text = await (await fetch(`${worker.probeUrl}/metrics`)).text()
    return Number(/^drape_kept_garments (\d+)$/m.exec(text)?.[1] ?? Number.NaN)
  }

  const whyNotReady = async (env: Readonly<Record<string, string>>) => {
    const probe = await reserveFreePort()
    await probe.release()
    const worker = await spawnProcess({
      ...{ command: process.execPath, args: ['worker/main.ts'], cwd: resolve(import.meta.dirname, '..') },
      env: {
        ...{ ...process.env, ...drape.env, NODE_ENV: 'development', PUBLIC_URL: drape.api.url, ...ENV },
        ...{ PROBE_PORT: String(probe.port), ...env },
      },
    })
    const problem = await until(async () => {
      const answer = await fetch(`http://127.0.0.1:${probe.port}/readyz`).catch(() => null)
      const { failed } = ((await answer?.json()) ?? {}) as { failed?: Record<string, string> }
      return (failed?.inference?.includes('catvton') || failed?.inference?.includes('.onnx')) && failed.inference
    })
    expect(await worker.end()).toBe(0)
    return problem
  }

  it('is refused by a worker without an acknowledged licence, which reports the reason', async () => {
    expect(await whyNotReady({ ENGINE_DIR: folder })).toContain(
      'The engine "catvton" is under CC-BY-NC-SA-4.0, which forbids commercial use. To use it anyway, acknowledge the licence',
    )
  })

  it('is refused by a worker without the configured execution provider, which reports the reason', async () => {
    const env = { ENGINE_DIR: folder, ACKNOWLEDGE_NON_COMMERCIAL: 'catvton', EXECUTION_PROVIDER: 'cuda' }
    expect(await whyNotReady(env)).toMatch(/\.onnx: cannot be opened/)
  })

  it('is refused by a worker whose self-test differs from the golden image of the export', async () => {
    const changed = join(folder, 'changed')
    await copyTinyEngine(join(changed, 'catvton'), 'catvton')
    await changeEngineFile(join(changed, 'catvton'), 'decoder.weights', (bytes) => {
      for (let at = 0; at < bytes.length; at += 4) bytes.writeFloatLE(bytes.readFloatLE(at) * 0.9, at)
      return bytes
    })
    const env = { ENGINE_DIR: changed, ACKNOWLEDGE_NON_COMMERCIAL: 'catvton' }
    expect(await whyNotReady(env)).toMatch(
      /Self-test of the engine catvton: the drawing differs from the golden drawing of its export by \d+\.\d %/,
    )
  })
})
