import { conditionsAfter, type Finding, shorten, wholeSeconds } from '../runtime/conditions.ts'
import type { Decision, Demand } from './decide.ts'
import type { DrainPlan, LiveWorker, PoolPod } from './drain.ts'
import type { Interruptions } from './interruption.ts'
import type { Placement } from './placement.ts'
import type { TimedDecision } from './pool-memory.ts'
import type { WorkerPool } from './resource.ts'
import type { Bounds } from './schedule.ts'
import type { SickWorkers } from './sick-workers.ts'
import {
  MAX_DECISIONS,
  MAX_LIMITS_LENGTH,
  MAX_REASON_LENGTH,
  MAX_WORKERS,
  type PastDecision,
  type PoolStatus,
  type WorkerStart,
  type WorkerStatus,
} from './status-schema.ts'
import type { countTiers } from './tiers.ts'

/** Observed state and decision of a pool. */
export interface PoolFacts {
  readonly pool: WorkerPool
  readonly pods: readonly PoolPod[]
  readonly workers: ReadonlyMap<string, LiveWorker>
  readonly demand: Demand | null
  readonly placement: Placement
  readonly queueReachable: boolean
  readonly bounds: Bounds | null
  readonly decision: Decision
  /** The decision, after those that are not in the status yet. */
  readonly decided: readonly TimedDecision[]
  readonly plan: DrainPlan
  readonly sick: SickWorkers
  readonly interruptions: Pick<Interruptions, 'ending'>
  /** Number of sick workers that are held in addition to the desired ones. */
  readonly heldCount: number
  /** Digest of the template of new pods; null while unknown. */
  readonly template: string | null
  /** Why the engines are not usable yet; null if they are. */
  readonly enginesMissing: string | null
  /** Why there are no scaling rules; null if there are. */
  readonly rulesMissing: string | null
  /** The API server's error about the pool's objects; null if there is none. */
  readonly refusal: string | null
  readonly pausedUntil: string | null
  readonly selector: string
  /** Placement and cost of the workers. */
  readonly cost: ReturnType<typeof countTiers>
  readonly lastStart: WorkerStart | undefined
  readonly now: Date
}

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
    sickWorkers: [...facts.sick.records],
    avoidedNodes: [...facts.sick.avoided],
    conditions: conditionsAfter(pool.status?.conditions ?? [], findingsOf(facts), {
      generation: pool.metadata.generation,
      now,
    }),
  }
}

/** Workers without a node, and workers that the API server refuses to create. */
function missingFrom({ unscheduled, whyNotCreated }: Placement, alive: number, wanted: number): number {
  return unscheduled + (whyNotCreated === null ? 0 : Math.max(0, wanted - alive))
}

/** Workers with an outdated template. */
function countOutdated({ pods, template }: PoolFacts): number {
  return template === null ? 0 : pods.filter((pod) => !pod.deleting && pod.template !== template).length
}

/** Human-readable message about an exceeded ceiling; null if it is not exceeded. */
function aboveCap({ pods, bounds, heldCount }: PoolFacts): string | null {
  if (bounds === null) return null
  const alive = pods.filter(({ deleting }) => !deleting).length
  const { ceiling, ceilingSetBy, costCeiling, costCeilingSetBy } = bounds
  // Only a cost cap counts the workers that are held.
  const [count, max, setBy] =
    costCeiling - heldCount < ceiling
      ? [alive, costCeiling, costCeilingSetBy]
      : [alive - heldCount, ceiling, ceilingSetBy]
  if (count <= max) return null
  return `${setBy} allows ${max} workers, and there are ${count}: ${count - max} finish their jobs and leave.`
}

/** The pod of a worker that has just become sick remains ready until the next probe. */
function countReady({ pods, workers }: PoolFacts): number {
  return pods.filter(({ name, ready, deleting }) => ready && !deleting && workers.get(name)?.sick === undefined).length
}

/** Human-readable message about sick workers, avoided nodes and failing accelerators; null if there are none. */
function describeSick({ records, avoided, problems, replaced, held }: SickWorkers): string | null {
  const sick = records.filter(({ name }) => replaced.has(name) || held.has(name))
  const workers = sick.map(({ name, node, reason }) => `${name} on ${node ?? 'no node'} (${reason})`)
  const nodes = avoided.map(({ name, workers: count, until }) => `${name} (${count} sick workers) until ${until}`)
  const reported = [...problems].map(([node, { type, message }]) => `${node} (${type}: ${message})`).sort()
  const parts = [
    ...(workers.length > 0 ? [`Sick: ${workers.join(', ')}.`] : []),
    ...(nodes.length > 0 ? [`Avoided: ${nodes.join(', ')}.`] : []),
    ...(reported.length > 0 ? [`Nodes report: ${reported.join(', ')}.`] : []),
  ]
  return parts.length === 0 ? null : parts.join(' ')
}

/** Human-readable message about the workers on nodes that end; null if there are none. */
function describeEnding({ ending }: PoolFacts['interruptions']): string | null {
  if (ending.length === 0) return null
  const nodes = new Set(ending.map(({ node, reason }) => `${node} (${reason})`))
  return `${ending.length} workers are on nodes that end: ${[...nodes].sort().join(', ')}.`
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

function findingsOf(facts: PoolFacts): Finding[] {
  const { pool, pods, demand, decision, plan, enginesMissing, pausedUntil, placement } = facts
  const ready = countReady(facts)
  const settled = ready === decision.to && plan.replicas - facts.heldCount === decision.to && plan.waitsFor === null
  const missing = enginesMissing ?? facts.rulesMissing
  const problem = missing ?? facts.refusal
  const working = problem === null
  const whyNot = missing === null ? 'Refused' : 'NotConfigured'
  const draining = pods.filter(({ fencedAt }) => fencedAt !== null).length
  const auto = pool.spec.scaling.mode === 'Auto'
  const outdated = countOutdated(facts)
  const inProgress = outdated > 0 ? 'RollingOut' : 'Scaling'
  const unhealthy = describeSick(facts.sick)
  const paused = pausedUntil !== null
  const above = aboveCap(facts)
  const blind = auto && demand === null
  return [
    found(
      'Ready',
      working && settled && !blind,
      ['AsWanted', !working ? whyNot : blind ? 'DemandUnknown' : paused ? 'Paused' : inProgress],
      problem ?? (blind ? decision.reason : `${ready} of ${decision.to} workers are ready.`),
    ),
    found(
      'Reconciling',
      working && !settled && !paused,
      [inProgress, paused ? 'Paused' : 'Settled'],
      plan.waitsFor ?? decision.reason,
    ),
    found('Stalled', !working, [whyNot, 'Working'], problem ?? 'No problem needs a change of the spec.'),
    found(
      'WorkersScheduled',
      placement.whyUnscheduled === null,
      ['Scheduled', 'Unschedulable'],
      placement.whyUnscheduled === null
        ? 'Every worker has a node.'
        : `${placement.unscheduled} workers have no node: ${placement.whyUnscheduled}`,
    ),
    found(
      'WorkersAdmitted',
      placement.gated === 0,
      ['Admitted', 'WaitingForQuota'],
      placement.gated === 0
        ? 'No worker is waiting for quota.'
        : `${placement.gated} workers are waiting for quota of their Kueue queue. They cost nothing.`,
    ),
    found(
      'WorkersCreated',
      placement.whyNotCreated === null,
      ['Created', 'FailedCreate'],
      placement.whyNotCreated ?? 'The API server refuses no worker.',
    ),
    found(
      'WorkersHealthy',
      unhealthy === null,
      ['Healthy', facts.sick.records.length > 0 ? 'SickWorkers' : 'NodesUnhealthy'],
      unhealthy ?? 'No worker is sick, no node is avoided, and no node reports a failing accelerator.',
    ),
    found(
      'NodesEnding',
      facts.interruptions.ending.length > 0,
      ['NodesEnding', 'NodesStay'],
      describeEnding(facts.interruptions) ?? 'No worker is on a node that ends.',
    ),
    found(
      'WorkersUpdated',
      outdated === 0,
      ['Updated', 'RollingOut'],
      outdated === 0
        ? 'Every worker has the current template.'
        : `${outdated} workers have an earlier template; each is replaced when it has finished its jobs.`,
    ),
    found('EnginesReady', enginesMissing === null, ['Ready', 'NotReady'], enginesMissing ?? 'All engines can be used.'),
    found(
      'AboveCap',
      above !== null,
      ['AboveCap', 'WithinCap'],
      above ?? 'No maximum and no hard cost cap is exceeded.',
    ),
    found(
      'Draining',
      draining > 0,
      ['Draining', 'NotDraining'],
      draining > 0 ? `${draining} workers take no more jobs.` : 'Every worker takes jobs.',
    ),
    ...scalingFindings(facts, blind),
  ]
}

function scalingFindings({ pool, queueReachable, decision, pausedUntil }: PoolFacts, blind: boolean): Finding[] {
  const paused = pausedUntil !== null
  const auto = pool.spec.scaling.mode === 'Auto'
  const limited = decision.limitedBy.length > 0
  const costCapped = decision.limitedBy.includes('cost.hourlyCap')
  return [
    found(
      'ScalingActive',
      auto && !paused,
      ['Auto', paused ? 'Paused' : pool.spec.scaling.mode],
      paused ? describePause(pool) : SCALING_SOURCES[pool.spec.scaling.mode],
    ),
    found(
      'AbleToScale',
      !blind,
      ['DemandKnown', 'DemandUnknown'],
      blind ? decision.reason : auto ? 'The demand is known.' : 'The number of workers does not depend on the demand.',
    ),
    found(
      'ScalingLimited',
      limited,
      ['Limited', 'AsWanted'],
      limited ? `${decision.limitedBy.join(', ')} limits it.` : 'No rule limits the number of workers.',
    ),
    found(
      'QueueReachable',
      queueReachable,
      ['Reachable', 'Unreachable'],
      queueReachable ? 'Redis is available.' : 'Redis is unavailable: no worker can be drained.',
    ),
    found(
      'CostCapped',
      costCapped,
      ['AtCap', 'BelowCap'],
      costCapped ? 'cost.hourlyCap limits the number of workers.' : 'No cost cap limits the number of workers.',
    ),
    found('Paused', paused, ['Paused', 'Running'], paused ? describePause(pool) : 'Scaling is not paused.'),
  ]
}

function found(type: string, holds: boolean, [reason, otherwise]: [string, string], message: string): Finding {
  return { type, status: holds ? 'True' : 'False', reason: holds ? reason : otherwise, message }
}

const SCALING_SOURCES: Readonly<Record<WorkerPool['spec']['scaling']['mode'], string>> = {
  Auto: 'The controller computes the number of workers from the demand.',
  Fixed: 'spec.replicas sets the number of workers.',
  External: 'An autoscaler sets spec.replicas through the scale subresource.',
}

function describePause({ spec: { paused } }: WorkerPool): string {
  return `${paused?.reason} (until ${paused?.until})`
}
