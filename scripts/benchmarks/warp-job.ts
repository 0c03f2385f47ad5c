import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { decodeImage, encodeImage } from '../../api/shared/image/image.ts'
import { createEngines } from '../../worker/engines/registry.ts'
import { openModels } from '../../worker/inference/models.ts'
import type { TryOnRequest } from '../../worker/inference/protocol.ts'
import { tryOn } from '../../worker/job/try-on.ts'
import type { Benchmark } from './benchmark.ts'
import { timeRuns } from './model-runs.ts'
import { bySize } from './size.ts'

const ROUNDS = bySize({ smallest: 1, usual: 5 })
const MODELS = fileURLToPath(new URL('../../worker/models', import.meta.url))
const SAMPLES = new URL('../samples/', import.meta.url)

export const warpJob: Benchmark = {
  id: 'P11',
  what: 'a try-on by the warp engine against its model runs and the minimal image work',
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
    const jobs: number[] = []
    const bare: number[] = []
    for (let round = 0; round <= ROUNDS; round++) {
      spent.ms = 0
      // Another hash each time, so that the garment is not cached.
      const request = requestFor({ photo, garment, garmentHash: `round ${round}` })
      const started = performance.now()
      const { image } = await tryOn(request, {
        models,
        engines,
        signal: new AbortController().signal,
        onProgress: () => {},
      })
      jobs.push(performance.now() - started)
      bare.push(spent.ms + (await measureImages({ photo, garment, image })))
    }
    return { ours: Math.min(...jobs.slice(1)), anchor: Math.min(...bare.slice(1)) }
  },
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
