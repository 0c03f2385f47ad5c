import { isDeepStrictEqual } from 'node:util'
import type { ReportInvalid } from '../invalid-object.ts'
import type { Client } from '../runtime/client.ts'
import {
  type ConditionStatus,
  conditionsAfter,
  type Progress,
  progressFindings,
  wholeSeconds,
} from '../runtime/conditions.ts'
import type { KubernetesObject } from '../runtime/resource.ts'
import type { Watched } from '../runtime/watch.ts'
import type { RetentionGauges } from './gauges.ts'
import type { PublishHolds } from './holds.ts'
import type { WriteRecord } from './records.ts'
import { type RetentionPolicy, retentionPolicies } from './resource.ts'
import type { RunReport } from './run.ts'
import { findScheduleProblem, nextRunAfter } from './schedule.ts'

/** Max timer: timers cannot wait for a month, and clocks are adjusted. */
const MAX_WAIT_MS = 3_600_000
/** Interval between checks whether all holds are known. */
const UNREAD_WAIT_MS = 60_000

export interface RetentionParts {
  readonly client: Pick<Client, 'apply'>
  readonly reportInvalid: ReportInvalid
  readonly policies: Pick<Watched<KubernetesObject>, 'get'>
  readonly run: (policy: RetentionPolicy, signal: AbortSignal) => Promise<RunReport>
  readonly now: () => Date
  readonly gauges: Pick<RetentionGauges, 'noteRun' | 'forget'>
  readonly publishHolds: PublishHolds
  readonly writeRecord: WriteRecord
  /** The namespace of the release: only its policies run. */
  readonly namespace: string
}

/** A finished run. */
interface Ended {
  /** Start of the run, in ms since 1970. */
  readonly at: number
  readonly report: RunReport
  /** Scheduled start of the next run; null if the status contains none. */
  readonly next: Date | null
}

/** Runs a policy at its scheduled times, and records the results. */
export function createRetentionReconcile({
  client,
  reportInvalid,
  policies,
  run,
  now,
  gauges,
  publishHolds,
  writeRecord,
  namespace,
}: RetentionParts) {
  const startedAt = new Map<string, { at: number; generation: number }>()
  /** Finished runs whose results are not recorded yet. */
  const unwritten = new Map<string, Ended>()
  const running = new Map<string, { generation: number; stop: AbortController }>()

  const reconcile = async (key: string) => {
    const found = policies.get(key)
    if (found === undefined || found.metadata.deletionTimestamp !== undefined) {
      startedAt.delete(key)
      unwritten.delete(key)
      gauges.forget(key)
      await publishHolds()
      return undefined
    }
    if (found.metadata.namespace !== namespace) {
      await writeStatus(found as RetentionPolicy, {
        conditions: conditionsOf(found as RetentionPolicy, ignored(namespace)),
      })
      return undefined
    }
    const unread = await publishHolds()
    const read = retentionPolicies.read(found)
    if ('problems' in read) {
      await reportInvalid(retentionPolicies.type, found, read.problems)
      return undefined
    }
    const policy = read.object
    await writeDown(key, policy)
    const problem = findScheduleProblem(policy.spec)
    if (problem !== null) return void (await refuse(policy, { ...problem, progress: 'Stalled' }))
    if (unread.length > 0) {
      await refuse(policy, holdsUnknown(unread))
      return { againMs: UNREAD_WAIT_MS }
    }
    if (policy.spec.suspend) return void (await refuse(policy, SUSPENDED))
    const due = dueAt(key, policy)
    const waitMs = due.getTime() - now().getTime()
    if (waitMs > 0) {
      await announce(policy, due)
      return { againMs: Math.min(waitMs, MAX_WAIT_MS) }
    }
    await runNow(key, policy, due)
    await writeDown(key, policy)
    const nextMs = nextRunAfter(policy.spec, new Date(startedAt.get(key)?.at ?? now())).getTime() - now().getTime()
    return { againMs: Math.min(Math.max(nextMs, 1), MAX_WAIT_MS) }
  }

  /** Start of the next run; in the past if a run is overdue. */
  function dueAt(key: string, { metadata, spec, status }: RetentionPolicy): Date {
    const last = startedAt.get(key)
    const isSame = last?.generation === metadata.generation
    if (spec.schedule === undefined) return isSame ? nextRunAfter(spec, new Date(last.at)) : now()
    const planned = status?.nextRunTime === undefined ? 0 : Date.parse(status.nextRunTime)
    // Another controller may have written the status since, or this controller may have failed to write it.
    if (isSame) return new Date(Math.max(planned, nextRunAfter(spec, new Date(last.at)).getTime()))
    // A missed start time, while no controller ran or while the policy was changed, counts if it belongs to the current schedule.
    const isMissed = planned <= now().getTime() && planned > (last?.at ?? 0)
    if (isMissed && nextRunAfter(spec, new Date(planned - 1)).getTime() === planned) return new Date(planned)
    return nextRunAfter(spec, now())
  }

  async function runNow(key: string, policy: RetentionPolicy, due: Date): Promise<void> {
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
      unwritten.set(key, { at, report, next })
      gauges.noteRun(key, policy, report)
    } catch (error) {
      // The run never started, so its start time must not count as used.
      if (policy.spec.schedule !== undefined) startedAt.delete(key)
      throw error
    } finally {
      running.delete(key)
    }
  }

  /** If this fails the report is kept, because it is the only record of the deleted images. */
  async function writeDown(key: string, policy: RetentionPolicy): Promise<void> {
    const done = unwritten.get(key)
    if (done === undefined) return
    await note(policy, done)
    unwritten.delete(key)
  }

  async function note(policy: RetentionPolicy, { at, report, next }: Ended): Promise<void> {
    const found = report.record.objects > 0 || report.record.error !== undefined
    const sweep = `${policy.metadata.name.slice(0, 200)}-${at}`
    if (found) await writeRecord(policy, sweep, report)
    const { error } = report.record
    await writeStatus(policy, {
      ...(found ? { lastRunAt: report.record.startedAt, lastSweep: sweep } : lastRunOf(policy.status)),
      ...(next !== null && { nextRunTime: wholeSeconds(next) }),
      overdue: report.overdue,
      oldestOverdueSeconds: report.oldestOverdueSeconds,
      conditions: conditionsOf(policy, error === undefined ? runs(policy) : failed(error)),
    })
  }

  /** Records the time of the next run, for the controller that leads then. */
  async function announce(policy: RetentionPolicy, due: Date): Promise<void> {
    if (policy.spec.schedule === undefined) return
    const { observedGeneration, conditions = [], ...before } = policy.status ?? {}
    const isKnown =
      observedGeneration === policy.metadata.generation && conditions.some(({ reason }) => RUN_REASONS.has(reason))
    await writeStatus(policy, {
      ...before,
      nextRunTime: wholeSeconds(due),
      conditions: isKnown ? conditions : conditionsOf(policy, runs(policy)),
    })
  }

  /** Records why the policy does not run. */
  async function refuse(policy: RetentionPolicy, why: Omit<Readiness, 'status'> & Partial<Readiness>): Promise<void> {
    const { nextRunTime: _, ...before } = policy.status ?? {}
    await writeStatus(policy, { ...before, conditions: conditionsOf(policy, { status: 'False', ...why }) })
  }

  function conditionsOf({ metadata, status: before }: RetentionPolicy, { progress, ...ready }: Readiness) {
    return conditionsAfter(
      before?.conditions ?? [],
      [{ type: 'Ready', ...ready }, ...progressFindings(progress, ready.reason, ready.message)],
      { generation: metadata.generation, now: now() },
    )
  }

  async function writeStatus({ metadata, status: before }: RetentionPolicy, found: object): Promise<void> {
    const { namespace, name, generation } = metadata
    const status = { ...found, observedGeneration: generation }
    if (isDeepStrictEqual(status, before)) return
    await client.apply(retentionPolicies.type, { metadata: { namespace, name }, status }, { subresource: 'status' })
  }

  return {
    reconcile,
    /** Stops a run whose policy was changed or deleted. */
    noteChange: (key: string) => {
      const current = policies.get(key)
      const busy = running.get(key)
      const gone = current === undefined || current.metadata.deletionTimestamp !== undefined
      if (busy && (gone || current.metadata.generation !== busy.generation)) busy.stop.abort()
    },
    stopAll: () => {
      for (const { stop } of running.values()) stop.abort()
    },
  }
}

/** Reasons of `Ready` that a run sets; others explain why there was no run. */
const RUN_REASONS = new Set(['Runs', 'RunFailed'])

interface Readiness {
  readonly status: ConditionStatus
  readonly reason: string
  readonly message: string
  readonly progress: Progress
}

function runs({ spec }: RetentionPolicy): Readiness {
  const message = spec.dryRun ? 'Dry run: reports what would be deleted.' : 'Deletes what has expired.'
  return { status: 'True', reason: 'Runs', message, progress: 'Settled' }
}

const SUSPENDED: Readiness = {
  status: 'True',
  reason: 'Suspended',
  message: 'No run starts while spec.suspend is true. Legal holds still apply.',
  progress: 'Settled',
}

function ignored(namespace: string): Readiness {
  return {
    status: 'False',
    reason: 'NamespaceIgnored',
    message: `The policy is ignored, and its legal holds too: Drape reads retention policies only in the namespace of its release. Create the policy in ${namespace}.`,
    progress: 'Stalled',
  }
}

function holdsUnknown(policies: readonly string[]): Readiness {
  return {
    status: 'False',
    reason: 'HoldsUnknown',
    message: `Nothing is deleted, because the legal holds of ${policies.join(', ')} were never read. Correct or delete that policy.`,
    progress: 'Reconciling',
  }
}

/** A failed run is retried. */
function failed(message: string): Readiness {
  return { status: 'False', reason: 'RunFailed', message, progress: 'Reconciling' }
}

function lastRunOf(status: RetentionPolicy['status']) {
  const { lastRunAt, lastSweep } = status ?? {}
  return { ...(lastRunAt !== undefined && { lastRunAt }), ...(lastSweep !== undefined && { lastSweep }) }
}
