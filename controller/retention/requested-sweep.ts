import { isDeepStrictEqual } from 'node:util'
import type { Client } from '../runtime/client.ts'
import { type ConditionStatus, conditionsAfter, type Progress, progressFindings } from '../runtime/conditions.ts'
import { type KubernetesObject, keyOf } from '../runtime/resource.ts'
import type { Watched } from '../runtime/watch.ts'
import type { Done } from '../runtime/work-queue.ts'
import type { RetentionGauges } from './gauges.ts'
import type { PublishHolds } from './holds.ts'
import { type RetentionPolicy, retentionPolicies, type Sweep, sweeps } from './resource.ts'
import type { RunReport } from './run.ts'
import type { WriteRecord } from './run-history.ts'

/** Max wait of a Sweep for its policy, which may be created concurrently. */
const POLICY_WAIT_MS = 30_000
const POLL_MS = 2000
/** Interval between checks whether all holds are known. */
const UNREAD_WAIT_MS = 60_000

export interface RequestedSweepParts {
  readonly client: Pick<Client, 'apply'>
  readonly sweeps: Pick<Watched<KubernetesObject>, 'get'>
  readonly policies: Pick<Watched<KubernetesObject>, 'get'>
  readonly run: (policy: RetentionPolicy, signal: AbortSignal) => Promise<RunReport>
  readonly writeRecord: WriteRecord
  readonly publishHolds: PublishHolds
  readonly gauges: Pick<RetentionGauges, 'noteRun'>
  readonly now: () => Date
  /** The namespace of the release: only its policies run. */
  readonly namespace: string
}

interface Finding {
  readonly status: ConditionStatus
  readonly reason: string
  readonly message: string
  readonly progress: Progress
}

/**
 * Runs the policy of a Sweep without a result once, and writes the result into the Sweep. A run that a crash interrupted is
 * repeated: its deletions stand, and the record covers the remainder. A Sweep that cannot run reports the reason and stays
 * unchanged.
 */
export function createRequestedSweeps(parts: RequestedSweepParts) {
  const { client, policies, publishHolds, gauges, now, namespace } = parts
  /** Finished runs whose results are not recorded yet: the report is the only record of the deleted images. */
  const unwritten = new Map<string, { policy: RetentionPolicy; report: RunReport }>()
  const running = new Map<string, { policy: RetentionPolicy; stop: AbortController }>()

  const reconcile = async (key: string) => {
    const sweep = parts.sweeps.get(key) as Sweep | undefined
    if (sweep === undefined || sweep.metadata.deletionTimestamp !== undefined) return void unwritten.delete(key)
    if (unwritten.has(key)) await recordResult(key, sweep)
    else if (sweep.spec.startedAt === undefined && !hasCondition(sweep, 'Stalled')) return start(key, sweep)
    // The record of a run by this controller, or by an earlier one that did not write the status.
    else if (hasCondition(sweep, 'Reconciling')) await writeStatus(sweep, outcomeOf(sweep.spec))
    return undefined
  }

  async function start(key: string, sweep: Sweep): Promise<Done | undefined> {
    const checked = await findPolicy(sweep)
    if ('finding' in checked) {
      if (checked.finding !== null) await writeStatus(sweep, checked.finding)
      return checked.againMs === undefined ? undefined : { againMs: checked.againMs }
    }
    const { policy } = checked
    await writeStatus(sweep, RUNNING)
    const stop = new AbortController()
    running.set(key, { policy, stop })
    try {
      const dryRun = policy.spec.dryRun || sweep.spec.dryRun === true
      const report = await parts.run({ ...policy, spec: { ...policy.spec, dryRun } }, stop.signal)
      unwritten.set(key, { policy, report })
      if (dryRun === policy.spec.dryRun) gauges.noteRun(keyOf(policy.metadata), policy, report)
    } finally {
      running.delete(key)
    }
    await recordResult(key, sweep)
    return undefined
  }

  /** The policy to run, or why the Sweep does not run and when to check again. */
  async function findPolicy(
    sweep: Sweep,
  ): Promise<{ policy: RetentionPolicy } | { finding: Finding | null; againMs?: number }> {
    if (sweep.metadata.namespace !== namespace)
      return refusal('NamespaceIgnored', `Sweeps run only in the namespace of the release: create it in ${namespace}.`)
    const { policy: name } = sweep.spec
    const found = policies.get(keyOf({ namespace, name }))
    if (found === undefined || found.metadata.deletionTimestamp !== undefined) {
      const age = now().getTime() - Date.parse(sweep.metadata.creationTimestamp ?? '')
      if (age < POLICY_WAIT_MS) return { finding: null, againMs: POLL_MS }
      return refusal('PolicyNotFound', `The RetentionPolicy ${name} does not exist. Create another Sweep.`)
    }
    const unread = await publishHolds()
    const read = retentionPolicies.read(found)
    if ('problems' in read) return refusal('PolicyInvalid', `The RetentionPolicy ${name} is invalid: ${read.problems}`)
    if (read.object.spec.suspend)
      return refusal('PolicySuspended', `spec.suspend of ${name} is true. Set it to false, then create another Sweep.`)
    if (unread.length === 0) return { policy: read.object }
    const message = `The legal holds of ${unread.join(', ')} were never read. Correct or delete that policy.`
    const finding: Finding = { status: 'False', reason: 'HoldsUnknown', message, progress: 'Reconciling' }
    return { finding, againMs: UNREAD_WAIT_MS }
  }

  /** If this fails the report is kept, and the next try writes it. */
  async function recordResult(key: string, sweep: Sweep): Promise<void> {
    const done = unwritten.get(key)
    if (done === undefined) return
    const { metadata } = await parts.writeRecord(done.policy, sweep.metadata.name, done.report)
    unwritten.delete(key)
    // The record is a new generation: kubectl wait ignores conditions of an older one.
    await writeStatus({ ...sweep, metadata }, outcomeOf(done.report.record))
  }

  async function writeStatus({ metadata, status: before }: Sweep, { progress, ...complete }: Finding): Promise<void> {
    const { namespace, name, generation = 0 } = metadata
    const findings = [
      { type: 'Complete', ...complete },
      ...progressFindings(progress, complete.reason, complete.message),
    ]
    const conditions = conditionsAfter(before?.conditions ?? [], findings, { generation, now: now() })
    const status = { observedGeneration: generation, conditions }
    if (isDeepStrictEqual(status, before)) return
    await client.apply(sweeps.type, { metadata: { namespace, name }, status }, { subresource: 'status' })
  }

  return {
    reconcile,
    /** Stops the runs of changed or deleted policies and of deleted Sweeps. */
    noteChange: () => {
      for (const [key, { policy, stop }] of running) {
        const current = policies.get(keyOf(policy.metadata))
        if (current?.metadata.generation !== policy.metadata.generation || parts.sweeps.get(key) === undefined)
          stop.abort()
      }
    },
    stopAll: () => {
      for (const { stop } of running.values()) stop.abort()
    },
  }
}

const RUNNING: Finding = {
  status: 'False',
  reason: 'Running',
  message: 'The run is in progress.',
  progress: 'Reconciling',
}

function outcomeOf({ error, objects, dryRun }: Sweep['spec']): Finding {
  if (error !== undefined) return refusal('RunFailed', error).finding
  const message = `${dryRun ? 'Would delete' : 'Deleted'} ${objects} images.`
  return { status: 'True', reason: 'Ran', message, progress: 'Settled' }
}

function refusal(reason: string, message: string): { finding: Finding } {
  return { finding: { status: 'False', reason, message, progress: 'Stalled' } }
}

function hasCondition({ status }: Sweep, wanted: Progress): boolean {
  return status?.conditions?.some(({ type, status }) => type === wanted && status === 'True') ?? false
}
