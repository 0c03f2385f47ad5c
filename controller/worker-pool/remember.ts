import type { Applied } from './apply.ts'
import type { Changes } from './changes.ts'
import type { Observation } from './observe.ts'
import type { PoolPlan } from './plan.ts'
import type { PoolMemory, TimedDecision } from './pool-memory.ts'
import { MAX_DECISIONS } from './status/status-schema.ts'
import type { DrainPlan, PoolPod } from './workers/drain.ts'

/** The memory before a plan is carried out: the pods of this pass do not have the plan's marks yet, and the cluster can act on them. */
export function withPlan(
  memory: PoolMemory,
  seen: Observation,
  { removals, starts }: Changes,
  plan: PoolPlan,
): PoolMemory {
  return {
    ...memory,
    expected: removals.expected,
    readyPods: starts.readyPods,
    lastStart: starts.last,
    pods: podsAfter(seen, plan.drain),
    notices: seen.interruptions.seenAt,
    failures: seen.failures.memory,
  }
}

/** The memory after a plan was carried out, or as far as the API server allowed. */
export function withApplied(
  memory: PoolMemory,
  { replicas: before, now }: Pick<Observation, 'replicas' | 'now'>,
  { outcome }: PoolPlan,
  { wrote, replicas }: Applied,
): PoolMemory {
  const { decision } = outcome
  return {
    ...memory,
    scaling: outcome.memory,
    desired: decision.to,
    reconciledAt: now.getTime(),
    unreported: withDecision(memory.unreported, { decision, at: now }),
    unreportedSince: memory.unreportedSince ?? (wrote ? now.getTime() : null),
    ...(replicas !== null && { replicas, ...afterReplicas(memory, before, replicas, now) }),
  }
}

function afterReplicas({ expected, loweredAt }: PoolMemory, before: number, after: number, now: Date) {
  if (after < before) return { expected: expected + before - after, loweredAt: now.getTime() }
  return { expected: after > before ? 0 : expected, loweredAt }
}

/** The remaining pods as they will be after the plan is carried out. */
function podsAfter({ pods, interruptions, now }: Observation, plan: DrainPlan): ReadonlyMap<string, PoolPod> {
  const staying = pods.filter(({ name }) => !plan.remove.includes(name))
  const isInterrupted = ({ name }: PoolPod) => interruptions.begin.some(({ pod }) => pod === name)
  return new Map(
    staying.map((pod) => [
      pod.name,
      { ...withMarks(plan, pod, now), ...(isInterrupted(pod) && { interrupted: true }) },
    ]),
  )
}

/** A pod as it will be after the plan is carried out. */
function withMarks({ mark, release, refuse }: DrainPlan, pod: PoolPod, now: Date): PoolPod {
  if (mark.includes(pod.name)) return { ...pod, markedAt: now.getTime() }
  return release.includes(pod.name) || refuse.includes(pod.name) ? { ...pod, markedAt: null } : pod
}

/** The memory after the status was written, is current (`writeMs` is infinite) or must wait. */
export function withStatus(memory: PoolMemory, writeMs: number, now: Date): PoolMemory {
  const isPending = writeMs > 0 && writeMs < Number.POSITIVE_INFINITY
  return {
    ...memory,
    unreportedSince: null,
    ...(!isPending && { unreported: [] }),
    ...(writeMs === 0 && { statusWrittenAt: now.getTime() }),
  }
}

/** Appends a decision to those that are not in the status yet; skips a decision that changes nothing and equals the last one. */
function withDecision(unreported: readonly TimedDecision[], next: TimedDecision): readonly TimedDecision[] {
  const last = unreported.at(-1)?.decision
  const { direction, to, limitedBy } = next.decision
  const isSame = direction === 'None' && last?.to === to && last.limitedBy.join() === limitedBy.join()
  return isSame ? unreported : [...unreported, next].slice(-MAX_DECISIONS)
}
