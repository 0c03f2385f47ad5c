import type { Live } from '../runtime/apply-once.ts'
import type { KubernetesObject } from '../runtime/resource.ts'
import type { Watched } from '../runtime/watch.ts'
import { type Engines, findEngines, findRules, pausedAt, type Rules } from './configuration.ts'
import { sumDemand } from './demand/demand.ts'
import type { Share } from './demand/divide-demand.ts'
import type { Sample } from './demand/sampler.ts'
import type { PoolMemory } from './pool-memory.ts'
import type { WorkerPool } from './resource.ts'
import type { Demand } from './scaling/decide.ts'
import { type ReplicaSet, renderTemplate, workersName } from './template/replica-set.ts'
import type { LiveWorker, PoolPod } from './workers/drain.ts'
import { findInterruptions, type Interruptions } from './workers/ending-nodes.ts'
import { type Failures, findFailures, partitionEnded } from './workers/failing-workers.ts'
import { findPlacement, type Placement } from './workers/placement.ts'
import { liveWorkers, type Pod, readPod, TEMPLATE_DIGEST } from './workers/pods.ts'
import { findSickWorkers, type SickWorkers } from './workers/sick-workers.ts'

/** The objects of the cluster that a pool depends on, as last read from the API server. */
export interface PoolObjects {
  readonly policies: Pick<Watched<KubernetesObject>, 'get'>
  readonly engines: Pick<Watched<KubernetesObject>, 'get'>
  readonly replicaSets: Pick<Watched<ReplicaSet>, 'get'>
  readonly budgets: Pick<Watched<Live>, 'get'>
  /** Finds a node by name; undefined if nodes cannot be read. */
  readonly findNode: (name: string) => KubernetesObject | undefined
  /** The pods of a pool. */
  readonly podsOf: (pool: WorkerPool) => readonly Pod[]
}

/** The state of a pool at one moment. */
export interface Observation {
  readonly pool: WorkerPool
  /** The pods as the API server has them, without those that have ended. */
  readonly found: readonly Pod[]
  readonly pods: readonly PoolPod[]
  readonly placement: Placement
  readonly workers: ReadonlyMap<string, LiveWorker>
  readonly failures: Failures
  readonly sick: SickWorkers
  readonly interruptions: Interruptions
  readonly queueReachable: boolean
  readonly demand: Demand | null
  readonly engines: Engines
  readonly rules: Rules
  readonly pausedUntil: string | null
  /** Digest of the template of new pods; null while unknown. */
  readonly template: string | null
  readonly replicaSet: ReplicaSet | undefined
  readonly disruptionBudget: Live | undefined
  /** Replicas of the ReplicaSet. */
  readonly replicas: number
  readonly now: Date
}

export interface Observing {
  readonly pool: WorkerPool
  readonly sample: Sample
  /** The pool's part of the demand by queue. */
  readonly share: Share | undefined
  readonly memory: Pick<PoolMemory, 'failures' | 'sickWorkers' | 'notices'>
  readonly now: Date
}

/** Reads the state of a pool from the caches and the last sample. Writes nothing. */
export function observe(
  { policies, engines: engineObjects, replicaSets, budgets, findNode, podsOf }: PoolObjects,
  { pool, sample: { demand, workers: reports }, share, memory, now }: Observing,
): Observation {
  const { live: found, ended } = partitionEnded(podsOf(pool))
  const workers = liveWorkers(found, reports ?? new Map())
  const nameOfWorkers = `${pool.metadata.namespace}/${workersName(pool)}`
  const replicaSet = replicaSets.get(nameOfWorkers)
  const engines = findEngines(pool, engineObjects)
  return {
    pool,
    found,
    pods: found.map(readPod),
    workers,
    queueReachable: reports !== null,
    demand: demand && sumDemand([...(share?.values() ?? [])]),
    engines,
    rules: findRules(pool, policies),
    pausedUntil: pausedAt(pool, now),
    template: 'list' in engines ? renderTemplate(pool, engines.list).metadata.annotations[TEMPLATE_DIGEST] : null,
    replicaSet,
    disruptionBudget: budgets.get(nameOfWorkers),
    replicas: replicaSet?.spec.replicas ?? 0,
    failures: findFailures({ live: found, ended, memory: memory.failures, now }),
    sick: findSickWorkers({ pool, before: memory.sickWorkers, pods: found, workers, findNode, now }),
    interruptions: findInterruptions({ pods: found, findNode, seenBefore: memory.notices, now }),
    placement: findPlacement(found, replicaSet ? [replicaSet] : [], now),
    now,
  }
}
