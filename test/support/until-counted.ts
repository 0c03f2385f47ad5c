import { until } from './until.ts'

/**
 * Repeats the requests, each time for another caller, until the given number of responses is 429, and returns
 * these. One attempt is not enough: replicas share a count only while Redis responds in time, which a busy machine can prevent.
 * A limit that never counts correctly ends in the timeout of the test.
 */
export function untilCounted(askAll: () => Promise<Response[]>, refusals: number): Promise<Response[]> {
  return until(async () => {
    const refused = (await askAll()).filter(({ status }) => status === 429)
    return refused.length === refusals && refused
  })
}
