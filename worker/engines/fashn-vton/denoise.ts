import type { Session, Tensor } from '../../inference/session.ts'
import type { Size } from '../../raster/plane.ts'
import type { Nothing, Plan } from './conditions.ts'
import { gaussianNoise } from './noise.ts'
import { takeSteps } from './sampler.ts'
import { rowWeights } from './schedule.ts'
import { joinTensors } from './tensors.ts'

export interface DenoiseInput {
  readonly person: Tensor
  readonly garment: Tensor
  readonly nothing: Nothing
  readonly plan: Plan
  readonly guidance: number
}

/** The noise of samples 0 to `samples` − 1 of a seed, samples × 3 × height × width. */
export function startNoise({ width, height }: Size, { seed, samples }: { seed: number; samples: number }): Tensor {
  const count = 3 * height * width
  return joinTensors(
    Array.from({ length: samples }, (_, sample) => ({
      shape: [1, 3, height, width],
      data: gaussianNoise(count, { seed, sample }),
    })),
  )
}

/**
 * Denoises images, n × 3 × height × width, with the graph `denoise`, one step per call. The rows of a guided step are those with the
 * garment, then those without. Throws as `takeSteps` does.
 */
export function denoise(
  graph: Session,
  noise: Tensor,
  {
    input: { person, garment, nothing, plan, guidance },
    signal,
    onStep,
  }: { input: DenoiseInput; signal: AbortSignal; onStep: (done: number) => void },
): Promise<Tensor> {
  const samples = noise.shape[0]
  const both = { person: joinTensors([person, nothing.person]), garment: joinTensors([garment, nothing.garment]) }
  return takeSteps(noise, plan.steps.length, {
    signal,
    onStep,
    advance: async (sample, index) => {
      const weights = rowWeights(plan.steps[index], guidance)
      const guided = weights.length > 1
      const { denoised } = await graph.run({
        sample,
        person_tokens: guided ? both.person : person,
        garment_tokens: guided ? both.garment : garment,
        modulation: guided ? plan.modulation[index] : firstRow(plan.modulation[index]),
        row_condition: perRow(samples, [...weights.keys()], []),
        step_weights: perRow(samples, weights, [1]),
      })
      return denoised
    },
  })
}

/** Repeats each value for every sample. */
function perRow(samples: number, values: readonly number[], before: readonly number[]): Tensor {
  const data = Float32Array.from(values.flatMap((value) => Array<number>(samples).fill(value)))
  return { shape: [...before, data.length], data }
}

function firstRow({ shape: [steps, , width], data }: Tensor): Tensor {
  return { shape: [steps, 1, width], data: data.subarray(0, width) }
}
