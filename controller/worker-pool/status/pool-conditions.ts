import type { Notable } from '../../runtime/condition-events.ts'
import type { ConditionStatus, Finding } from '../../runtime/conditions.ts'
import type { WorkerPool } from '../resource.ts'
import { countOutdated, countReady, type PoolFacts } from './pool-facts.ts'

/** Whether the condition is True, its machine-readable reason and a human-readable message. */
type Found = readonly [holds: boolean, reason: string, message: string]

interface PoolCondition {
  readonly find: (facts: PoolFacts) => Found
  /** The status that somebody must look at; the condition `Problems` repeats it. */
  readonly problem?: ConditionStatus
  /** The status that is recorded as an event when it begins and ends. */
  readonly event?: Notable
}

/** The conditions of a pool by type, one function for each. */
const CONDITIONS: Readonly<Record<string, PoolCondition>> = {
  Ready: { find: findReady },
  Reconciling: { find: findReconciling },
  Stalled: { find: findStalled, problem: 'True' },
  WorkersCreated: { find: findCreated, problem: 'False', event: { status: 'False', type: 'Warning' } },
  WorkersAdmitted: { find: findAdmitted, problem: 'False', event: { status: 'False', type: 'Normal' } },
  WorkersScheduled: { find: findScheduled, problem: 'False', event: { status: 'False', type: 'Warning' } },
  WorkersStarting: { find: findStarting, problem: 'False', event: { status: 'False', type: 'Warning' } },
  WorkersHealthy: { find: findHealthy, problem: 'False', event: { status: 'False', type: 'Warning' } },
  WorkersUpdated: { find: findUpdated, event: { status: 'False', type: 'Normal' } },
  NodesEnding: { find: findEnding, problem: 'True' },
  EnginesReady: { find: findEngines, problem: 'False' },
  AboveCap: { find: findAboveCap, problem: 'True', event: { status: 'True', type: 'Warning' } },
  ScalingActive: { find: findScalingActive },
  AbleToScale: { find: findAbleToScale, problem: 'False' },
  ScalingLimited: { find: findScalingLimited },
  QueueReachable: { find: findQueueReachable, problem: 'False' },
  Paused: { find: findPaused },
}

/** Conditions whose changes are recorded as events. */
export const NOTABLE_CONDITIONS: Readonly<Record<string, Notable>> = Object.fromEntries(
  Object.entries(CONDITIONS).flatMap(([type, { event }]) => (event === undefined ? [] : [[type, event]])),
)

/** All conditions of a pool, and `Problems`, which repeats those that somebody must look at. */
export function findConditions(facts: PoolFacts): Finding[] {
  const findings = Object.entries(CONDITIONS).map(([type, { find, problem }]) => {
    const [holds, reason, message] = find(facts)
    const status: ConditionStatus = holds ? 'True' : 'False'
    return { finding: { type, status, reason, message }, isProblem: status === problem }
  })
  const problems = findings.flatMap(({ finding, isProblem }) => (isProblem ? [finding] : []))
  return [...findings.map(({ finding }) => finding), summarize(problems)]
}

function summarize(problems: readonly Finding[]): Finding {
  const type = 'Problems'
  if (problems.length === 0) return { type, status: 'False', reason: 'None', message: 'Nothing needs attention.' }
  return {
    type,
    status: 'True',
    reason: problems.map((each) => each.type).join(','),
    message: problems.map((each) => `${each.type}: ${each.message}`).join(' '),
  }
}

/** Why the pool cannot run as configured; null if it can. */
function problemOf({ enginesMissing, rulesMissing, refusal }: PoolFacts): { reason: string; message: string } | null {
  const missing = enginesMissing ?? rulesMissing
  if (missing !== null) return { reason: 'NotConfigured', message: missing }
  return refusal === null ? null : { reason: 'Refused', message: refusal }
}

function isSettled(facts: PoolFacts): boolean {
  const { decision, plan, heldCount } = facts
  return countReady(facts) === decision.to && plan.replicas - heldCount === decision.to && plan.waitsFor === null
}

/** Whether the decision lacks the demand that it depends on. */
function isBlind({ pool, demand }: PoolFacts): boolean {
  return pool.spec.scaling.mode === 'Auto' && demand === null
}

function changeOf(facts: PoolFacts): string {
  return countOutdated(facts) > 0 ? 'RollingOut' : 'Scaling'
}

function findReady(facts: PoolFacts): Found {
  const { decision, pausedUntil } = facts
  const problem = problemOf(facts)
  if (problem !== null) return [false, problem.reason, problem.message]
  if (isBlind(facts)) return [false, 'DemandUnknown', decision.reason]
  const message = `${countReady(facts)} of ${decision.to} workers are ready.`
  if (isSettled(facts)) return [true, 'AsWanted', message]
  return [false, pausedUntil === null ? changeOf(facts) : 'Paused', message]
}

function findReconciling(facts: PoolFacts): Found {
  const { decision, plan, pausedUntil } = facts
  const message = plan.waitsFor ?? decision.reason
  if (pausedUntil !== null) return [false, 'Paused', message]
  const isChanging = problemOf(facts) === null && !isSettled(facts)
  return [isChanging, isChanging ? changeOf(facts) : 'Settled', message]
}

function findStalled(facts: PoolFacts): Found {
  const problem = problemOf(facts)
  if (problem === null) return [false, 'Working', 'No problem needs a change of the spec.']
  return [true, problem.reason, problem.message]
}

function findCreated({ placement: { whyNotCreated } }: PoolFacts): Found {
  if (whyNotCreated === null) return [true, 'Created', 'The API server refuses no worker.']
  return [false, 'FailedCreate', whyNotCreated]
}

function findAdmitted({ placement: { gated } }: PoolFacts): Found {
  if (gated === 0) return [true, 'Admitted', 'No worker is waiting for quota.']
  return [false, 'WaitingForQuota', `${gated} workers are waiting for quota of their Kueue queue. They cost nothing.`]
}

function findScheduled({ placement: { unscheduled, whyUnscheduled } }: PoolFacts): Found {
  if (whyUnscheduled === null) return [true, 'Scheduled', 'Every worker has a node.']
  return [false, 'Unschedulable', `${unscheduled} workers have no node: ${whyUnscheduled}`]
}

function findStarting({ failures: { failing, avoidedNodes } }: PoolFacts): Found {
  const [first] = failing
  if (first === undefined) return [true, 'Starting', 'No worker fails to start, and no node rejects workers.']
  const listed = failing.map(({ workers, reason, node, message }) => {
    const place =
      node === undefined ? '' : ` on ${node}${avoidedNodes.includes(node) ? ', which gets no worker for now' : ''}`
    return `${workers} × ${reason}${place}: ${message}`
  })
  // A reason can contain the name of a resource, with characters that a condition must not have.
  return [false, first.reason.replaceAll(/\W/g, ''), listed.join('; ')]
}

/** Sick workers, avoided nodes and failing accelerators. */
function findHealthy({ sick: { records, avoided, problems, replaced, held } }: PoolFacts): Found {
  const sick = records.filter(({ name }) => replaced.has(name) || held.has(name))
  const workers = sick.map(({ name, node, reason }) => `${name} on ${node ?? 'no node'} (${reason})`)
  const nodes = avoided.map(({ name, workers: count, until }) => `${name} (${count} sick workers) until ${until}`)
  const reported = [...problems].map(([node, { type, message }]) => `${node} (${type}: ${message})`).sort()
  const parts = [
    ...(workers.length > 0 ? [`Sick: ${workers.join(', ')}.`] : []),
    ...(nodes.length > 0 ? [`Avoided: ${nodes.join(', ')}.`] : []),
    ...(reported.length > 0 ? [`Nodes report: ${reported.join(', ')}.`] : []),
  ]
  if (parts.length > 0) return [false, records.length > 0 ? 'SickWorkers' : 'NodesUnhealthy', parts.join(' ')]
  return [true, 'Healthy', 'No worker is sick, no node is avoided, and no node reports a failing accelerator.']
}

function findUpdated(facts: PoolFacts): Found {
  const outdated = countOutdated(facts)
  if (outdated === 0) return [true, 'Updated', 'Every worker has the current template.']
  const message = `${outdated} workers have an earlier template; each is replaced when it has finished its jobs.`
  return [false, 'RollingOut', message]
}

function findEnding({ interruptions: { ending } }: PoolFacts): Found {
  if (ending.length === 0) return [false, 'NodesStay', 'No worker is on a node that ends.']
  const nodes = new Set(ending.map(({ node, reason }) => `${node} (${reason})`))
  return [true, 'NodesEnding', `${ending.length} workers are on nodes that end: ${[...nodes].sort().join(', ')}.`]
}

function findEngines({ enginesMissing }: PoolFacts): Found {
  if (enginesMissing === null) return [true, 'Ready', 'All engines can be used.']
  return [false, 'NotReady', enginesMissing]
}

function findAboveCap({ pods, bounds, heldCount }: PoolFacts): Found {
  const within: Found = [false, 'WithinCap', 'No maximum and no hard cost cap is exceeded.']
  if (bounds === null) return within
  const alive = pods.filter(({ deleting }) => !deleting).length
  const { ceiling, ceilingSetBy, costCeiling, costCeilingSetBy } = bounds
  // Only a cost cap counts the workers that are held.
  const [count, max, setBy] =
    costCeiling - heldCount < ceiling
      ? [alive, costCeiling, costCeilingSetBy]
      : [alive - heldCount, ceiling, ceilingSetBy]
  if (count <= max) return within
  const message = `${setBy} allows ${max} workers, and there are ${count}: ${count - max} finish their jobs and leave.`
  return [true, 'AboveCap', message]
}

const SCALING_SOURCES: Readonly<Record<WorkerPool['spec']['scaling']['mode'], string>> = {
  Auto: 'The controller computes the number of workers from the demand.',
  Fixed: 'spec.replicas sets the number of workers.',
  External: 'An autoscaler sets spec.replicas through the scale subresource.',
}

function findScalingActive({ pool, pausedUntil }: PoolFacts): Found {
  if (pausedUntil !== null) return [false, 'Paused', describePause(pool)]
  const { mode } = pool.spec.scaling
  return [mode === 'Auto', mode, SCALING_SOURCES[mode]]
}

function findAbleToScale(facts: PoolFacts): Found {
  if (isBlind(facts)) return [false, 'DemandUnknown', facts.decision.reason]
  const isAuto = facts.pool.spec.scaling.mode === 'Auto'
  const message = isAuto ? 'The demand is known.' : 'The number of workers does not depend on the demand.'
  return [true, 'DemandKnown', message]
}

function findScalingLimited({ decision: { limitedBy } }: PoolFacts): Found {
  if (limitedBy.length === 0) return [false, 'AsWanted', 'No rule limits the number of workers.']
  return [true, 'Limited', `${limitedBy.join(', ')} limits it.`]
}

function findQueueReachable({ queueReachable }: PoolFacts): Found {
  if (queueReachable) return [true, 'Reachable', 'Redis is available.']
  return [false, 'Unreachable', 'Redis is unavailable: no worker can be drained.']
}

function findPaused({ pool, pausedUntil }: PoolFacts): Found {
  if (pausedUntil === null) return [false, 'Running', 'Scaling is not paused.']
  return [true, 'Paused', describePause(pool)]
}

function describePause({ spec: { paused } }: WorkerPool): string {
  return `${paused?.reason} (until ${paused?.until})`
}
