import { until } from './until.ts'

/**
 * Repeats the requests, each time for another caller, until the given number of answers are refusals (429), and resolves with
 * these. A single try is not enough: replicas share a count only while Redis answers in time, which a busy machine can prevent.
 * A limit that never counts right ends in the timeout of the test.
 */
export function untilCounted(askAll: () => Promise<Response[]>, refusals: number): Promise<Response[]> {
  return until(async () => {
    const refused = (await askAll()).filter(({ status }) => status === 429)
    return refused.length === refusals && refused
  })
}
