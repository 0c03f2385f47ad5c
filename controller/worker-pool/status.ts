import { conditionsAfter, type Finding, shorten, wholeSeconds } from '../runtime/conditions.ts'
import type { Decision, Demand } from './decide.ts'
import type { DrainPlan, LiveWorker, PoolPod } from './drain.ts'
import type { TimedDecision } from './pool-memory.ts'
import type { WorkerPool } from './resource.ts'
import type { Bounds } from './schedule.ts'
import {
  LONGEST_LIMITS,
  LONGEST_REASON,
  MOST_DECISIONS,
  MOST_WORKERS,
  type PastDecision,
  type PoolStatus,
  type WorkerStatus,
} from './status-schema.ts'
import type { countTiers } from './tiers.ts'

/** What was found out about a pool and decided. */
export interface PoolFacts {
  readonly pool: WorkerPool
  readonly pods: readonly PoolPod[]
  readonly workers: ReadonlyMap<string, LiveWorker>
  readonly demand: Demand | null
  readonly queueReachable: boolean
  readonly bounds: Bounds | null
  readonly decision: Decision
  /** That one, after those that the status does not tell of yet. */
  readonly decided: readonly TimedDecision[]
  readonly plan: DrainPlan
  /** Why the engines cannot be used yet; null when they can. */
  readonly enginesMissing: string | null
  /** Why there are no rules to decide by; null when there are. */
  readonly rulesMissing: string | null
  /** What the API server has against what the pool asks for; null when nothing. */
  readonly refusal: string | null
  readonly pausedUntil: string | null
  readonly selector: string
  /** Where the workers are and what they cost. */
  readonly cost: ReturnType<typeof countTiers>
  readonly now: Date
}

/** Waiting times are told in steps, so that a status does not change with every second. */
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
    readyReplicas: alive.filter(({ ready }) => ready).length,
    busyReplicas: count('Busy'),
    drainingReplicas: count('Draining') + count('Drained'),
    ...(demand && {
      demand: {
        waiting: demand.waiting,
        inFlight: demand.inFlight,
        oldestWaitSeconds: Math.floor(demand.oldestWaitSeconds / WAIT_STEP_SECONDS) * WAIT_STEP_SECONDS,
      },
    }),
    hourlyCost: facts.cost.hourlyCost,
    ...(pool.spec.tiers && { tiers: [...facts.cost.tiers] }),
    limitedBy: shorten(limits.join(', '), LONGEST_LIMITS),
    ...(decisions.length > 0 && { lastDecision: decisions[0] }),
    decisions: [...decisions],
    workers: listed.slice(0, MOST_WORKERS),
    conditions: conditionsAfter(pool.status?.conditions ?? [], findingsOf(facts), {
      generation: pool.metadata.generation,
      now,
    }),
  }
}

function presentWorker(pod: PoolPod, worker: LiveWorker | undefined): WorkerStatus {
  return { name: pod.name, state: stateOf(pod, worker), jobs: worker?.jobs ?? 0 }
}

function stateOf({ started, fencedAt, deleting }: PoolPod, worker: LiveWorker | undefined): WorkerStatus['state'] {
  if (!started) return 'Starting'
  if (worker === undefined) return 'Silent'
  if (worker.state === 'drained' || deleting) return 'Drained'
  if (worker.state === 'draining' || fencedAt !== null) return 'Draining'
  return worker.jobs > 0 ? 'Busy' : 'Idle'
}

/** A decision that changed nothing is news only when something else keeps the number than before. */
function rememberDecision(before: readonly PastDecision[], { decision, at }: TimedDecision): readonly PastDecision[] {
  const last = before[0]
  const sameLimits = last !== undefined && last.limitedBy.join() === decision.limitedBy.join()
  if (decision.direction === 'None' && sameLimits && last.to === decision.to) return before
  if (decision.direction === 'None' && decision.limitedBy.length === 0) return before
  const { from, to, direction, limitedBy } = decision
  const reason = shorten(decision.reason, LONGEST_REASON)
  const entry: PastDecision = { at: wholeSeconds(at), from, to, direction, reason, limitedBy: [...limitedBy] }
  return [entry, ...before].slice(0, MOST_DECISIONS)
}

function findingsOf(facts: PoolFacts): Finding[] {
  const { pool, pods, demand, queueReachable, decision, plan, enginesMissing, pausedUntil } = facts
  const ready = pods.filter((pod) => pod.ready && !pod.deleting).length
  const settled = ready === decision.to && plan.replicas === decision.to && plan.waitsFor === null
  const missing = enginesMissing ?? facts.rulesMissing
  const problem = missing ?? facts.refusal
  const working = problem === null
  const whyNot = missing === null ? 'Refused' : 'NotConfigured'
  const limited = decision.limitedBy.length > 0
  const costCapped = decision.limitedBy.includes('cost.hourlyCap')
  const draining = pods.filter(({ fencedAt }) => fencedAt !== null).length
  const auto = pool.spec.scaling.mode === 'Auto'
  const found = (type: string, holds: boolean, [reason, otherwise]: [string, string], message: string): Finding => ({
    type,
    status: holds ? 'True' : 'False',
    reason: holds ? reason : otherwise,
    message,
  })
  return [
    found(
      'Ready',
      working && settled,
      ['AsWanted', working ? 'Scaling' : whyNot],
      problem ?? `${ready} of ${decision.to} workers are ready.`,
    ),
    found('Reconciling', working && !settled, ['Scaling', 'Settled'], plan.waitsFor ?? decision.reason),
    found('Stalled', !working, [whyNot, 'Working'], problem ?? ''),
    found('EnginesReady', enginesMissing === null, ['Ready', 'NotReady'], enginesMissing ?? 'All engines can be used.'),
    found('ScalingActive', auto && pausedUntil === null, ['Auto', pausedUntil ? 'Paused' : pool.spec.scaling.mode], ''),
    found(
      'AbleToScale',
      !auto || demand !== null,
      ['DemandKnown', 'DemandUnknown'],
      demand || !auto ? '' : decision.reason,
    ),
    found(
      'ScalingLimited',
      limited,
      ['Limited', 'AsWanted'],
      limited ? `${decision.limitedBy.join(', ')} limits it.` : '',
    ),
    found('QueueReachable', queueReachable, ['Reachable', 'Away'], queueReachable ? '' : 'No worker can be drained.'),
    found('CostCapped', costCapped, ['AtCap', 'BelowCap'], ''),
    found(
      'Draining',
      draining > 0,
      ['Draining', 'Nobody'],
      draining > 0 ? `${draining} workers take no more jobs.` : '',
    ),
    found(
      'Paused',
      pausedUntil !== null,
      ['Paused', 'Running'],
      pausedUntil === null ? '' : `${pool.spec.paused?.reason} (until ${pausedUntil})`,
    ),
  ]
}
