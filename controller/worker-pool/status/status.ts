import { conditionsAfter, shorten, wholeSeconds } from '../../runtime/conditions.ts'
import type { TimedDecision } from '../pool-memory.ts'
import type { LiveWorker, PoolPod } from '../workers/drain.ts'
import type { Placement } from '../workers/placement.ts'
import { findConditions } from './pool-conditions.ts'
import { countOutdated, countReady, type PoolFacts } from './pool-facts.ts'
import {
  MAX_DECISIONS,
  MAX_LIMITS_LENGTH,
  MAX_REASON_LENGTH,
  MAX_WORKERS,
  type PastDecision,
  type PoolStatus,
  type WorkerStatus,
} from './status-schema.ts'

/** Waiting times are rounded, so that the status does not change every second. */
const WAIT_STEP_SECONDS = 5

export function presentStatus(facts: PoolFacts): PoolStatus {
  const { pool, pods, workers, demand, bounds, decision, plan, selector, now } = facts
  const alive = pods.filter(({ deleting }) => !deleting)
  const listed = pods.map((pod) => presentWorker(pod, workers.get(pod.name))).sort((a, b) => (a.name < b.name ? -1 : 1))
  const count = (state: WorkerStatus['state']) => listed.filter((worker) => worker.state === state).length
  const decisions = facts.decided.reduce(rememberDecision, pool.status?.decisions ?? [])
  const limits = [...decision.limitedBy, ...(plan.waitsFor === null ? [] : ['drain'])]
  return {
    observedGeneration: pool.metadata.generation,
    selector,
    ...(bounds && { min: bounds.min, max: bounds.max }),
    replicas: alive.length,
    desiredReplicas: decision.to,
    readyReplicas: countReady(facts),
    updatedReplicas: alive.length - countOutdated(facts),
    // Only Redis knows the state of workers.
    ...(facts.queueReachable && {
      busyReplicas: count('Busy'),
      drainingReplicas: count('Draining') + count('Drained'),
    }),
    unschedulableReplicas: missingFrom(facts.placement, alive.length, decision.to),
    gatedReplicas: facts.placement.gated,
    ...(demand && {
      demand: {
        waiting: demand.waiting,
        inFlight: demand.inFlight,
        oldestWaitSeconds: Math.floor(demand.oldestWaitSeconds / WAIT_STEP_SECONDS) * WAIT_STEP_SECONDS,
      },
    }),
    hourlyCost: facts.cost.hourlyCost,
    ...(pool.spec.tiers && { tiers: [...facts.cost.tiers] }),
    limitedBy: shorten(limits.join(', '), MAX_LIMITS_LENGTH),
    ...(decisions.length > 0 && { lastDecision: decisions[0] }),
    decisions: [...decisions],
    workers: listed.slice(0, MAX_WORKERS),
    ...(facts.lastStart && { lastStart: facts.lastStart }),
    ...(facts.failures.failing.length > 0 && { failingWorkers: [...facts.failures.failing] }),
    sickWorkers: [...facts.sick.records],
    avoidedNodes: [...facts.sick.avoided],
    conditions: conditionsAfter(pool.status?.conditions ?? [], findConditions(facts), {
      generation: pool.metadata.generation,
      now,
    }),
  }
}

/** Workers without a node, and workers that the API server refuses to create. */
function missingFrom({ unscheduled, whyNotCreated }: Placement, alive: number, wanted: number): number {
  return unscheduled + (whyNotCreated === null ? 0 : Math.max(0, wanted - alive))
}

function presentWorker(pod: PoolPod, worker: LiveWorker | undefined): WorkerStatus {
  return { name: pod.name, state: stateOf(pod, worker), jobs: worker?.jobs ?? 0 }
}

function stateOf({ started, fencedAt, deleting }: PoolPod, worker: LiveWorker | undefined): WorkerStatus['state'] {
  if (worker?.sick !== undefined && !deleting) return 'Sick'
  if (!started) return 'Starting'
  if (worker === undefined) return 'Silent'
  if (worker.state === 'drained' || deleting) return 'Drained'
  if (worker.state === 'draining' || fencedAt !== null) return 'Draining'
  return worker.jobs > 0 ? 'Busy' : 'Idle'
}

/** Records a decision that changed nothing only if a different rule limits the number than before. */
function rememberDecision(before: readonly PastDecision[], { decision, at }: TimedDecision): readonly PastDecision[] {
  const last = before[0]
  const sameLimits = last !== undefined && last.limitedBy.join() === decision.limitedBy.join()
  if (decision.direction === 'None' && sameLimits && last.to === decision.to) return before
  if (decision.direction === 'None' && decision.limitedBy.length === 0) return before
  const { from, to, direction, limitedBy } = decision
  const reason = shorten(decision.reason, MAX_REASON_LENGTH)
  const entry: PastDecision = { at: wholeSeconds(at), from, to, direction, reason, limitedBy: [...limitedBy] }
  return [entry, ...before].slice(0, MAX_DECISIONS)
}
