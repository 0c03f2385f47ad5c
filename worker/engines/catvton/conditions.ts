import type { Tensor } from '../../inference/session.ts'
import type { Plane } from '../../raster/plane.ts'
import type { Bytes } from '../diffusion/bytes.ts'
import { createLruCache } from '../diffusion/lru-cache.ts'
import type { Mode } from '../diffusion/manifest.ts'
import { toTensor } from '../diffusion/tensors.ts'
import type { EvictableCache } from '../engine.ts'
import type { Graphs } from './graphs.ts'
import { encodeImages } from './latents.ts'
import type { CatVtonManifest } from './manifest.ts'
import { ddimSteps, type Step } from './schedule.ts'

/** The network's inputs besides the sample. The latent of the product is cached. */
export interface Conditions {
  /** `mask` is 1 where the model draws the person. Both have the size of the canvas. */
  person(bitmap: Bytes, mask: Plane): Promise<{ readonly latent: Tensor; readonly mask: Tensor }>
  /** `key` identifies the garment in the cache. */
  garment(key: string, make: () => Promise<Bytes>): Promise<Tensor>
  steps(mode: Mode): readonly Step[]
  readonly cache: EvictableCache
}

/** About 100 garments at full size. */
const CACHE_BYTES = 20e6
/** px per latent value in each direction. */
const LATENT_CELL = 8
const HALF = 0.5

export function createConditions(graphs: Graphs, { sampling, latentScale }: CatVtonManifest): Conditions {
  const garments = createLruCache<Tensor>(CACHE_BYTES, ({ data }) => data.byteLength)
  const encode = (bitmap: Tensor) => encodeImages(graphs.encoder, bitmap, latentScale)
  return {
    person: async (bitmap, mask) => ({ latent: await encode(masked(toTensor(bitmap), mask)), mask: cellsOf(mask) }),
    garment: (key, make) => garments.get(key, async () => encode(toTensor(await make()))),
    steps: (mode) => ddimSteps(sampling.steps[mode], sampling),
    cache: garments,
  }
}

/** Sets masked values to the middle of the range, not to black. */
function masked({ shape, data }: Tensor, mask: Plane): Tensor {
  return { shape, data: data.map((value, i) => (mask.data[i % mask.data.length] < HALF ? value : 0)) }
}

/** The mask at the first pixel of each cell, as in the published pipeline. */
function cellsOf({ width, height, data }: Plane): Tensor {
  const [columns, rows] = [width / LATENT_CELL, height / LATENT_CELL]
  const cells = Float32Array.from({ length: columns * rows }, (_, i) => {
    const [x, y] = [i % columns, Math.floor(i / columns)]
    return data[y * LATENT_CELL * width + x * LATENT_CELL] < HALF ? 0 : 1
  })
  return { shape: [1, 1, rows, columns], data: cells }
}
