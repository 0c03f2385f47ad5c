import { until } from './until.ts'

/**
 * Asks, each time for someone else, until so many of the answers are refusals (429), and resolves with these. Replicas count
 * together only while Redis answers them in time, which on a busy machine is not always; whoever never counts right is never
 * done.
 */
export function untilCounted(askAll: () => Promise<Response[]>, refusals: number): Promise<Response[]> {
  return until(async () => {
    const refused = (await askAll()).filter(({ status }) => status === 429)
    return refused.length === refusals && refused
  })
}
