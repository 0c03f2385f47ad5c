import { isDeepStrictEqual } from 'node:util'
import type { PoolStatus } from './status-schema.ts'

/** Min interval between status writes without a change of a condition. */
const MIN_INTERVAL_MS = 10_000

/** Milliseconds until the next status write: 0 for now, infinite if the status is current. */
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

/** The parts that tools wait for; a message can contain a count. */
function outcomesOf(status: PoolStatus | undefined) {
  return status?.conditions.map(({ type, status: holds, reason }) => `${type} ${holds} ${reason}`)
}
