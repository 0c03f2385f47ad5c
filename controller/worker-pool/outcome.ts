import type { Engines, Rules } from './configuration.ts'
import { type Decision, type Demand, decide, type Outcome } from './decide.ts'
import type { PoolMemory } from './pool-memory.ts'
import type { WorkerPool } from './resource.ts'
import { untilNextHours } from './schedule.ts'
import { highestCost } from './tiers.ts'

/** A pool whose number of workers Auto does not decide is looked at so often. */
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

/** How many workers the pool is to have, by whatever decides on it. */
export function outcomeFor({ pool, demand, rules, engines, pausedUntil, memory, now }: Deciding) {
  const { desired: from, scaling } = memory
  const stay = (reason: string, limitedBy: readonly string[]): Omit<Outcome, 'bounds'> & { bounds: null } => ({
    decision: { from, to: from, direction: 'None', reason, limitedBy },
    memory: scaling,
    bounds: null,
  })
  if (pausedUntil !== null) return stay(`Paused: ${pool.spec.paused?.reason}`, ['paused'])
  if ('missing' in engines) return stay(engines.missing, ['engines'])
  if ('missing' in rules) return stay(rules.missing, ['policy'])
  if ('fixed' in rules) {
    const to = rules.fixed
    const direction = to > from ? 'Up' : to < from ? 'Down' : 'None'
    const decision: Decision = { from, to, direction, reason: `spec.replicas asks for ${to}.`, limitedBy: [] }
    return { decision, memory: scaling, bounds: null }
  }
  const { slotsPerReplica } = pool.spec
  const hourlyCost = highestCost(pool)
  return decide({ demand, rules: rules.rules, slotsPerReplica, hourlyCost, replicas: from, memory: scaling, now })
}

/** In ms: when the demand is sampled next, or earlier, when a pause or the hours of a schedule end. */
export function untilNextLook(rules: Rules, pausedUntil: string | null, now: Date): number {
  const untilPauseEnds = pausedUntil === null ? Number.POSITIVE_INFINITY : Date.parse(pausedUntil) - now.getTime()
  if (!('rules' in rules)) return Math.min(FIXED_MS, untilPauseEnds)
  const sampling = rules.rules.sampling.intervalSeconds * 1000
  return Math.min(sampling, untilNextHours(rules.rules, now), untilPauseEnds)
}
