import type { ServerResponse } from 'node:http'

/** What a response counts against, and its maximum of open responses. */
export interface OpenLimit {
  readonly id: string
  readonly max: number
}

/** False if one of the limits is reached; otherwise counts the response in all of them until it ends. */
export type OpenResponse = (res: Pick<ServerResponse, 'closed' | 'once'>, limits: readonly OpenLimit[]) => boolean

/** Counts the responses that this process is sending: streams last long, and each takes memory. */
export function createOpenResponses(): OpenResponse {
  const counts = new Map<string, number>()
  return (res, limits) => {
    if (limits.some(({ id, max }) => (counts.get(id) ?? 0) >= max)) return false
    if (res.closed) return true
    for (const { id } of limits) counts.set(id, (counts.get(id) ?? 0) + 1)
    res.once('close', () => {
      for (const { id } of limits) {
        const left = (counts.get(id) ?? 0) - 1
        if (left > 0) counts.set(id, left)
        else counts.delete(id)
      }
    })
    return true
  }
}
