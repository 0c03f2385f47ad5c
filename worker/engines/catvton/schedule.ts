import type { Sampling } from './manifest.ts'

/** One step of DDIM: for a sample x, the predicted noise e and fresh noise z the next sample is sample·x + seen·e + fresh·z. */
export interface Step {
  /** The training timestep, an input of the network. */
  readonly time: number
  readonly sample: number
  readonly seen: number
  readonly fresh: number
}

/**
 * ᾱ after each training step, the share of an image's variance that the noise has left: the product of 1 − β, where √β rises
 * linearly.
 * Source: the schedule of Stable Diffusion, "scaled linear" in the diffusers library.
 */
export function cumulativeAlphas({ trainingSteps, betaStart, betaEnd }: Sampling['schedule']): Float64Array {
  const [from, to] = [Math.sqrt(betaStart), Math.sqrt(betaEnd)]
  const alphas = new Float64Array(trainingSteps)
  let product = 1
  for (let i = 0; i < trainingSteps; i++) {
    product *= 1 - (from + ((to - from) * i) / Math.max(1, trainingSteps - 1)) ** 2
    alphas[i] = product
  }
  return alphas
}

/**
 * The steps from noise to image: every n-th training step from the first, shifted by `offset` ("leading" spacing).
 * Source: Song, Meng and Ermon 2021, "Denoising Diffusion Implicit Models", equations 12 and 16.
 */
export function ddimSteps(count: number, { schedule, eta }: Pick<Sampling, 'schedule' | 'eta'>): Step[] {
  const alphas = cumulativeAlphas(schedule)
  const length = Math.floor(schedule.trainingSteps / count)
  const last = schedule.finalAlphaIsOne ? 1 : alphas[0]
  return Array.from({ length: count }, (_, i) => {
    const time = (count - 1 - i) * length + schedule.offset
    const alpha = alphas[time]
    const next = time - length >= 0 ? alphas[time - length] : last
    const fresh = eta * Math.sqrt(((1 - next) / (1 - alpha)) * (1 - alpha / next))
    const sample = Math.sqrt(next / alpha)
    return { time, sample, seen: Math.sqrt(1 - next - fresh ** 2) - sample * Math.sqrt(1 - alpha), fresh }
  })
}
