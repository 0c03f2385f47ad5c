import type { DueObjects } from '../../api/shared/retention/due-objects.ts'
import type { RetentionPolicy } from './resource.ts'
import { lastRunTime, nextRunAfter } from './schedule.ts'

export interface KeepRunningParts {
  /** Runs the policy once. Never throws. */
  readonly run: () => Promise<void>
  /** Measures the images that are past their expiration time under the policy. */
  readonly measure: () => ReturnType<DueObjects['measure']>
  /** Called if it is unknown whether a run was missed; the next try is after `intervalSeconds`. */
  readonly onFault: (error: unknown) => void
  readonly now: () => Date
  /** Resolves after `ms`, or when `signal` aborts. */
  readonly sleep: (ms: number) => Promise<void>
  readonly signal: AbortSignal
}

/** Max timer: timers cannot wait for a month, and clocks are adjusted. */
const MAX_SLEEP_MS = 3_600_000

/** Runs a policy at its scheduled times, without a cluster that stores the last run. Resolves when `signal` aborts. */
export async function keepRunning({ spec }: Pick<RetentionPolicy, 'spec'>, parts: KeepRunningParts): Promise<void> {
  const { run, now, sleep, signal } = parts
  let due = await findFirst(spec, parts)
  while (!signal.aborted) {
    const waitMs = due.getTime() - now().getTime()
    if (waitMs > 0) {
      await sleep(Math.min(waitMs, MAX_SLEEP_MS))
      continue
    }
    const start = now()
    await run()
    due = nextRunAfter(spec, start)
  }
}

async function findFirst(
  spec: RetentionPolicy['spec'],
  { measure, onFault, now, sleep, signal }: KeepRunningParts,
): Promise<Date> {
  const { schedule, timeZone, intervalSeconds } = spec
  if (schedule === undefined) return now()
  while (!signal.aborted) {
    try {
      const { oldestSeconds } = await measure()
      // Images that expired before the last scheduled time would have been deleted by a run at that time.
      const sinceSeconds = (now().getTime() - lastRunTime({ schedule, timeZone }, now()).getTime()) / 1000
      return (oldestSeconds ?? 0) > sinceSeconds ? now() : nextRunAfter(spec, now())
    } catch (error) {
      onFault(error)
      await sleep(intervalSeconds * 1000)
    }
  }
  return now()
}
