import { isDeepStrictEqual } from 'node:util'
import type { ReportInvalid } from '../invalid-object.ts'
import type { Client } from '../runtime/client.ts'
import { conditionsAfter, progressFindings } from '../runtime/conditions.ts'
import type { KubernetesObject } from '../runtime/resource.ts'
import { ownedBy } from '../runtime/resource.ts'
import type { Watched } from '../runtime/watch.ts'
import type { RetentionGauges } from './gauges.ts'
import { type RetentionPolicy, retentionPolicies, sweeps } from './resource.ts'
import type { RunReport } from './run.ts'

/** Records that are kept of each policy. */
const RECORDS = 50

export interface RetentionParts {
  readonly client: Client
  readonly reportInvalid: ReportInvalid
  readonly policies: Pick<Watched<KubernetesObject>, 'get'>
  readonly run: (policy: RetentionPolicy, signal: AbortSignal) => Promise<RunReport>
  readonly now: () => Date
  readonly gauges: Pick<RetentionGauges, 'noteRun' | 'forget'>
}

/** Runs a policy when it is time to, and writes down what was done. */
export function createRetentionReconcile({ client, reportInvalid, policies, run, now, gauges }: RetentionParts) {
  const startedAt = new Map<string, { at: number; generation: number }>()
  /** Runs that are over and not written down yet. */
  const unwritten = new Map<string, { at: number; report: RunReport }>()
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
    const { generation } = policy.metadata
    const last = startedAt.get(key)
    const nextMs = last?.generation === generation ? last.at + policy.spec.intervalSeconds * 1000 - now().getTime() : 0
    if (nextMs > 0) return { againMs: nextMs }
    const at = now().getTime()
    startedAt.set(key, { at, generation })
    const stop = new AbortController()
    running.set(key, { generation, stop })
    try {
      const report = await run(policy, stop.signal)
      unwritten.set(key, { at, report })
      gauges.noteRun(key, policy, report)
    } finally {
      running.delete(key)
    }
    await writeDown(key, policy)
    return { againMs: policy.spec.intervalSeconds * 1000 }
  }

  /** When this fails the report is kept: what was deleted is known only here. */
  async function writeDown(key: string, policy: RetentionPolicy): Promise<void> {
    const done = unwritten.get(key)
    if (done === undefined) return
    await note(policy, done)
    unwritten.delete(key)
  }

  async function note(policy: RetentionPolicy, { at, report }: { at: number; report: RunReport }): Promise<void> {
    const { namespace, name, generation } = policy.metadata
    const found = report.record.objects > 0 || report.record.error !== undefined
    const sweep = `${name.slice(0, 200)}-${at}`
    if (found) {
      const metadata = { namespace, name: sweep, labels: { [POLICY_LABEL]: name }, ownerReferences: [ownedBy(policy)] }
      await client.apply(sweeps.type, { metadata, spec: report.record })
      await dropOldRecords(policy)
    }
    const { error } = report.record
    const message =
      error ?? (policy.spec.dryRun ? 'Only tells what would be deleted.' : 'Deletes what is past its time.')
    const reason = error ? 'RunFailed' : 'Runs'
    const before = policy.status
    const status = {
      observedGeneration: generation,
      ...(found ? { lastRunAt: report.record.startedAt, lastSweep: sweep } : lastRunOf(before)),
      overdue: report.overdue,
      oldestOverdueSeconds: report.oldestOverdueSeconds,
      conditions: conditionsAfter(
        before?.conditions ?? [],
        [
          { type: 'Ready', status: error ? 'False' : 'True', reason, message },
          // A run that failed is tried again.
          ...progressFindings(error ? 'Reconciling' : 'Settled', reason, message),
        ],
        { generation, now: now() },
      ),
    }
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

function lastRunOf(status: RetentionPolicy['status']) {
  const { lastRunAt, lastSweep } = status ?? {}
  return { ...(lastRunAt !== undefined && { lastRunAt }), ...(lastSweep !== undefined && { lastSweep }) }
}
