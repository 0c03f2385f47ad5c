import { mkdtemp, rm, truncate } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import sharp from 'sharp'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { sql } from '../api/shared/database/database.ts'
import { type Bitmap, decodeImage } from '../api/shared/image/image.ts'
import { reserveFreePort } from '../scripts/stack/ports.ts'
import { type Drape, formOf, readSample, startDrape } from './support/drape.ts'
import { spawnProcess } from './support/process.ts'
import { copyTinyEngine, spoilBottoms } from './support/tiny-engine.ts'
import { until } from './support/until.ts'

describe('a try-on by FASHN VTON', () => {
  let drape: Drape
  let photo: Buffer
  let shirt: Buffer
  let folder: string

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'drape-fashn-vton-'))
    await copyTinyEngine(join(folder, 'fashn-vton'))
    await spoilBottoms(join(folder, 'fashn-vton'))
    photo = await readSample('persons/down-half-teal.jpg')
    shirt = await readSample('garments/tshirt-navy.jpg')
    drape = await startDrape({ env: { ENGINES: 'fashn-vton,mock' } })
    await drape.startWorker({ ENGINES: 'fashn-vton,mock', ENGINE_DIR: folder, QUEUES: 'try-on' })
  })
  afterAll(async () => {
    await drape?.stop()
    await rm(folder, { recursive: true, force: true })
  })

  const tryOn = async (output: object, title = 'T-shirt') => {
    const product = { title, images: [{ source: { fileKey: 'shirt' } }] }
    const call = {
      products: [product],
      person: { image: { source: { fileKey: 'me' } } },
      output: { engine: 'fashn-vton', format: 'png', watermark: false, seed: 3, ...output },
    }
    return drape.finish(await drape.tryOn(call, { me: photo, shirt }))
  }
  const downloadBitmap = async (result: { resultImageUrl: string }): Promise<Bitmap> =>
    decodeImage(new Uint8Array(await (await fetch(result.resultImageUrl)).arrayBuffer()))

  it('changes the photo only where the garment is', async () => {
    const balance = await drape.balance()
    const result = await tryOn({})
    expect(result).toMatchObject({
      status: 'COMPLETED',
      engine: { name: 'fashn-vton', version: '1.5.0', license: 'Apache-2.0' },
      warnings: expect.arrayContaining(['POSE_WITHOUT_HANDS']),
    })
    expect(await drape.balance()).toBe(balance - 1)
    const bitmap = await downloadBitmap(result)
    // The mock engine returns the stored photo.
    const photo = await downloadBitmap(await tryOn({ engine: 'mock' }))
    expect([bitmap.width, bitmap.height]).toEqual([700, 875])
    // Corners and face keep the pixels of the photo, the chest does not.
    for (const part of [
      { x: 0, y: 0, width: 100, height: 800 },
      { x: 600, y: 0, width: 100, height: 300 },
      { x: 330, y: 150, width: 60, height: 60 },
    ])
      expect(differingShare(bitmap, photo, part)).toBe(0)
    expect(differingShare(bitmap, photo, { x: 250, y: 350, width: 200, height: 200 })).toBeGreaterThan(0.9)

    const [again, other, quick] = [await tryOn({}), await tryOn({ seed: 4 }), await tryOn({ mode: 'fast' })]
    const whole = { x: 0, y: 0, width: 700, height: 875 }
    expect(differingShare(await downloadBitmap(again), bitmap, whole)).toBe(0)
    expect(differingShare(await downloadBitmap(other), bitmap, whole)).toBeGreaterThan(0.2)
    expect(differingShare(await downloadBitmap(quick), bitmap, whole)).toBeGreaterThan(0.1)
  })

  it('returns several results, best first, each as from its seed alone and at its price', async () => {
    const balance = await drape.balance()
    const { results, resultImageUrl, quality } = await tryOn({ count: 3, mode: 'fast' })
    expect(await drape.balance()).toBe(balance - 3)
    expect(results.map(({ seed }: { seed: number }) => seed).toSorted()).toEqual([3, 4, 5])
    const qualities = results.map((result: { quality: number }) => result.quality)
    expect(qualities).toEqual(qualities.toSorted((a: number, b: number) => b - a))
    expect([results[0].imageUrl, qualities[0]]).toEqual([resultImageUrl, quality])
    const { seed, imageUrl } = results[1]
    const alone = await downloadBitmap(await tryOn({ seed, mode: 'fast' }))
    expect(await downloadBitmap({ resultImageUrl: imageUrl })).toEqual(alone)
  })

  it('changes only the region of the mask', async () => {
    const { width, height } = await sharp(photo).metadata()
    const half = Math.floor(height / 2)
    const mask = await sharp({ create: { width, height, channels: 3, background: '#fff' } })
      .composite([{ input: { create: { width, height: half, channels: 3, background: '#000' } }, left: 0, top: 0 }])
      .png()
      .toBuffer()
    const form = formOf(undefined, { file: mask })
    form.set('crop', 'false')
    const { imageId: id } = (await drape.call('POST', '/tryon/v1/images/upload', { body: form })).body
    const output = { mode: 'fast', fullResolution: true, mask: { image: { source: { id } } } }
    const [plain, masked] = [await tryOn({ engine: 'mock', fullResolution: true }), await tryOn(output)]
    const [before, after] = [await downloadBitmap(plain), await downloadBitmap(masked)]
    expect(differingShare(after, before, { x: 0, y: 0, width, height: half })).toBe(0)
    expect(differingShare(after, before, { x: 0, y: half, width, height: half })).toBeGreaterThan(0.1)
  })

  it('runs only on workers that have the engine', async () => {
    const other = await drape.startWorker({ ENGINES: 'mock', QUEUES: 'try-on' })
    const results = await Promise.all([1, 2].map((seed) => tryOn({ seed, mode: 'fast' })))
    expect(results.map(({ status }) => status)).toEqual(['COMPLETED', 'COMPLETED'])
    const attempts = await drape.database.any(sql.unsafe`
      select distinct attempt from generations where engine = 'fashn-vton' and status = 'COMPLETED'`)
    expect(attempts).toEqual([{ attempt: 1 }])
    await other.end()
  })

  it('is refunded if the model returns NaN', async () => {
    const balance = await drape.balance()
    expect(await tryOn({}, 'Jeans')).toMatchObject({ status: 'FAILED', errorCode: 'RESULT_REJECTED' })
    expect(await drape.balance()).toBe(balance)
  })

  it('is refused by a worker with truncated engine files, which reports the reason', async () => {
    const broken = join(folder, 'broken')
    await copyTinyEngine(join(broken, 'fashn-vton'))
    await truncate(join(broken, 'fashn-vton/transformer.weights'), 1000)
    const probe = await reserveFreePort()
    await probe.release()
    const env = { ...process.env, ...drape.env, NODE_ENV: 'development', PUBLIC_URL: drape.api.url }
    const worker = await spawnProcess({
      command: process.execPath,
      args: ['worker/main.ts'],
      cwd: resolve(import.meta.dirname, '..'),
      env: { ...env, ENGINES: 'fashn-vton', ENGINE_DIR: broken, PROBE_PORT: String(probe.port) },
    })
    const failed = await until(async () => {
      const answer = await fetch(`http://127.0.0.1:${probe.port}/readyz`).catch(() => null)
      const { failed } = ((await answer?.json()) ?? {}) as { failed?: Record<string, string> }
      return failed?.inference?.includes('transformer') && failed.inference
    })
    expect(failed).toContain('transformer.weights has 1000 bytes, expected 1140416')
    expect(await worker.end()).toBe(0)
  })
})

/** Fraction of the bytes of a region that differ between two bitmaps. */
function differingShare(a: Bitmap, b: Bitmap, part: { x: number; y: number; width: number; height: number }): number {
  let different = 0
  for (let y = part.y; y < part.y + part.height; y++) {
    for (let x = part.x; x < part.x + part.width; x++) {
      for (let c = 0; c < 3; c++)
        if (a.data[(y * a.width + x) * 3 + c] !== b.data[(y * b.width + x) * 3 + c]) different++
    }
  }
  return different / (part.width * part.height * 3)
}
