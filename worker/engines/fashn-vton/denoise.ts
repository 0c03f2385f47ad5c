import { setImmediate } from 'node:timers/promises'
import type { Session, Tensor } from '../../inference/session.ts'
import type { Size } from '../../vision/raster/plane.ts'
import type { Nothing, Plan } from './conditions.ts'
import { gaussianNoise } from './noise.ts'
import { rowWeights } from './schedule.ts'
import { assertNumbers, joinTensors } from './tensors.ts'

export interface DenoiseInput {
  readonly person: Tensor
  readonly garment: Tensor
  readonly nothing: Nothing
  readonly plan: Plan
  readonly guidance: number
}

/** The noise of a seed, 1 × 3 × height × width. */
export function startNoise({ width, height }: Size, seed: number): Tensor {
  return { shape: [1, 3, height, width], data: gaussianNoise(3 * height * width, seed) }
}

/**
 * Denoises an image, 1 × 3 × height × width, with the graph `denoise`, one step per call. The rows of a guided step are that with the
 * garment, then that without. Between two steps it checks for an abort and reports progress. Returns the sample after the last step,
 * not clipped.
 * @throws RESULT_REJECTED if the sample contains NaN or Infinity, and the signal's reason.
 */
export async function denoise(
  graph: Session,
  noise: Tensor,
  {
    input: { person, garment, nothing, plan, guidance },
    signal,
    onStep,
  }: {
    input: DenoiseInput
    signal: AbortSignal
    /** Called after each step with the number of finished steps. */
    onStep: (done: number) => void
  },
): Promise<Tensor> {
  const both = { person: joinTensors([person, nothing.person]), garment: joinTensors([garment, nothing.garment]) }
  let sample = noise
  for (const [index, step] of plan.steps.entries()) {
    // The runtime blocks the thread: an abort message can arrive only here.
    await setImmediate()
    signal.throwIfAborted()
    const weights = rowWeights(step, guidance)
    const guided = weights.length > 1
    const { denoised } = await graph.run({
      sample,
      person_tokens: guided ? both.person : person,
      garment_tokens: guided ? both.garment : garment,
      modulation: guided ? plan.modulation[index] : firstRow(plan.modulation[index]),
      row_condition: { shape: [weights.length], data: Float32Array.from(weights.keys()) },
      step_weights: { shape: [1, weights.length], data: Float32Array.from(weights) },
    })
    sample = denoised
    onStep(index + 1)
  }
  // A step adds to the sample: NaN and Infinity stay until the end.
  assertNumbers(sample)
  return sample
}

function firstRow({ shape: [steps, , width], data }: Tensor): Tensor {
  return { shape: [steps, 1, width], data: data.subarray(0, width) }
}
