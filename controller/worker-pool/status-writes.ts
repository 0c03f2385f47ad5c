import { isDeepStrictEqual } from 'node:util'
import type { PoolStatus } from './status-schema.ts'

/** Between two writes of a status in which no condition changes. */
const MIN_INTERVAL_MS = 10_000

/** In ms: 0 when the status is to be written now, infinite when it is as it should be. */
export function untilStatusWrite(
  before: PoolStatus | undefined,
  after: PoolStatus,
  writtenAt: number,
  now: Date,
): number {
  if (isDeepStrictEqual(JSON.parse(JSON.stringify(after)), before)) return Number.POSITIVE_INFINITY
  if (before?.observedGeneration !== after.observedGeneration) return 0
  if (!isDeepStrictEqual(outcomesOf(before), outcomesOf(after))) return 0
  return Math.max(0, writtenAt + MIN_INTERVAL_MS - now.getTime())
}

/** What tools wait for; a message may count something. */
function outcomesOf(status: PoolStatus | undefined) {
  return status?.conditions.map(({ type, status: holds, reason }) => `${type} ${holds} ${reason}`)
}
