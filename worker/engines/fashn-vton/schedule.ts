/** One step of a sampler through time, which runs from 0 (noise) to 1 (image). */
export interface Step {
  /** Start of the step. */
  readonly time: number
  /** Length of the step. */
  readonly length: number
  /** Whether the step also predicts the image without person and garment, for guidance. */
  readonly guided: boolean
}

/**
 * Times of a rectified flow at the `steps` + 1 ends of steps, ascending from 0 to 1: t = a / (a + steps/k − 1) with a = e^−shift. A
 * larger shift makes the first steps smaller.
 * Source: the resolution-dependent shift of Esser et al. 2024, "Scaling Rectified Flow Transformers", in the form of FASHN VTON v1.5.
 */
export function flowTimes(steps: number, shift: number): number[] {
  const a = Math.exp(-shift)
  return Array.from({ length: steps + 1 }, (_, k) => a / (a + steps / k - 1))
}

/** The steps between these times. The last `unguidedLastSteps` have no guidance. */
export function stepsBetween(times: readonly number[], unguidedLastSteps: number): Step[] {
  const count = times.length - 1
  return times.slice(0, count).map((time, i) => ({
    time,
    length: times[i + 1] - time,
    guided: unguidedLastSteps === 0 || i < count - unguidedLastSteps,
  }))
}

/**
 * Weight of each row's velocity in a step: [with the garment, without it]; only the first if the step is not guided. Source:
 * classifier-free guidance, Ho and Salimans 2022: v = v_without + guidance · (v_with − v_without).
 */
export function rowWeights({ length, guided }: Step, guidance: number): readonly number[] {
  return guided ? [length * guidance, length * (1 - guidance)] : [length]
}
