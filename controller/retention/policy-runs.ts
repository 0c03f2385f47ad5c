import type { KubernetesObject } from '../runtime/resource.ts'
import type { Watched } from '../runtime/watch.ts'
import type { RetentionGauges } from './gauges.ts'
import type { RetentionPolicy } from './resource.ts'
import type { RunReport } from './run.ts'
import { nextRunAfter } from './schedule.ts'

/** A finished run. */
export interface EndedRun {
  /** Start of the run, in ms since 1970. */
  readonly at: number
  readonly report: RunReport
  /** Scheduled start of the next run; null if the status contains none. */
  readonly next: Date | null
}

export interface PolicyRunsParts {
  readonly policies: Pick<Watched<KubernetesObject>, 'get'>
  readonly run: (policy: RetentionPolicy, signal: AbortSignal) => Promise<RunReport>
  readonly now: () => Date
  readonly gauges: Pick<RetentionGauges, 'noteRun'>
}

/** The runs of all policies: when each is due, which are in progress, and unrecorded results. */
export function createPolicyRuns({ policies, run, now, gauges }: PolicyRunsParts) {
  const startedAt = new Map<string, { at: number; generation: number }>()
  const ended = new Map<string, EndedRun>()
  const running = new Map<string, { generation: number; stop: AbortController }>()

  /** Start of the next run; in the past if a run is overdue. */
  function dueAt(key: string, { metadata, spec, status }: RetentionPolicy): Date {
    const last = startedAt.get(key)
    const isSame = last?.generation === metadata.generation
    if (spec.schedule === undefined) return isSame ? nextRunAfter(spec, new Date(last.at)) : now()
    const planned = status?.nextRunTime === undefined ? 0 : Date.parse(status.nextRunTime)
    // Another controller may have written since, or this controller may have failed to write.
    if (isSame) return new Date(Math.max(planned, nextRunAfter(spec, new Date(last.at)).getTime()))
    // A start that was missed while no controller ran or while the policy changed, if the current schedule contains it.
    const isMissed = planned <= now().getTime() && planned > (last?.at ?? 0)
    if (isMissed && nextRunAfter(spec, new Date(planned - 1)).getTime() === planned) return new Date(planned)
    return nextRunAfter(spec, now())
  }

  /** Runs the policy, which was due at `due`. */
  async function start(key: string, policy: RetentionPolicy, due: Date): Promise<void> {
    const at = now().getTime()
    const { generation } = policy.metadata
    startedAt.set(key, { at, generation })
    const stop = new AbortController()
    running.set(key, { generation, stop })
    try {
      const report = await run(policy, stop.signal)
      // A stopped run remains due.
      const stopped = stop.signal.aborted
      if (stopped) startedAt.delete(key)
      const next = policy.spec.schedule === undefined ? null : stopped ? due : nextRunAfter(policy.spec, new Date(at))
      ended.set(key, { at, report, next })
      gauges.noteRun(key, policy, report)
    } catch (error) {
      // The run has not started, so it remains due.
      if (policy.spec.schedule !== undefined) startedAt.delete(key)
      throw error
    } finally {
      running.delete(key)
    }
  }

  return {
    dueAt,
    start,
    /** Next run after the last start of the policy. */
    nextAfterStart: (key: string, { spec }: RetentionPolicy): Date =>
      nextRunAfter(spec, new Date(startedAt.get(key)?.at ?? now())),
    /** Finished runs whose results are not recorded yet. */
    ended,
    forget: (key: string): void => {
      startedAt.delete(key)
      ended.delete(key)
    },
    /** Stops a run whose policy was changed or deleted. */
    noteChange: (key: string): void => {
      const current = policies.get(key)
      const busy = running.get(key)
      const gone = current === undefined || current.metadata.deletionTimestamp !== undefined
      if (busy && (gone || current.metadata.generation !== busy.generation)) busy.stop.abort()
    },
    stopAll: (): void => {
      for (const { stop } of running.values()) stop.abort()
    },
  }
}
