import type { Session, Tensor } from '../../inference/session.ts'
import { gaussianNoise } from '../diffusion/noise.ts'
import { takeSteps } from '../diffusion/sampler.ts'
import { joinTensors } from '../diffusion/tensors.ts'
import { stackLatents, zerosLike } from './latents.ts'
import type { Step } from './schedule.ts'

export interface DenoiseInput {
  /** Latents of the masked person and of the product, 1 × 4 × height × width. */
  readonly person: Tensor
  readonly garment: Tensor
  /** 1 where the model draws the person, 1 × 1 × height × width. */
  readonly mask: Tensor
  readonly steps: readonly Step[]
  readonly guidance: number
  /** Unit noise, samples × 4 × 2·height × width. Stream 0 is the initial noise; stream i is the noise that step i − 1 adds. */
  readonly noise: (stream: number) => Tensor
}

/** The noise of samples 0 to `samples` − 1 of a seed for latents of this shape, 1 × 4 × height × width. */
export function latentNoise(
  { shape: [, channels, height, width] }: Tensor,
  { seed, samples }: { seed: number; samples: number },
): DenoiseInput['noise'] {
  const shape = [1, channels, 2 * height, width]
  const count = channels * 2 * height * width
  return (stream) =>
    joinTensors(
      Array.from({ length: samples }, (_, sample) => ({ shape, data: gaussianNoise(count, { seed, sample, stream }) })),
    )
}

/**
 * Denoises samples of person above product, n × 4 × 2·height × width, with the graph `denoiser`, one step per call. The rows
 * without the product come first, then the rows with the product. Throws as `takeSteps` does.
 */
export function denoise(
  graph: Session,
  { person, garment, mask, steps, guidance, noise }: DenoiseInput,
  { signal, onStep }: { signal: AbortSignal; onStep: (done: number) => void },
): Promise<Tensor> {
  const start = noise(0)
  const masks = stackLatents(mask, zerosLike(mask))
  const withGarment = stackLatents(person, garment)
  const without = stackLatents(person, zerosLike(garment))
  const conditions = guidance > 1 ? [without, withGarment] : [withGarment]
  return takeSteps(start, steps.length, {
    signal,
    onStep,
    advance: async (sample, index) => {
      const step = steps[index]
      const rows = joinRows(sample, { masks, conditions })
      const times = new Float32Array(rows.shape[0]).fill(step.time)
      const { noise: seen } = await graph.run({ sample: rows, time: { shape: [times.length], data: times } })
      return advance(sample, step, { seen: guide(seen, sample.data.length, guidance), fresh: noise(index + 1) })
    },
  })
}

/** Channels of a row: sample 4, mask 1, latents 4. */
function joinRows(
  { shape: [samples, channels, height, width], data }: Tensor,
  { masks, conditions }: { masks: Tensor; conditions: readonly Tensor[] },
): Tensor {
  const size = channels * height * width
  const rows = conditions.flatMap((condition) =>
    Array.from({ length: samples }, (_, i) => [data.subarray(i * size, (i + 1) * size), masks.data, condition.data]),
  )
  const parts = rows.flat()
  const out = new Float32Array(parts.reduce((sum, part) => sum + part.length, 0))
  let at = 0
  for (const part of parts) {
    out.set(part, at)
    at += part.length
  }
  return { shape: [rows.length, 2 * channels + 1, height, width], data: out }
}

/** Source: classifier-free guidance, Ho and Salimans 2022. */
function guide({ data }: Tensor, length: number, guidance: number): Float32Array {
  if (data.length === length) return data
  const out = new Float32Array(length)
  for (let i = 0; i < length; i++) out[i] = data[i] + guidance * (data[length + i] - data[i])
  return out
}

function advance({ shape, data }: Tensor, step: Step, { seen, fresh }: { seen: Float32Array; fresh: Tensor }): Tensor {
  const out = new Float32Array(data.length)
  for (let i = 0; i < out.length; i++) out[i] = step.sample * data[i] + step.seen * seen[i] + step.fresh * fresh.data[i]
  return { shape, data: out }
}
