import { setImmediate } from 'node:timers/promises'
import type { Session, Tensor } from '../../inference/session.ts'
import type { Size } from '../../vision/raster/plane.ts'
import type { Nothing, Plan } from './conditions.ts'
import { gaussianNoise } from './noise.ts'
import { rowWeights } from './schedule.ts'
import { assertNumbers, joinTensors, sliceTensor } from './tensors.ts'

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

/** How long a call of the graph may take: between two calls, a job reports progress and notices an abort. */
const CALL_MS = 1000
/** Of the number of steps from one call to the next. */
const MAX_GROWTH = 4

/**
 * Denoises an image, 1 × 3 × height × width, with the graph `denoise`: the first step alone, then as many steps per call as take
 * `callMs`, because each call copies its inputs to the device and its sample back. The rows of a guided step are that with the garment,
 * then that without. Returns the sample after the last step, not clipped.
 * @throws RESULT_REJECTED if the sample contains NaN or Infinity, and the signal's reason.
 */
export async function denoise(
  graph: Session,
  noise: Tensor,
  {
    input: { person, garment, nothing, plan, guidance },
    signal,
    onStep,
    callMs = CALL_MS,
  }: {
    input: DenoiseInput
    signal: AbortSignal
    /** Called after each call of the graph with the number of finished steps. */
    onStep: (done: number) => void
    callMs?: number
  },
): Promise<Tensor> {
  const conditions = {
    person_tokens: joinTensors([person, nothing.person]),
    garment_tokens: joinTensors([garment, nothing.garment]),
  }
  const weights = plan.steps.map((step) => rowWeights(step, guidance))
  let sample = noise
  let count = 1
  for (let done = 0; done < weights.length; onStep(done)) {
    // The runtime blocks the thread: an abort message can arrive only here.
    await setImmediate()
    signal.throwIfAborted()
    const rows = weights[done].length
    const step = takeSteps(weights, done, count)
    const startedAt = performance.now()
    const { denoised } = await graph.run({
      ...conditions,
      sample,
      modulation: sliceTensor(plan.modulation, done, step.length),
      row_condition: { shape: [rows], data: Float32Array.from({ length: rows }, (_, row) => row) },
      step_weights: { shape: [step.length, rows], data: Float32Array.from(step.flat()) },
    })
    sample = denoised
    done += step.length
    const fitting = Math.floor((callMs * step.length) / (performance.now() - startedAt))
    // No more than a few times what was measured: later steps may be slower.
    count = Math.max(1, Math.min(fitting, MAX_GROWTH * step.length))
  }
  // A step adds to the sample: NaN and Infinity stay until the end.
  assertNumbers(sample)
  return sample
}

/** Up to `count` steps from `first` with as many rows as that: a call has the same rows in all its steps. */
function takeSteps(weights: readonly (readonly number[])[], first: number, count: number) {
  const taken = weights.slice(first, first + count)
  const other = taken.findIndex((rows) => rows.length !== taken[0].length)
  return other === -1 ? taken : taken.slice(0, other)
}
