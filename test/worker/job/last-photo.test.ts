import { readFile } from 'node:fs/promises'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { CACHE_SECONDS } from '../../../api/erasure/erasures.store.ts'
import type { Engine } from '../../../worker/engines/engine.ts'
import { createEngines } from '../../../worker/engines/registry.ts'
import type { Models } from '../../../worker/inference/models.ts'
import type { TryOnRequest } from '../../../worker/inference/protocol.ts'
import { createLastPhoto, type LastPhoto, LIFETIME_MS } from '../../../worker/job/last-photo.ts'
import { tryOn } from '../../../worker/job/try-on.ts'
import { sharedModels } from '../../support/vision.ts'

describe('the photo of the last job', () => {
  let models: Models
  let engines: ReadonlyMap<string, Engine>
  let request: TryOnRequest
  const runs: string[] = []
  /** Costs hardly more than the decoding. */
  const mock = { engine: 'mock', crop: 'none' } as const
  beforeAll(async () => {
    const shared = await sharedModels()
    const session: Models['session'] = (name) => {
      const { run, ...rest } = shared.session(name)
      const counted: typeof run = (...parameters) => {
        runs.push(name)
        return run(...parameters)
      }
      return { ...rest, run: counted }
    }
    models = { ...shared, session }
    engines = await createEngines(['warp', 'mock'], { models })
    const [photo, garment] = await Promise.all(
      ['persons/down-half-teal.jpg', 'garments/tshirt-mustard.jpg'].map((path) =>
        readFile(new URL(`../../../scripts/samples/${path}`, import.meta.url)),
      ),
    )
    request = {
      engine: 'warp',
      photo,
      crop: 'auto',
      garment,
      garmentHash: 'shirt',
      logo: null,
      product: { title: 'T-shirt', description: null, classifications: { type: 'flat_lay' } },
      options: { watermark: false, seed: 1, mode: 'balanced', format: 'png', fullResolution: false },
    }
  })
  afterAll(() => engines.get('warp')?.release?.())

  const dress = async (
    lastPhoto?: LastPhoto,
    more: Partial<TryOnRequest> = {},
    signal = new AbortController().signal,
  ) => {
    runs.length = 0
    const context = { models, engines, signal, onProgress: () => {}, ...(lastPhoto && { lastPhoto }) }
    return tryOn({ ...request, ...more }, context)
  }

  it('is not analysed again for another product, and gives the same result', async () => {
    const lastPhoto = createLastPhoto()
    await dress(lastPhoto)
    expect(runs).toContain('pose_landmark_heavy')
    const garment = await readFile(new URL('../../../scripts/samples/garments/tshirt-stripe.jpg', import.meta.url))
    const other = { garment, garmentHash: 'stripes' }
    const { image, found } = await dress(lastPhoto, other)
    // The parser labels the result, which is then judged.
    expect(runs).toEqual(['parser'])
    const alone = await dress(undefined, other)
    expect(Buffer.compare(image, alone.image)).toBe(0)
    expect(found).toEqual(alone.found)
    lastPhoto.evict()
  })

  it('is analysed again for another crop, another engine, and a stricter check', async () => {
    const lastPhoto = createLastPhoto()
    await dress(lastPhoto, mock)
    expect(lastPhoto.find({ ...request, ...mock })).not.toBeNull()
    const others = [{ crop: 'auto' }, { engine: 'warp' }, { photo: request.garment }, { safety: { level: 'strict' } }]
    for (const other of others) expect(lastPhoto.find({ ...request, ...mock, ...other } as TryOnRequest)).toBeNull()
    lastPhoto.evict()
  })

  it('leaves the memory after its lifetime, before a receipt confirms an erasure', () => {
    vi.useFakeTimers()
    const lastPhoto = createLastPhoto()
    const photo = { width: 1, height: 1, channels: 3, data: new Uint8Array(3) } as const
    lastPhoto.set(request, { photo, crop: null, warnings: [], found: null })
    vi.advanceTimersByTime(LIFETIME_MS - 1)
    expect(lastPhoto.find(request)).not.toBeNull()
    vi.advanceTimersByTime(1)
    expect(lastPhoto.find(request)).toBeNull()
    vi.useRealTimers()
    // A job can run a little longer than its photo exists.
    expect(LIFETIME_MS / 1000).toBeLessThanOrEqual(CACHE_SECONDS - 15)
  })

  it('is not kept by an aborted job, nor by one in full resolution', async () => {
    const lastPhoto = createLastPhoto()
    await dress(lastPhoto, mock)
    await dress(lastPhoto, { ...mock, options: { ...request.options, fullResolution: true } })
    expect(lastPhoto.find({ ...request, ...mock })).toBeNull()
    await expect(dress(lastPhoto, mock, AbortSignal.abort())).rejects.toThrow('aborted')
    expect(lastPhoto.find({ ...request, ...mock })).toBeNull()
  })
})
