import type { ScalingRules } from '../scaling-policy/resource.ts'
import { affordable } from './budget-share.ts'
import { type Bounds, boundsAt } from './schedule.ts'

/** What there is to do for a pool. */
export interface Demand {
  readonly waiting: number
  readonly inFlight: number
  /** How long the oldest job has waited; 0 when none waits. */
  readonly oldestWaitSeconds: number
  /** What one job takes a worker's slot. */
  readonly secondsPerJob: number
}

/** What the rules need to know of the time before. Times in ms since 1970. */
export interface ScalingMemory {
  /** Since when the demand has been looked at without a gap. */
  readonly since: number
  /** What the demand asked for lately, oldest first. */
  readonly wanted: readonly { readonly at: number; readonly replicas: number }[]
  /** Changes of the number of workers lately, oldest first. */
  readonly changes: readonly { readonly at: number; readonly by: number }[]
  /** Since when there has been nothing to do; null while there is. */
  readonly idleSince: number | null
  /** When the demand was last read, or this memory began. */
  readonly readAt: number
}

export interface Decision {
  readonly from: number
  readonly to: number
  readonly direction: 'Up' | 'Down' | 'None'
  /** For people. */
  readonly reason: string
  /** The rules that kept `to` from what the demand asks for. */
  readonly limitedBy: readonly string[]
}

/** A limit on the number of workers that a cost sets. */
export interface Cap {
  readonly max: number
  /** Busy workers above this number finish their jobs and leave; null for a soft cap, which a min of workers exceeds. */
  readonly ceiling: number | null
  readonly setBy: string
}

/** A limit that a cost budget sets. */
export interface SharedCap extends Cap {
  /** Workers that the budget leaves to the pool in the end. */
  readonly share: number
}

/** What a pool asks for where it shares a cost budget with others. */
export interface Claim {
  readonly min: number
  /** Workers that the demand requires, within the bounds of the pool itself, and that its budgets leave to it. */
  readonly wanted: number
  /** No budget changes the number of workers. */
  readonly isFixed: boolean
}

export interface DecideInput {
  /** Null when it could not be read this time. */
  readonly demand: Demand | null
  readonly rules: ScalingRules
  readonly slotsPerReplica: number
  /** What one worker costs an hour; 0 when it is not known. */
  readonly hourlyCost: number
  /** The caps that hold beside that of the policy, for what the pool claims. */
  readonly capsFor?: (claim: Claim) => readonly SharedCap[]
  /** Workers that there should be as of now. */
  readonly replicas: number
  readonly memory: ScalingMemory
  readonly now: Date
}

export interface Outcome {
  readonly decision: Decision
  readonly memory: ScalingMemory
  readonly bounds: Bounds
  readonly claim: Claim
}

/** A memory of nothing. Scaling down then waits until enough is known. */
export function emptyMemory(now: Date): ScalingMemory {
  return { since: now.getTime(), wanted: [], changes: [], idleSince: null, readAt: now.getTime() }
}

/**
 * How many workers there should be. A pure function: more demand never leads to fewer workers, the bounds hold, none is removed
 * within the stabilisation window of scaling down after more were needed, the last one goes only after the idle time.
 */
export function decide(input: DecideInput): Outcome {
  const { rules, memory, now, demand } = input
  const at = now.getTime()
  const own = ownBounds(input)
  const asked = demand === null ? input.replicas : replicasFor(demand, input)
  const asking: Claim = { min: own.min, wanted: clampTo(own, asked).replicas, isFixed: false }
  const shared = input.capsFor?.(asking) ?? []
  const bounds = capped(own, shared)
  // What one budget forbids is not to be missing in another one.
  const claim = {
    ...asking,
    min: Math.min(asking.min, ...shared.flatMap(({ ceiling }) => ceiling ?? [])),
    wanted: Math.min(asking.wanted, ...shared.map(({ share }) => share)),
  }
  if (demand === null) {
    const stale = at - memory.readAt > rules.sampling.staleSeconds * 1000
    const decision = stale ? fallBack(input, bounds) : keep(input, bounds)
    return { decision, bounds, claim, memory: remember({ ...memory, since: at, wanted: [] }, decision, input) }
  }
  const idleSince = demand.waiting + demand.inFlight > 0 ? null : (memory.idleSince ?? at)
  const wanted = [...memory.wanted, { at, replicas: asked }]
  const looked: ScalingMemory = { ...memory, wanted, idleSince, readAt: at }
  const decision = step(clampTo(bounds, asked), { ...input, memory: looked }, bounds)
  return { decision, bounds, claim, memory: remember(looked, decision, input) }
}

/** The bounds of a pool by its own rules, without cost budgets. */
export function ownBounds({ rules, hourlyCost, now }: Pick<DecideInput, 'rules' | 'hourlyCost' | 'now'>): Bounds {
  return capped(boundsAt(rules, now), ownCaps(rules, hourlyCost))
}

/** Workers that the demand asks for by the target of the policy, before any limit. */
export function replicasFor(
  { waiting, inFlight, oldestWaitSeconds, secondsPerJob }: Demand,
  { rules: { target, bounds }, slotsPerReplica }: Pick<DecideInput, 'rules' | 'slotsPerReplica'>,
): number {
  if (waiting + inFlight === 0) return 0
  let slots = 0
  if (target.backlogPerSlot !== undefined) slots = (waiting + inFlight) / target.backlogPerSlot
  else if (target.drainWithinSeconds !== undefined)
    slots = ((waiting + inFlight) * secondsPerJob) / target.drainWithinSeconds
  else if (target.oldestWaitSeconds !== undefined) {
    // Those that run keep their slots; those that wait have to start before the oldest has waited too long.
    const left = Math.max(1, target.oldestWaitSeconds - oldestWaitSeconds)
    slots = inFlight + (waiting * secondsPerJob) / left
  }
  // Floating point must not ask for one more where it divides evenly.
  return Math.max(1, Math.ceil(slots / slotsPerReplica - 1e-9)) + bounds.idleBuffer
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

function ownCaps({ cost }: ScalingRules, hourlyCost: number): Cap[] {
  if (cost === undefined || hourlyCost === 0) return []
  const max = affordable(cost.hourlyCap, { hourlyCost })
  return [{ max, ceiling: cost.mode === 'Hard' ? max : null, setBy: 'cost.hourlyCap' }]
}

function capped(bounds: Bounds, caps: readonly Cap[]): Bounds {
  return caps.reduce(lowered, bounds)
}

function lowered(bounds: Bounds, { max: allowed, ceiling, setBy }: Cap): Bounds {
  const max = Math.min(bounds.max, ceiling === null ? Math.max(allowed, bounds.min) : allowed)
  return {
    ...bounds,
    ...(max < bounds.max && { max, maxSetBy: setBy }),
    ...(max < bounds.min && { min: max, minSetBy: setBy }),
    ...(ceiling !== null && ceiling < bounds.ceiling && { ceiling, ceilingSetBy: setBy }),
  }
}

function step(clamped: Limited, input: DecideInput, bounds: Bounds): Decision {
  const { replicas: from } = input
  const kept = clamped.replicas === 0 && from > 0 && bounds.max > 0 ? untilIdle(input) : null
  const aim = kept ?? clamped
  if (aim.replicas > from) return stepUp(aim, input, bounds)
  if (aim.replicas < from) return stepDown(aim, input, bounds)
  const reason = aim.limitedBy.length > 0 ? `${aim.limitedBy.join(', ')} holds it.` : 'As many as the demand needs.'
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
  // The lower bound needs no proof that it lasts.
  const lasting = Math.max(bounds.min, Math.min(aim.replicas, lowestWithin(memory, stabilizationSeconds, now)))
  if (lasting < aim.replicas) limitedBy.push('scaleUp.stabilizationSeconds')
  const room = maxReplicas - changedWithin(memory, 'Up', periodSeconds, now)
  const to = Math.max(from, Math.min(lasting, from + room))
  if (to < lasting) limitedBy.push('scaleUp.maxReplicas')
  if (to === from) return { from, to, direction: 'None', reason: waitsFor(limitedBy), limitedBy }
  return { from, to, direction: 'Up', reason: whyUp(input, aim.replicas, bounds), limitedBy }
}

function stepDown(aim: Limited, input: DecideInput, bounds: Bounds): Decision {
  const { rules, replicas: from, memory, now } = input
  const { stabilizationSeconds, maxReplicas, periodSeconds } = rules.scaleDown
  const limitedBy = [...aim.limitedBy]
  // What is above the upper bound goes at once.
  const { ceiling, ceilingSetBy } = bounds
  const most = Math.min(from, bounds.max)
  const lasting = Math.max(aim.replicas, Math.min(most, highestWithin(memory, stabilizationSeconds, now)))
  if (lasting > aim.replicas) limitedBy.push('scaleDown.stabilizationSeconds')
  const room = Math.max(0, maxReplicas - changedWithin(memory, 'Down', periodSeconds, now))
  // A ceiling holds at once, whatever the pace of scaling down.
  const to = Math.min(from, ceiling, Math.max(lasting, from - room))
  if (to > lasting) limitedBy.push('scaleDown.maxReplicas')
  if (to === from) return { from, to, direction: 'None', reason: waitsFor(limitedBy), limitedBy }
  const reason = from > ceiling ? `${ceilingSetBy} allows ${ceiling}.` : `The demand asks for ${aim.replicas}.`
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

/** As many as before, but never more than the ceiling. */
function keep({ replicas: from }: DecideInput, { ceiling, ceilingSetBy }: Bounds): Decision {
  const to = Math.min(from, ceiling)
  const reason = 'The demand could not be read just now.'
  return { from, to, direction: to < from ? 'Down' : 'None', reason, limitedBy: to < from ? [ceilingSetBy] : [] }
}

function waitsFor(limitedBy: readonly string[]): string {
  return `Waits for ${limitedBy.at(-1) ?? 'nothing'}.`
}

function whyUp({ demand }: DecideInput, aim: number, { min, minSetBy }: Bounds): string {
  if (aim === min && demand !== null && demand.waiting + demand.inFlight === 0) return `${minSetBy} asks for ${min}.`
  return `The demand asks for ${aim}: ${demand?.waiting} waiting, ${demand?.inFlight} running.`
}

/** Adds the decision to the memory, and drops what no rule looks back to. */
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
