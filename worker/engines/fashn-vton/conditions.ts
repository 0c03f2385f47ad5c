import type { Tensor } from '../../inference/session.ts'
import type { Bytes } from '../../vision/raster/bytes.ts'
import type { Size } from '../../vision/raster/plane.ts'
import type { EvictableCache } from '../engine.ts'
import type { TrainedCategory } from './category.ts'
import type { Graphs } from './graphs.ts'
import { createLruCache } from './lru-cache.ts'
import type { FashnVtonManifest, Mode } from './manifest.ts'
import { flowTimes, type Step, stepsBetween } from './schedule.ts'
import { joinTensors, toTensor } from './tensors.ts'

/** A bitmap on the canvas with the skeleton of the person in it. */
export interface Posed {
  readonly bitmap: Bytes
  readonly skeleton: Bytes
}

/** Steps with their modulation, steps × 2 × width, the row with the garment first. */
export interface Plan {
  readonly steps: readonly Step[]
  readonly modulation: Tensor
}

export interface Nothing {
  readonly person: Tensor
  readonly garment: Tensor
}

/** The network's inputs besides the sample. All except the person's tokens are cached. */
export interface Conditions {
  person(posed: Posed): Promise<Tensor>
  /** `key` identifies the garment in the cache. */
  garment(key: string, make: () => Promise<Posed>): Promise<Tensor>
  /** Tokens of no person and no garment, for guidance. */
  nothing(): Promise<Nothing>
  plan(mode: Mode, category: TrainedCategory): Promise<Plan>
  readonly cache: EvictableCache
}

/** About 9 garments at full size, and 7 of the 9 plans. */
const CACHE_BYTES = { garments: 160e6, plans: 384e6 }

export function createConditions(graphs: Graphs, { sampling, categories, size }: FashnVtonManifest): Conditions {
  const garments = createLruCache<Tensor>(CACHE_BYTES.garments, ({ data }) => data.byteLength)
  const plans = createLruCache<Plan>(CACHE_BYTES.plans, ({ modulation }) => modulation.data.byteLength)
  let nothing: Nothing | undefined
  const personOf = async (person: Tensor, pose: Tensor) =>
    (await graphs.person.run({ person, person_pose: pose })).person_tokens
  const garmentOf = async (garment: Tensor, pose: Tensor) =>
    (await graphs.garment.run({ garment, garment_pose: pose })).garment_tokens
  const ofNothing = async () => {
    const [bitmap, pose] = [zeros(3, size), zeros(1, size)]
    return { person: await personOf(bitmap, pose), garment: await garmentOf(bitmap, pose) }
  }

  return {
    cache: garments,
    person: async ({ bitmap, skeleton }) => personOf(toTensor(bitmap), toTensor(skeleton)),
    garment: (key, make) =>
      garments.get(key, async () => {
        const { bitmap, skeleton } = await make()
        return garmentOf(toTensor(bitmap), toTensor(skeleton))
      }),
    nothing: async () => {
      nothing ??= await ofNothing()
      return nothing
    },
    plan: (mode, category) =>
      plans.get(`${mode} ${category}`, async () => {
        const steps = stepsBetween(flowTimes(sampling.steps[mode], sampling.schedule.shift), sampling.unguidedLastSteps)
        return { steps, modulation: await modulate(graphs, steps, [categories[category], categories.none]) }
      }),
  }
}

async function modulate(graphs: Graphs, steps: readonly Step[], rows: readonly number[]): Promise<Tensor> {
  const modulation: Tensor[] = []
  for (const { time } of steps) {
    const { modulation: vectors } = await graphs.modulation.run({
      time: { shape: [rows.length], data: new Float32Array(rows.length).fill(time) },
      category: { shape: [rows.length], data: Float32Array.from(rows) },
    })
    modulation.push({ shape: [1, ...vectors.shape], data: vectors.data })
  }
  return joinTensors(modulation)
}

/** Placeholder for a missing image: the middle of the range, not black. */
function zeros(channels: number, { width, height }: Size): Tensor {
  return { shape: [1, channels, height, width], data: new Float32Array(channels * height * width) }
}
