import { isDeepStrictEqual } from 'node:util'
import type { Client } from '../runtime/client.ts'
import {
  type ConditionStatus,
  conditionsAfter,
  type Progress,
  progressFindings,
  wholeSeconds,
} from '../runtime/conditions.ts'
import { lifetimesOf } from './policy-lifetimes.ts'
import type { EndedRun } from './policy-runs.ts'
import { type RetentionPolicy, retentionPolicies } from './resource.ts'

/** Writes the status of a policy: its next run and the result of its last run, or why it does not run. */
export function createPolicyStatus({ client, now }: { client: Pick<Client, 'apply'>; now: () => Date }) {
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

  const writeOwn = (policy: RetentionPolicy, found: object) =>
    writeStatus(policy, { ...found, lifetimes: lifetimesOf(policy.spec) })

  return {
    /** Records the result of a run. `sweep`: name of its record; null if the run found nothing. */
    noteRun: (policy: RetentionPolicy, { report, next }: EndedRun, sweep: string | null): Promise<void> => {
      const { error } = report.record
      return writeOwn(policy, {
        ...(sweep === null ? lastRunOf(policy.status) : { lastRunAt: report.record.startedAt, lastSweep: sweep }),
        ...(next !== null && { nextRunTime: wholeSeconds(next) }),
        overdue: report.overdue,
        oldestOverdueSeconds: report.oldestOverdueSeconds,
        conditions: conditionsOf(policy, error === undefined ? runs(policy) : failed(error)),
      })
    },
    /** Records the time of the next run, for the controller that leads then. */
    announce: async (policy: RetentionPolicy, due: Date): Promise<void> => {
      if (policy.spec.schedule === undefined) return
      const { observedGeneration, conditions = [], ...before } = policy.status ?? {}
      const isKnown =
        observedGeneration === policy.metadata.generation && conditions.some(({ reason }) => RUN_REASONS.has(reason))
      await writeOwn(policy, {
        ...before,
        nextRunTime: wholeSeconds(due),
        conditions: isKnown ? conditions : conditionsOf(policy, runs(policy)),
      })
    },
    /** Records why the policy does not run. */
    refuse: async (policy: RetentionPolicy, why: Omit<Readiness, 'status'> & Partial<Readiness>): Promise<void> => {
      const { nextRunTime: _, ...before } = policy.status ?? {}
      await writeOwn(policy, { ...before, conditions: conditionsOf(policy, { status: 'False', ...why }) })
    },
    /** The same for a policy outside the namespace of the release, without any other status. */
    ignore: (policy: RetentionPolicy, namespace: string): Promise<void> =>
      writeStatus(policy, { conditions: conditionsOf(policy, ignored(namespace)) }),
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

export const SUSPENDED: Readiness = {
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

export function holdsUnknown(policies: readonly string[]): Readiness {
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
