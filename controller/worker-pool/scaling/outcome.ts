import type { Engines, Rules } from '../configuration.ts'
import { type PoolMemory, startSecondsOf } from '../pool-memory.ts'
import type { WorkerPool } from '../resource.ts'
import { highestCost } from './cost-tiers.ts'
import { type Decision, type Demand, decide, type Outcome } from './decide.ts'
import { untilNextHours } from './schedule.ts'

/** Reconcile interval of a pool that is not in mode Auto. */
const FIXED_MS = 5000

export interface Deciding {
  readonly pool: WorkerPool
  readonly demand: Demand | null
  readonly rules: Rules
  readonly engines: Engines
  readonly pausedUntil: string | null
  readonly memory: PoolMemory
  readonly now: Date
}

/** Computes the desired number of workers of a pool in any mode. */
export function outcomeFor({ pool, demand, rules, engines, pausedUntil, memory, now }: Deciding) {
  const { desired: from, scaling } = memory
  const fixed = (decision: Decision): Omit<Outcome, 'bounds'> & { bounds: null } => ({
    decision,
    memory: scaling,
    bounds: null,
  })
  const stay = (reason: string, limitedBy: readonly string[]) =>
    fixed({ from, to: from, direction: 'None', reason, limitedBy })
  if (pausedUntil !== null) return stay(`Paused: ${pool.spec.paused?.reason}`, ['paused'])
  if ('missing' in engines) return stay(engines.missing, ['engines'])
  if ('missing' in rules) return stay(rules.missing, ['policy'])
  if ('fixed' in rules) {
    const to = rules.fixed
    const direction = to > from ? 'Up' : to < from ? 'Down' : 'None'
    return fixed({ from, to, direction, reason: `spec.replicas requires ${to}.`, limitedBy: [] })
  }
  const { slotsPerReplica } = pool.spec
  const hourlyCost = highestCost(pool)
  const startSeconds = startSecondsOf(memory.lastStart)
  const given = { demand, rules: rules.rules, slotsPerReplica, hourlyCost, startSeconds }
  return decide({ ...given, replicas: from, memory: scaling, now })
}

/** Milliseconds until the next sample of the demand, or until a pause or a schedule ends, if earlier. */
export function untilNextSample(rules: Rules, pausedUntil: string | null, now: Date): number {
  const untilPauseEnds = pausedUntil === null ? Number.POSITIVE_INFINITY : Date.parse(pausedUntil) - now.getTime()
  if (!('rules' in rules)) return Math.min(FIXED_MS, untilPauseEnds)
  const sampling = rules.rules.sampling.intervalSeconds * 1000
  return Math.min(sampling, untilNextHours(rules.rules, now), untilPauseEnds)
}
