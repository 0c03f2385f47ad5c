import type { Swept } from '../../api/shared/retention/erase.ts'
import type { PublishedHolds } from '../../api/shared/retention/legal-holds.store.ts'
import type { Metrics } from '../../api/shared/telemetry/metrics.ts'
import type { RetentionPolicy } from './resource.ts'
import type { RunReport } from './run.ts'
import { nextRunAfter } from './schedule.ts'

export interface RetentionGauges {
  /** Records a finished run of a policy; `key` is the key of the policy. */
  noteRun(key: string, policy: Pick<RetentionPolicy, 'spec'>, report: RunReport): void
  /** Removes the series of a deleted policy. */
  forget(key: string): void
  /** Removes all series when another process becomes the leader. */
  forgetAll(): void
  /** Records the published legal holds of all policies. */
  noteHolds(published: Pick<PublishedHolds, 'unread'>): void
  /** Records a sweep of expired data; null if the sweep failed. */
  noteSweep(seconds: number, swept: Swept | null): void
}

interface Run {
  readonly spec: RetentionPolicy['spec']
  readonly report: RunReport
  readonly succeededAt: number | undefined
}

/** Metrics of the deletions by policies and sweeps, and of images past their expiration time. */
export function createRetentionGauges(
  { counter, seconds, watch }: Pick<Metrics, 'counter' | 'seconds' | 'watch'>,
  now: () => number = Date.now,
): RetentionGauges {
  const runs = new Map<string, Run>()
  let holds: Pick<PublishedHolds, 'unread'> | undefined
  const about = { labels: ['policy', 'dry_run'] as const }
  const objects = counter({
    ...{
      name: 'drape_retention_objects_total',
      help: 'Images that runs of a retention policy deleted or, in a dry run, would have deleted',
    },
    ...about,
  })
  const ended = counter({
    name: 'drape_retention_runs_total',
    help: 'Runs of a retention policy, by outcome: done, failed',
    labels: ['policy', 'outcome'],
  })
  const swept = counter({
    name: 'drape_swept_total',
    help: 'Expired records and objects deleted by sweeps, by kind',
    labels: ['kind'],
  })
  const sweeps = seconds({
    name: 'drape_sweep_seconds',
    help: 'Duration of sweeps in seconds, by outcome',
    labels: ['outcome'],
  })
  for (const outcome of ['done', 'failed']) sweeps.zero({ outcome })
  for (const { name, help, read } of RUN_GAUGES) watch({ name, help, ...about }, () => readAll(runs, read))
  watch(
    {
      name: 'drape_legal_holds_unread_policies',
      help: 'Policies whose legal holds have never been read; nothing is deleted while the value exceeds 0',
    },
    () => (holds === undefined ? [] : [{ value: holds.unread.length }]),
  )

  return {
    noteHolds: (published) => {
      holds = published
    },
    noteRun: (key, { spec }, report) => {
      const { error, objects: count } = report.record
      const outcome = error === undefined ? 'done' : 'failed'
      runs.set(key, { spec, report, succeededAt: outcome === 'done' ? now() / 1000 : runs.get(key)?.succeededAt })
      for (const each of ['done', 'failed']) ended.inc({ policy: key, outcome: each }, each === outcome ? 1 : 0)
      objects.inc({ policy: key, dry_run: String(spec.dryRun) }, count)
    },
    forget: (key) => void runs.delete(key),
    forgetAll: () => {
      runs.clear()
      holds = undefined
    },
    noteSweep: (took, counts) => {
      sweeps.observe({ outcome: counts === null ? 'failed' : 'done' }, took)
      if (counts === null) return
      const { bytes: _, refusedObjects: __, ...things } = counts
      for (const [kind, count] of Object.entries(things)) swept.inc({ kind }, count)
    },
  }
}

interface RunGauge {
  readonly name: string
  readonly help: string
  /** Undefined: no value. */
  readonly read: (run: Run) => number | undefined
}

/** Gauges of the last run of each policy. */
const RUN_GAUGES: readonly RunGauge[] = [
  {
    name: 'drape_retention_overdue_objects',
    help: 'Images past their time under the policy after the last run',
    read: ({ report }) => report.overdue,
  },
  {
    name: 'drape_retention_oldest_overdue_seconds',
    help: 'Seconds by which the oldest remaining image exceeded its time under the policy after the last run',
    read: ({ report }) => report.oldestOverdueSeconds,
  },
  {
    name: 'drape_retention_held_objects',
    help: 'Images past their time under the policy that a legal hold kept in the last run',
    read: ({ report }) => report.record.held,
  },
  {
    name: 'drape_retention_interval_seconds',
    help: 'Seconds from the start of the last run to the start of the next',
    read: ({ spec, report }) => {
      const start = new Date(report.record.startedAt)
      return (nextRunAfter(spec, start).getTime() - start.getTime()) / 1000
    },
  },
  {
    name: 'drape_retention_last_success_timestamp_seconds',
    help: 'Unix time of the end of the last successful run',
    read: (run) => run.succeededAt,
  },
]

function readAll(runs: ReadonlyMap<string, Run>, read: (run: Run) => number | undefined) {
  return [...runs].flatMap(([policy, run]) => {
    const value = read(run)
    return value === undefined ? [] : [{ labels: { policy, dry_run: String(run.spec.dryRun) }, value }]
  })
}
