import type { Tensor } from '../../inference/session.ts'
import type { Plane } from '../../raster/plane.ts'
import type { Bytes } from '../diffusion/bytes.ts'
import type { Mode } from '../diffusion/manifest.ts'
import { keepRecent } from '../diffusion/recent.ts'
import { toTensor } from '../diffusion/tensors.ts'
import type { KeptProducts } from '../engine.ts'
import type { Graphs } from './graphs.ts'
import { encodePictures } from './latents.ts'
import type { CatVtonManifest } from './manifest.ts'
import { ddimSteps, type Step } from './schedule.ts'

/** The network's inputs beside the sample. The product's latent is cached. */
export interface Conditions {
  /** `mask` is 1 where the person is to be drawn; both are of the canvas's size. */
  person(picture: Bytes, mask: Plane): Promise<{ readonly latent: Tensor; readonly mask: Tensor }>
  /** `key` says which garment it is. */
  garment(key: string, make: () => Promise<Bytes>): Promise<Tensor>
  steps(mode: Mode): readonly Step[]
  readonly kept: KeptProducts
}

/** At full size about a hundred garments. */
const KEPT_BYTES = 20e6
/** The px in each direction for one value of a latent. */
const LATENT_CELL = 8
const HALF = 0.5

export function createConditions(graphs: Graphs, { sampling, latentScale }: CatVtonManifest): Conditions {
  const garments = keepRecent<Tensor>(KEPT_BYTES, ({ data }) => data.byteLength)
  const encode = (picture: Tensor) => encodePictures(graphs.encoder, picture, latentScale)
  return {
    person: async (picture, mask) => ({ latent: await encode(masked(toTensor(picture), mask)), mask: cellsOf(mask) }),
    garment: (key, make) => garments.get(key, async () => encode(toTensor(await make()))),
    steps: (mode) => ddimSteps(sampling.steps[mode], sampling),
    kept: garments,
  }
}

/** The middle of the values, not black, where the mask is set. */
function masked({ shape, data }: Tensor, mask: Plane): Tensor {
  return { shape, data: data.map((value, i) => (mask.data[i % mask.data.length] < HALF ? value : 0)) }
}

/** The mask at each cell's first pixel, as the published pipeline takes it. */
function cellsOf({ width, height, data }: Plane): Tensor {
  const [columns, rows] = [width / LATENT_CELL, height / LATENT_CELL]
  const cells = Float32Array.from({ length: columns * rows }, (_, i) => {
    const [x, y] = [i % columns, Math.floor(i / columns)]
    return data[y * LATENT_CELL * width + x * LATENT_CELL] < HALF ? 0 : 1
  })
  return { shape: [1, 1, rows, columns], data: cells }
}
