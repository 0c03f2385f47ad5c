import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { decodeImage, encodeImage } from '../../api/shared/image/image.ts'
import { createEngines } from '../../worker/engines/registry.ts'
import { openModels } from '../../worker/inference/models.ts'
import type { TryOnRequest } from '../../worker/inference/protocol.ts'
import { warmUp } from '../../worker/inference/self-test.ts'
import { tryOn } from '../../worker/job/try-on.ts'
import { runGarmentModels } from '../../worker/vision/garment/garment-models.ts'
import { LONGEST, prepareProduct } from '../../worker/vision/garment/prepare-product.ts'
import type { Benchmark } from './benchmark.ts'
import { timeRuns } from './model-runs.ts'
import { bySize } from './size.ts'

const ROUNDS = bySize({ smallest: 1, usual: 5 })
const WARM_MS = bySize({ smallest: 0, usual: 30_000 })
const MODELS = fileURLToPath(new URL('../../worker/models', import.meta.url))
const SAMPLES = new URL('../samples/', import.meta.url)

export const warpJob: Benchmark = {
  id: 'P11',
  what: 'a try-on by the warp engine in a warm worker, against its model runs and the minimal image work',
  unit: 'ms',
  better: 'lower',
  goal: 2.5,
  measure: async (bench) => {
    const { models, spent } = timeRuns(await openModels(MODELS))
    bench.defer(() => models.release())
    const engines = await createEngines(['warp'], { models })
    const [photo, garment] = await Promise.all(
      ['persons/down-half-teal.jpg', 'garments/tshirt-mustard.jpg'].map((path) => readFile(new URL(path, SAMPLES))),
    )
    const run = (garmentHash: string) =>
      tryOn(requestFor({ photo, garment, garmentHash }), {
        models,
        engines,
        signal: new AbortController().signal,
        onProgress: () => {},
      })
    await warmUpAsWorker({ models, engines })
    const jobs: number[] = []
    const cpu: number[] = []
    const bare: number[] = []
    for (let round = 0; round <= ROUNDS; round++) {
      spent.ms = 0
      const [started, used] = [performance.now(), process.cpuUsage()]
      // Another hash each time, so that the garment is not cached.
      const { image } = await run(`round ${round}`)
      jobs.push(performance.now() - started)
      const { user, system } = process.cpuUsage(used)
      cpu.push((user + system) / 1000)
      bare.push(spent.ms + (await measureImages({ photo, garment, image })))
    }
    const passes = await countPasses(async () => {
      // The engine prepares a new garment on another thread, where nothing is counted.
      await prepareProduct(await decodeImage(garment), { category: 'tops', longest: LONGEST }, runGarmentModels(models))
      await run(`round ${ROUNDS}`)
    })
    return {
      ours: Math.min(...jobs.slice(1)),
      anchor: Math.min(...bare.slice(1)),
      note: `the first job ${jobs[0].toFixed()} ms; processor time ${Math.min(...cpu.slice(1)).toFixed()} ms; ${passes} passes write more than ${LARGE} values`,
    }
  },
}

/** What a worker does from its start to its first job. */
async function warmUpAsWorker(parts: Omit<Parameters<typeof warmUp>[0], 'signal'>): Promise<void> {
  const signal = AbortSignal.timeout(WARM_MS)
  try {
    await warmUp({ ...parts, signal })
  } catch (error) {
    if (!signal.aborted) throw error
  }
}

const LARGE = 150_000
const ARRAYS = ['Float32Array', 'Int32Array', 'Uint8Array', 'Uint8ClampedArray'] as const

/** The number of large arrays that `work` creates: each pass over a bitmap writes one. */
async function countPasses(work: () => Promise<unknown>): Promise<number> {
  let passes = 0
  const originals = ARRAYS.map((name) => [name, globalThis[name]] as const)
  for (const [name, original] of originals) {
    const counting = new Proxy<typeof original>(original, {
      construct: (target, values, newTarget) => {
        const array = Reflect.construct(target, values, newTarget)
        if (array.length > LARGE && !(values[0] instanceof ArrayBuffer)) passes++
        return array
      },
    })
    Object.defineProperty(globalThis, name, { value: counting })
    Object.defineProperty(original.prototype, 'constructor', { value: counting })
  }
  try {
    await work()
  } finally {
    for (const [name, original] of originals) {
      Object.defineProperty(globalThis, name, { value: original })
      Object.defineProperty(original.prototype, 'constructor', { value: original })
    }
  }
  return passes
}

export function requestFor({
  photo,
  garment,
  garmentHash,
}: {
  photo: Buffer
  garment: Buffer
  garmentHash: string
}): TryOnRequest {
  return {
    engine: 'warp',
    photo,
    crop: 'auto',
    garment,
    garmentHash,
    logo: null,
    product: { title: 'T-shirt', description: null, classifications: null },
    options: { watermark: false, seed: 42, mode: 'balanced', format: 'jpeg', fullResolution: false },
  }
}

/** One decode of each input and one encode of the output. */
async function measureImages({
  photo,
  garment,
  image,
}: Record<'photo' | 'garment' | 'image', Uint8Array>): Promise<number> {
  const result = await decodeImage(image)
  const started = performance.now()
  await Promise.all([decodeImage(photo), decodeImage(garment)])
  await encodeImage(result, { format: 'jpeg' })
  return performance.now() - started
}
