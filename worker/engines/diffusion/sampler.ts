import { setImmediate } from 'node:timers/promises'
import { DrapeError } from '../../../api/shared/errors.ts'
import type { Tensor } from '../../inference/session.ts'

/**
 * Takes noise through `steps` steps by `advance`, one at a time: between two of them it obeys an abort and reports the progress. Returns
 * the sample after the last one, not clipped.
 * @throws RESULT_REJECTED as soon as a sample holds what is no number, and the signal's reason.
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
    /** After each step, with how many are done. */
    onStep: (done: number) => void
  },
): Promise<Tensor> {
  let sample = noise
  for (let index = 0; index < steps; index++) {
    // The runtime blocks the thread: only here a message that asks to stop can come in.
    await setImmediate()
    signal.throwIfAborted()
    sample = await advance(sample, index)
    assertNumbers(sample)
    onStep(index + 1)
  }
  return sample
}

/** @throws RESULT_REJECTED when the tensor holds what is no number, or one without an end. */
export function assertNumbers({ data }: Tensor): void {
  if (!data.every(Number.isFinite))
    throw new DrapeError('RESULT_REJECTED', 'The model returned values that are not numbers.')
}
