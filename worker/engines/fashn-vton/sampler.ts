import { setImmediate } from 'node:timers/promises'
import { DrapeError } from '../../../api/shared/errors.ts'
import type { Tensor } from '../../inference/session.ts'
import type { Step } from './schedule.ts'

/**
 * Takes noise through all steps by `advance`, one at a time: between two of them an abort is obeyed and the progress told. Returns the
 * sample after the last one, not clipped.
 * @throws RESULT_REJECTED as soon as a sample holds what is no number, and the signal's reason.
 */
export async function sampleFlow(
  noise: Tensor,
  steps: readonly Step[],
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
  for (const index of steps.keys()) {
    // The runtime blocks the thread: only here a message that asks to stop can come in.
    await setImmediate()
    signal.throwIfAborted()
    sample = await advance(sample, index)
    if (!sample.data.every(Number.isFinite))
      throw new DrapeError('RESULT_REJECTED', 'The model returned values that are not numbers.')
    onStep(index + 1)
  }
  return sample
}
