import type { ScalingRules } from '../../scaling-policy/resource.ts'
import { affordable } from './cost-tiers.ts'
import { type Bounds, boundsAt } from './schedule.ts'

/** The demand of a pool. */
export interface Demand {
  readonly waiting: number
  readonly inFlight: number
  /** Age of the oldest waiting job; 0 if no job is waiting. */
  readonly oldestWaitSeconds: number
  /** Seconds of a worker's slot per job. */
  readonly secondsPerJob: number
}

/** History that the rules need. Times in ms since 1970. */
export interface ScalingMemory {
  /** Start of the continuous observation of the demand. */
  readonly since: number
  /** Recently required numbers of workers, oldest first. */
  readonly wanted: readonly { readonly at: number; readonly replicas: number }[]
  /** Recent changes of the number of workers, oldest first. */
  readonly changes: readonly { readonly at: number; readonly by: number }[]
  /** Since when there are no jobs; null while there are jobs. */
  readonly idleSince: number | null
  /** Time of the last read of the demand, or of the start of this memory. */
  readonly readAt: number
}

export interface Decision {
  readonly from: number
  readonly to: number
  readonly direction: 'Up' | 'Down' | 'None'
  /** Human-readable reason. */
  readonly reason: string
  /** The rules that kept `to` from the number that the demand requires. */
  readonly limitedBy: readonly string[]
}

export interface DecideInput {
  /** Null if the demand could not be read this time. */
  readonly demand: Demand | null
  readonly rules: ScalingRules
  readonly slotsPerReplica: number
  /** Cost of one worker per hour; 0 if unknown. */
  readonly hourlyCost: number
  /** Seconds from the creation of a worker until it accepts jobs; 0 until measured. */
  readonly startSeconds: number
  /** The current desired number of workers. */
  readonly replicas: number
  readonly memory: ScalingMemory
  readonly now: Date
}

export interface Outcome {
  readonly decision: Decision
  readonly memory: ScalingMemory
  readonly bounds: Bounds
}

/** An empty memory. Scaling down waits until the memory covers its window. */
export function emptyMemory(now: Date): ScalingMemory {
  return { since: now.getTime(), wanted: [], changes: [], idleSince: null, readAt: now.getTime() }
}

/**
 * Computes the desired number of workers. Pure. Invariants: more demand never leads to fewer workers; the bounds apply; no
 * worker is removed within the stabilization window after more workers were required; the last worker is removed only after the
 * idle time.
 */
export function decide(input: DecideInput): Outcome {
  const { rules, memory, now, demand } = input
  const at = now.getTime()
  const bounds = cappedBounds(input)
  if (demand === null) {
    const stale = at - memory.readAt > rules.sampling.staleSeconds * 1000
    const decision = stale ? fallBack(input, bounds) : keep(input, bounds)
    return { decision, bounds, memory: remember({ ...memory, since: at, wanted: [] }, decision, input) }
  }
  const asked = replicasFor(demand, input)
  const idleSince = demand.waiting + demand.inFlight > 0 ? null : (memory.idleSince ?? at)
  const wanted = [...memory.wanted, { at, replicas: asked }]
  const looked: ScalingMemory = { ...memory, wanted, idleSince, readAt: at }
  const decision = step(clampTo(bounds, asked), { ...input, memory: looked }, bounds)
  return { decision, bounds, memory: remember(looked, decision, input) }
}

/**
 * The bounds of a pool at a time, lowered to its cost cap. A hard cap also limits busy workers; a min number of workers takes precedence
 * over a soft cap.
 */
export function cappedBounds({ rules, hourlyCost, now }: Pick<DecideInput, 'rules' | 'hourlyCost' | 'now'>): Bounds {
  const bounds = boundsAt(rules, now)
  const { cost } = rules
  if (cost === undefined || hourlyCost === 0) return bounds
  const allowed = affordable(cost.hourlyCap, hourlyCost)
  const isHard = cost.mode === 'Hard'
  const setBy = 'cost.hourlyCap'
  const max = Math.min(bounds.max, isHard ? allowed : Math.max(allowed, bounds.min))
  return {
    ...bounds,
    ...(max < bounds.max && { max, maxSetBy: setBy }),
    ...(max < bounds.min && { min: max, minSetBy: setBy }),
    ...(isHard && allowed < bounds.ceiling && { ceiling: allowed, ceilingSetBy: setBy }),
    ...(isHard && { costCeiling: allowed, costCeilingSetBy: setBy }),
  }
}

/** Workers that the demand requires by the target of the policy, before any limit. */
export function replicasFor(
  demand: Demand,
  { rules, slotsPerReplica, startSeconds }: Pick<DecideInput, 'rules' | 'slotsPerReplica' | 'startSeconds'>,
): number {
  if (demand.waiting + demand.inFlight === 0) return 0
  const slots = slotsFor(demand, rules.target, startSeconds)
  // A floating-point error must not add a worker if the division is even.
  return Math.max(1, Math.ceil(slots / slotsPerReplica - 1e-9)) + rules.bounds.idleBuffer
}

/** Slots by the target. For a target in seconds at most one for each job: a second slot would have nothing to run. */
function slotsFor(
  { waiting, inFlight, oldestWaitSeconds, secondsPerJob }: Demand,
  target: ScalingRules['target'],
  startSeconds: number,
): number {
  const jobs = waiting + inFlight
  if (target.backlogPerSlot !== undefined) return jobs / target.backlogPerSlot
  const slotsToRun = (some: number, seconds: number) => some * (seconds > secondsPerJob ? secondsPerJob / seconds : 1)
  if (target.drainWithinSeconds !== undefined) return slotsToRun(jobs, target.drainWithinSeconds)
  // Workers that start already take the jobs: more of them would not end a wait that the start itself causes.
  const waited = Math.max(0, oldestWaitSeconds - startSeconds)
  // Running jobs keep their slots; waiting jobs must start before the oldest has waited too long.
  return inFlight + slotsToRun(waiting, (target.oldestWaitSeconds ?? 0) - waited)
}

interface Limited {
  readonly replicas: number
  readonly limitedBy: readonly string[]
}

function clampTo({ min, max, minSetBy, maxSetBy }: Bounds, replicas: number): Limited {
  if (replicas > max) return { replicas: max, limitedBy: [maxSetBy] }
  if (replicas < min) return { replicas: min, limitedBy: [minSetBy] }
  return { replicas, limitedBy: [] }
}

function step(clamped: Limited, input: DecideInput, bounds: Bounds): Decision {
  const { replicas: from } = input
  const kept = clamped.replicas === 0 && from > 0 && bounds.max > 0 ? untilIdle(input) : null
  const aim = kept ?? clamped
  if (aim.replicas > from) return stepUp(aim, input, bounds)
  if (aim.replicas < from) return stepDown(aim, input, bounds)
  const reason =
    aim.limitedBy.length > 0 ? `Limited by ${aim.limitedBy.join(', ')}.` : 'The demand requires this number.'
  return { from, to: from, direction: 'None', reason, limitedBy: aim.limitedBy }
}

/** The last worker waits for the idle time. */
function untilIdle({ rules, memory, now }: DecideInput): Limited | null {
  const idleMs = memory.idleSince === null ? 0 : now.getTime() - memory.idleSince
  return idleMs < rules.zero.idleSeconds * 1000 ? { replicas: 1, limitedBy: ['zero.idleSeconds'] } : null
}

function stepUp(aim: Limited, input: DecideInput, bounds: Bounds): Decision {
  const { rules, replicas: from, memory, now } = input
  const { stabilizationSeconds, maxReplicas, periodSeconds } = rules.scaleUp
  const limitedBy = [...aim.limitedBy]
  // The lower bound applies without a stabilization window.
  const lasting = Math.max(bounds.min, Math.min(aim.replicas, lowestWithin(memory, stabilizationSeconds, now)))
  if (lasting < aim.replicas) limitedBy.push('scaleUp.stabilizationSeconds')
  const room = maxReplicas - changedWithin(memory, 'Up', periodSeconds, now)
  const to = Math.max(from, Math.min(lasting, from + room))
  if (to < lasting) limitedBy.push('scaleUp.maxReplicas')
  if (to === from) return { from, to, direction: 'None', reason: waitsFor(limitedBy), limitedBy }
  return { from, to, direction: 'Up', reason: describeScaleUp(input, aim.replicas, bounds), limitedBy }
}

function stepDown(aim: Limited, input: DecideInput, bounds: Bounds): Decision {
  const { rules, replicas: from, memory, now } = input
  const { stabilizationSeconds, maxReplicas, periodSeconds } = rules.scaleDown
  const limitedBy = [...aim.limitedBy]
  // Workers above the upper bound leave immediately.
  const { ceiling, ceilingSetBy } = bounds
  const most = Math.min(from, bounds.max)
  const lasting = Math.max(aim.replicas, Math.min(most, highestWithin(memory, stabilizationSeconds, now)))
  if (lasting > aim.replicas) limitedBy.push('scaleDown.stabilizationSeconds')
  const room = Math.max(0, maxReplicas - changedWithin(memory, 'Down', periodSeconds, now))
  // A ceiling applies immediately, regardless of the rate of scaling down.
  const to = Math.min(from, ceiling, Math.max(lasting, from - room))
  if (to > lasting) limitedBy.push('scaleDown.maxReplicas')
  if (to === from) return { from, to, direction: 'None', reason: waitsFor(limitedBy), limitedBy }
  const reason = from > ceiling ? `${ceilingSetBy} allows ${ceiling}.` : `The demand requires ${aim.replicas}.`
  return { from, to, direction: 'Down', reason, limitedBy }
}

function lowestWithin(memory: ScalingMemory, seconds: number, now: Date): number {
  const since = now.getTime() - seconds * 1000
  if (memory.since > since && seconds > 0) return 0
  return Math.min(...within(memory.wanted, since).map(({ replicas }) => replicas))
}

function highestWithin(memory: ScalingMemory, seconds: number, now: Date): number {
  const since = now.getTime() - seconds * 1000
  if (memory.since > since && seconds > 0) return Number.POSITIVE_INFINITY
  return Math.max(...within(memory.wanted, since).map(({ replicas }) => replicas))
}

function within<T extends { at: number }>(entries: readonly T[], since: number): T[] {
  return entries.filter(({ at }) => at > since)
}

function changedWithin({ changes }: ScalingMemory, direction: 'Up' | 'Down', seconds: number, now: Date): number {
  const since = now.getTime() - seconds * 1000
  const sign = direction === 'Up' ? 1 : -1
  return within(changes, since).reduce((sum, { by }) => sum + Math.max(0, sign * by), 0)
}

function fallBack(input: DecideInput, bounds: Bounds): Decision {
  const { mode, replicas = 0 } = input.rules.fallback
  const { replicas: from } = input
  const asked = { Hold: from, Static: replicas, HoldOrHigher: Math.max(from, replicas) }[mode]
  const { replicas: to, limitedBy } = clampTo(bounds, asked)
  const direction = to > from ? 'Up' : to < from ? 'Down' : 'None'
  const reason = `The demand cannot be read; fallback ${mode} decides.`
  return { from, to, direction, reason, limitedBy: ['fallback', ...limitedBy] }
}

/** Keeps the current number, limited by the ceiling. */
function keep({ replicas: from }: DecideInput, { ceiling, ceilingSetBy }: Bounds): Decision {
  const to = Math.min(from, ceiling)
  const reason = 'The demand could not be read just now.'
  return { from, to, direction: to < from ? 'Down' : 'None', reason, limitedBy: to < from ? [ceilingSetBy] : [] }
}

function waitsFor(limitedBy: readonly string[]): string {
  return `Waits for ${limitedBy.at(-1) ?? 'nothing'}.`
}

function describeScaleUp({ demand }: DecideInput, aim: number, { min, minSetBy }: Bounds): string {
  if (aim === min && demand !== null && demand.waiting + demand.inFlight === 0) return `${minSetBy} requires ${min}.`
  return `The demand requires ${aim}: ${demand?.waiting} waiting, ${demand?.inFlight} running.`
}

/** Adds the decision to the memory, and drops entries that no rule needs. */
function remember(memory: ScalingMemory, { from, to }: Decision, { rules, now }: DecideInput): ScalingMemory {
  const { scaleUp, scaleDown } = rules
  const windowMs = Math.max(scaleUp.stabilizationSeconds, scaleDown.stabilizationSeconds) * 1000
  const periodMs = Math.max(scaleUp.periodSeconds, scaleDown.periodSeconds) * 1000
  const at = now.getTime()
  const changes = to === from ? memory.changes : [...memory.changes, { at, by: to - from }]
  return {
    ...memory,
    wanted: within(memory.wanted, at - windowMs - 1),
    changes: within(changes, at - periodMs),
  }
}
