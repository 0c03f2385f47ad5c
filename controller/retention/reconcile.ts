import type { Client } from '../runtime/client.ts'
import type { ReportInvalid } from '../runtime/invalid-object.ts'
import type { RetentionGauges } from './gauges.ts'
import type { PublishHolds } from './holds.ts'
import { createPolicyRuns, type PolicyRunsParts } from './policy-runs.ts'
import { createPolicyStatus, holdsUnknown, SUSPENDED } from './policy-status.ts'
import { type RetentionPolicy, retentionPolicies } from './resource.ts'
import type { WriteRecord } from './run-history.ts'
import { findScheduleProblem } from './schedule.ts'

/** Max timer: timers cannot wait for a month, and clocks are adjusted. */
const MAX_WAIT_MS = 3_600_000
/** Interval between checks whether all holds are known. */
const UNREAD_WAIT_MS = 60_000

export interface RetentionParts extends PolicyRunsParts {
  readonly client: Pick<Client, 'apply'>
  readonly reportInvalid: ReportInvalid
  readonly gauges: Pick<RetentionGauges, 'noteRun' | 'forget'>
  readonly publishHolds: PublishHolds
  readonly writeRecord: WriteRecord
  /** The namespace of the release: only its policies run. */
  readonly namespace: string
}

/** Runs a policy at its scheduled times, and records the results. */
export function createRetentionReconcile(parts: RetentionParts) {
  const { reportInvalid, policies, now, gauges, publishHolds, writeRecord, namespace } = parts
  const runs = createPolicyRuns(parts)
  const status = createPolicyStatus(parts)

  const reconcile = async (key: string) => {
    const found = policies.get(key)
    if (found === undefined || found.metadata.deletionTimestamp !== undefined) {
      runs.forget(key)
      gauges.forget(key)
      await publishHolds()
      return undefined
    }
    if (found.metadata.namespace !== namespace) return void (await status.ignore(found as RetentionPolicy, namespace))
    const unread = await publishHolds()
    const read = retentionPolicies.read(found)
    if ('problems' in read) return void (await reportInvalid(retentionPolicies.type, found, read.problems))
    const policy = read.object
    await recordResult(key, policy)
    const problem = findScheduleProblem(policy.spec)
    if (problem !== null) return void (await status.refuse(policy, { ...problem, progress: 'Stalled' }))
    if (unread.length > 0) {
      await status.refuse(policy, holdsUnknown(unread))
      return { againMs: UNREAD_WAIT_MS }
    }
    if (policy.spec.suspend) return void (await status.refuse(policy, SUSPENDED))
    const due = runs.dueAt(key, policy)
    const waitMs = due.getTime() - now().getTime()
    if (waitMs > 0) {
      await status.announce(policy, due)
      return { againMs: Math.min(waitMs, MAX_WAIT_MS) }
    }
    await runs.start(key, policy, due)
    await recordResult(key, policy)
    const nextMs = runs.nextAfterStart(key, policy).getTime() - now().getTime()
    return { againMs: Math.min(Math.max(nextMs, 1), MAX_WAIT_MS) }
  }

  /** If this fails the report is kept, because it is the only record of the deleted images. */
  async function recordResult(key: string, policy: RetentionPolicy): Promise<void> {
    const done = runs.ended.get(key)
    if (done === undefined) return
    const { record } = done.report
    const found = record.objects > 0 || record.error !== undefined
    const sweep = found ? `${policy.metadata.name.slice(0, 200)}-${done.at}` : null
    if (sweep !== null) await writeRecord(policy, sweep, done.report)
    await status.noteRun(policy, done, sweep)
    runs.ended.delete(key)
  }

  return { reconcile, noteChange: runs.noteChange, stopAll: runs.stopAll }
}
