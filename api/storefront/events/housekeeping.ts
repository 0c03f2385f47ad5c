import type { Log } from '../../shared/telemetry/log.ts'
import type { EventOutbox } from './event-outbox.store.ts'
import type { Events } from './events.store.ts'

export interface HousekeepingOptions {
  readonly events: Events
  readonly outbox: EventOutbox
  readonly retentionDays: number
}

const DAY_MS = 86_400_000
/** Creates partitions ahead, so that events find one even when housekeeping does not run for a while. */
const DAYS_AHEAD = 4
const BATCH_SIZE = 5000
const HOUR_MS = 3_600_000

/**
 * Creates the partitions of the coming days and drops days past the retention. Returns the count of dropped days. Safe
 * to run concurrently.
 */
export async function keepEventDays(
  { events, outbox, retentionDays }: HousekeepingOptions,
  given?: Date,
): Promise<number> {
  const now = given ?? (await events.today())
  await events.makePartitions(now, DAYS_AHEAD)
  const before = new Date(now.getTime() - retentionDays * DAY_MS)
  let dropped = 0
  while (await events.dropPartition(before)) dropped++
  while ((await events.deleteKeys(before, BATCH_SIZE)) > 0);
  while ((await outbox.deleteOld(before, BATCH_SIZE)) > 0);
  return dropped
}

/** Maintains the partitions now and every hour. */
export function startHousekeeping(options: HousekeepingOptions, log: Log): { stop(): Promise<void> } {
  const run = () =>
    keepEventDays(options).then(
      (dropped) => dropped > 0 && log.info({ dropped }, 'event partitions dropped'),
      (error) => log.warn({ err: error }, 'maintaining event partitions failed'),
    )
  let running = run()
  const timer = setInterval(() => {
    running = running.then(run)
  }, HOUR_MS)
  return {
    stop: async () => {
      clearInterval(timer)
      await running
    },
  }
}
