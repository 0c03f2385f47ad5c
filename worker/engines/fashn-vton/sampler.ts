import { setImmediate } from 'node:timers/promises'
import { DrapeError } from '../../../api/shared/errors.ts'
import type { Tensor } from '../../inference/session.ts'

/**
 * Runs `steps` steps of `advance` on noise. Between two steps it checks for an abort and reports progress. Returns the sample after the
 * last step, not clipped.
 * @throws RESULT_REJECTED as soon as a sample contains NaN or Infinity, and the signal's reason.
 */
export async function takeSteps(
  noise: Tensor,
  steps: number,
  {
    advance,
    signal,
    onStep,
  }: {
    advance: (sample: Tensor, index: number) => Promise<Tensor>
    signal: AbortSignal
    /** Called after each step with the number of finished steps. */
    onStep: (done: number) => void
  },
): Promise<Tensor> {
  let sample = noise
  for (let index = 0; index < steps; index++) {
    // The runtime blocks the thread: an abort message can arrive only here.
    await setImmediate()
    signal.throwIfAborted()
    sample = await advance(sample, index)
    assertNumbers(sample)
    onStep(index + 1)
  }
  return sample
}

/** @throws RESULT_REJECTED if the tensor contains NaN or Infinity. */
export function assertNumbers({ data }: Tensor): void {
  if (!data.every(Number.isFinite))
    throw new DrapeError('RESULT_REJECTED', 'The model returned values that are not numbers.')
}
