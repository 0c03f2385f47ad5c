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
import { ownedBy } from '../runtime/resource.ts'
import type { Watched } from '../runtime/watch.ts'
import type { RetentionGauges } from './gauges.ts'
import { type RetentionPolicy, retentionPolicies, sweeps } from './resource.ts'
import type { RunReport } from './run.ts'
import { findScheduleProblem, nextRunAfter } from './schedule.ts'

/** Records that are kept of each policy. */
const RECORDS = 50
/** Longer waits are cut in parts: clocks are set, and timers know no month. */
const LONGEST_WAIT_MS = 3_600_000

export interface RetentionParts {
  readonly client: Pick<Client, 'apply' | 'list' | 'delete'>
  readonly reportInvalid: ReportInvalid
  readonly policies: Pick<Watched<KubernetesObject>, 'get'>
  readonly run: (policy: RetentionPolicy, signal: AbortSignal) => Promise<RunReport>
  readonly now: () => Date
  readonly gauges: Pick<RetentionGauges, 'noteRun' | 'forget'>
}

/** A run that is over. */
interface Ended {
  /** When it started (ms since 1970). */
  readonly at: number
  readonly report: RunReport
  /** When there is to be one after it; null where nothing is written down about that. */
  readonly next: Date | null
}

/** Runs a policy when it is time to, and writes down what was done. */
export function createRetentionReconcile({ client, reportInvalid, policies, run, now, gauges }: RetentionParts) {
  const startedAt = new Map<string, { at: number; generation: number }>()
  /** Runs that are over and not written down yet. */
  const unwritten = new Map<string, Ended>()
  const running = new Map<string, { generation: number; stop: AbortController }>()

  const reconcile = async (key: string) => {
    const found = policies.get(key)
    if (found === undefined || found.metadata.deletionTimestamp !== undefined) {
      startedAt.delete(key)
      unwritten.delete(key)
      gauges.forget(key)
      return undefined
    }
    const read = retentionPolicies.read(found)
    if ('problems' in read) {
      await reportInvalid(retentionPolicies.type, found, read.problems)
      return undefined
    }
    const policy = read.object
    await writeDown(key, policy)
    const problem = findScheduleProblem(policy.spec)
    if (problem !== null) return void (await refuse(policy, problem))
    const due = dueAt(key, policy)
    const waitMs = due.getTime() - now().getTime()
    if (waitMs > 0) {
      await announce(policy, due)
      return { againMs: Math.min(waitMs, LONGEST_WAIT_MS) }
    }
    await runNow(key, policy, due)
    await writeDown(key, policy)
    const nextMs = nextRunAfter(policy.spec, new Date(startedAt.get(key)?.at ?? now())).getTime() - now().getTime()
    return { againMs: Math.min(Math.max(nextMs, 1), LONGEST_WAIT_MS) }
  }

  /** When the next run starts; the past where one is overdue. */
  function dueAt(key: string, { metadata, spec, status }: RetentionPolicy): Date {
    const last = startedAt.get(key)
    const isSame = last?.generation === metadata.generation
    if (spec.schedule === undefined) return isSame ? nextRunAfter(spec, new Date(last.at)) : now()
    const planned = status?.nextRunTime === undefined ? 0 : Date.parse(status.nextRunTime)
    // Another controller may have written since, or this one not have been able to.
    if (isSame) return new Date(Math.max(planned, nextRunAfter(spec, new Date(last.at)).getTime()))
    // A time that passed while nobody was there, or while the policy was changed, if it is one of the schedule as it is now.
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
      // One that was stopped is still to be done.
      const stopped = stop.signal.aborted
      if (stopped) startedAt.delete(key)
      const next = policy.spec.schedule === undefined ? null : stopped ? due : nextRunAfter(policy.spec, new Date(at))
      unwritten.set(key, { at, report, next })
      gauges.noteRun(key, policy, report)
    } catch (error) {
      // It never began: its time must not pass for that.
      if (policy.spec.schedule !== undefined) startedAt.delete(key)
      throw error
    } finally {
      running.delete(key)
    }
  }

  /** When this fails the report is kept: what was deleted is known only here. */
  async function writeDown(key: string, policy: RetentionPolicy): Promise<void> {
    const done = unwritten.get(key)
    if (done === undefined) return
    await note(policy, done)
    unwritten.delete(key)
  }

  async function note(policy: RetentionPolicy, { at, report, next }: Ended): Promise<void> {
    const { namespace, name } = policy.metadata
    const found = report.record.objects > 0 || report.record.error !== undefined
    const sweep = `${name.slice(0, 200)}-${at}`
    if (found) {
      const metadata = { namespace, name: sweep, labels: { [POLICY_LABEL]: name }, ownerReferences: [ownedBy(policy)] }
      await client.apply(sweeps.type, { metadata, spec: report.record })
      await dropOldRecords(policy)
    }
    const { error } = report.record
    await writeStatus(policy, {
      ...(found ? { lastRunAt: report.record.startedAt, lastSweep: sweep } : lastRunOf(policy.status)),
      ...(next !== null && { nextRunTime: wholeSeconds(next) }),
      overdue: report.overdue,
      oldestOverdueSeconds: report.oldestOverdueSeconds,
      conditions: conditionsOf(policy, error === undefined ? runs(policy) : failed(error)),
    })
  }

  /** Says when the next run is, so that whoever is there then knows of it. */
  async function announce(policy: RetentionPolicy, due: Date): Promise<void> {
    if (policy.spec.schedule === undefined) return
    const { observedGeneration, conditions = [], ...before } = policy.status ?? {}
    const isKnown = observedGeneration === policy.metadata.generation && conditions.length > 0
    await writeStatus(policy, {
      ...before,
      nextRunTime: wholeSeconds(due),
      conditions: isKnown ? conditions : conditionsOf(policy, runs(policy)),
    })
  }

  async function refuse(policy: RetentionPolicy, problem: { reason: string; message: string }): Promise<void> {
    const { nextRunTime: _, ...before } = policy.status ?? {}
    const conditions = conditionsOf(policy, { status: 'False', progress: 'Stalled', ...problem })
    await writeStatus(policy, { ...before, conditions })
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

  async function dropOldRecords({ metadata: { namespace, name } }: RetentionPolicy): Promise<void> {
    const records = await client.list<KubernetesObject>(sweeps.type, {
      namespace,
      labelSelector: `${POLICY_LABEL}=${name}`,
    })
    const names = records.map(({ metadata }) => metadata.name).sort()
    for (const old of names.slice(0, -RECORDS)) await client.delete(sweeps.type, { namespace, name: old })
  }

  return {
    reconcile,
    /** Ends a run whose policy was changed or is gone. */
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

const POLICY_LABEL = 'drape.dev/policy'

interface Readiness {
  readonly status: ConditionStatus
  readonly reason: string
  readonly message: string
  readonly progress: Progress
}

function runs({ spec }: RetentionPolicy): Readiness {
  const message = spec.dryRun ? 'Only tells what would be deleted.' : 'Deletes what is past its time.'
  return { status: 'True', reason: 'Runs', message, progress: 'Settled' }
}

/** A run that failed is tried again. */
function failed(message: string): Readiness {
  return { status: 'False', reason: 'RunFailed', message, progress: 'Reconciling' }
}

function lastRunOf(status: RetentionPolicy['status']) {
  const { lastRunAt, lastSweep } = status ?? {}
  return { ...(lastRunAt !== undefined && { lastRunAt }), ...(lastSweep !== undefined && { lastSweep }) }
}
