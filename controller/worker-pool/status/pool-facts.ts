import type { TimedDecision } from '../pool-memory.ts'
import type { WorkerPool } from '../resource.ts'
import type { countTiers } from '../scaling/cost-tiers.ts'
import type { Decision, Demand } from '../scaling/decide.ts'
import type { Bounds } from '../scaling/schedule.ts'
import type { DrainPlan, LiveWorker, PoolPod } from '../workers/drain.ts'
import type { Interruptions } from '../workers/ending-nodes.ts'
import type { Failures } from '../workers/failing-workers.ts'
import type { Placement } from '../workers/placement.ts'
import type { SickWorkers } from '../workers/sick-workers.ts'
import type { WorkerStart } from './status-schema.ts'

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
  readonly failures: Pick<Failures, 'failing' | 'avoidedNodes'>
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

/** Workers with an outdated template. */
export function countOutdated({ pods, template }: Pick<PoolFacts, 'pods' | 'template'>): number {
  return template === null ? 0 : pods.filter((pod) => !pod.deleting && pod.template !== template).length
}

/** The pod of a worker that has just become sick remains ready until the next probe. */
export function countReady({ pods, workers }: Pick<PoolFacts, 'pods' | 'workers'>): number {
  return pods.filter(({ name, ready, deleting }) => ready && !deleting && workers.get(name)?.sick === undefined).length
}
