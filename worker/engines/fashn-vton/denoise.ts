import { setImmediate } from 'node:timers/promises'
import { DrapeError } from '../../../api/shared/contract/errors.ts'
import { findDeviceFault } from '../../inference/device-fault.ts'
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
 * Denoises images, samples × 3 × height × width, with the graph `denoise`: the first step alone, then as many steps per call as take
 * `callMs`, because each call copies its inputs to the device and its sample back. The rows of a guided step are those with the garment,
 * one for each sample, then those without. Returns the samples after the last step, not clipped.
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
  const [samples] = noise.shape
  const eachSample = <T>(values: readonly T[]) =>
    values.flatMap((value) => Array.from({ length: samples }, () => value))
  const weights = plan.steps.map((step) => eachSample(rowWeights(step, guidance)))
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
      row_condition: {
        shape: [rows],
        data: Float32Array.from({ length: rows }, (_, row) => Math.floor(row / samples)),
      },
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

/** Whether samples are denoised in one call. The first call without memory for all of them ends that. */
export interface Batching {
  isPossible: boolean
}

/**
 * Denoises each noise: all together if the device has the memory, else one after the other. Returns RESULT_REJECTED in place of an image
 * that is not finite.
 * @throws as `denoise`, for any other reason
 */
export async function denoiseEach(
  graph: Session,
  noises: readonly Tensor[],
  {
    batching,
    onProgress,
    ...options
  }: {
    readonly input: DenoiseInput
    readonly signal: AbortSignal
    readonly batching: Batching
    /** Share of all steps that is done, 0 to 1. */
    readonly onProgress: (share: number) => void
  },
): Promise<(Tensor | DrapeError)[]> {
  const steps = options.input.plan.steps.length
  if (batching.isPossible && noises.length > 1) {
    const onStep = (done: number) => onProgress(done / steps)
    const all = await denoise(graph, joinTensors(noises), { ...options, onStep }).catch((error) => {
      if (findDeviceFault(error)?.reason === 'OutOfMemory') batching.isPossible = false
      else if (!isRejected(error)) throw error
      return null
    })
    if (all) return noises.map((_, i) => sliceTensor(all, i, 1))
  }
  const samples: (Tensor | DrapeError)[] = []
  for (const [i, noise] of noises.entries()) {
    const onStep = (done: number) => onProgress((i + done / steps) / noises.length)
    const sample = await denoise(graph, noise, { ...options, onStep }).catch((error) => {
      if (isRejected(error)) return error
      throw error
    })
    samples.push(sample)
  }
  return samples
}

function isRejected(error: unknown): error is DrapeError {
  return error instanceof DrapeError && error.code === 'RESULT_REJECTED'
}

/** Up to `count` steps from `first` with as many rows as that: a call has the same rows in all its steps. */
function takeSteps(weights: readonly (readonly number[])[], first: number, count: number) {
  const taken = weights.slice(first, first + count)
  const other = taken.findIndex((rows) => rows.length !== taken[0].length)
  return other === -1 ? taken : taken.slice(0, other)
}
