import type { Metrics } from '../../api/shared/metrics.ts'
import type { Swept } from '../../api/shared/retention.ts'
import type { RetentionPolicy } from './resource.ts'
import type { RunReport } from './run.ts'
import { nextRunAfter } from './schedule.ts'

export interface RetentionGauges {
  /** A run of a policy is over; `key` names the policy. */
  noteRun(key: string, policy: Pick<RetentionPolicy, 'spec'>, report: RunReport): void
  /** The policy is gone. */
  forget(key: string): void
  /** Another process acts now, and tells of them. */
  forgetAll(): void
  /** What was past its own date was swept, or not: null. */
  noteSweep(seconds: number, swept: Swept | null): void
}

interface Run {
  readonly spec: RetentionPolicy['spec']
  readonly report: RunReport
  readonly succeededAt: number | undefined
}

/** Shows what policies and sweeps delete, and what is still there past its time. */
export function createRetentionGauges(
  { counter, seconds, watch }: Pick<Metrics, 'counter' | 'seconds' | 'watch'>,
  now: () => number = Date.now,
): RetentionGauges {
  const runs = new Map<string, Run>()
  let sweptAt: number | undefined
  const about = { labels: ['policy', 'dry_run'] as const }
  const objects = counter({
    ...{ name: 'drape_retention_objects_total', help: 'Images that runs of a policy deleted, or would have' },
    ...about,
  })
  const ended = counter({
    ...{ name: 'drape_retention_runs_total', help: 'Runs of a policy, by outcome: done, failed' },
    labels: ['policy', 'outcome'],
  })
  const swept = counter({
    ...{ name: 'drape_swept_total', help: 'What was deleted because its own date was past, by kind' },
    labels: ['kind'],
  })
  const sweeps = seconds({
    ...{ name: 'drape_sweep_seconds', help: 'Seconds of each sweep of what is past its own date, by outcome' },
    labels: ['outcome'],
  })
  for (const outcome of ['done', 'failed']) sweeps.zero({ outcome })
  const show = (name: string, help: string, read: (run: Run) => number | undefined) =>
    watch({ name, help, ...about }, () => readAll(runs, read))
  show('drape_retention_overdue_objects', 'Images past their time after the last run', ({ report }) => report.overdue)
  show(
    'drape_retention_oldest_overdue_seconds',
    'How long the oldest image that is still there was past its time after the last run',
    ({ report }) => report.oldestOverdueSeconds,
  )
  show('drape_retention_held_objects', 'Images that a legal hold keeps', ({ report }) => report.record.held)
  show('drape_retention_run_seconds', 'Seconds of the last run', ({ report }) => report.record.durationMs / 1000)
  show('drape_retention_interval_seconds', 'Seconds from the last run to the next', ({ spec, report }) => {
    const start = new Date(report.record.startedAt)
    return (nextRunAfter(spec, start).getTime() - start.getTime()) / 1000
  })
  show(
    'drape_retention_last_success_timestamp_seconds',
    'When the last run without a fault ended',
    (run) => run.succeededAt,
  )
  watch(
    { name: 'drape_sweep_last_success_timestamp_seconds', help: 'When the last sweep without a fault ended' },
    () => (sweptAt === undefined ? [] : [{ value: sweptAt }]),
  )

  return {
    noteRun: (key, { spec }, report) => {
      const { error, objects: count } = report.record
      const outcome = error === undefined ? 'done' : 'failed'
      runs.set(key, { spec, report, succeededAt: outcome === 'done' ? now() / 1000 : runs.get(key)?.succeededAt })
      for (const each of ['done', 'failed']) ended.inc({ policy: key, outcome: each }, each === outcome ? 1 : 0)
      objects.inc({ policy: key, dry_run: String(spec.dryRun) }, count)
    },
    forget: (key) => void runs.delete(key),
    forgetAll: () => runs.clear(),
    noteSweep: (took, counts) => {
      sweeps.observe({ outcome: counts === null ? 'failed' : 'done' }, took)
      if (counts === null) return
      sweptAt = now() / 1000
      const { bytes: _, ...things } = counts
      for (const [kind, count] of Object.entries(things)) swept.inc({ kind }, count)
    },
  }
}

function readAll(runs: ReadonlyMap<string, Run>, read: (run: Run) => number | undefined) {
  return [...runs].flatMap(([policy, run]) => {
    const value = read(run)
    return value === undefined ? [] : [{ labels: { policy, dry_run: String(run.spec.dryRun) }, value }]
  })
}
