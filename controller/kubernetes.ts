import { setTimeout as sleep } from 'node:timers/promises'
import type { Log } from '../api/shared/log.ts'
import { costBudgets } from './cost-budget/resource.ts'
import { ENGINE_LABEL, JOBS, type Job, NODES, type Node } from './engine/prefetch.ts'
import { engines } from './engine/resource.ts'
import { FIELD_MANAGER } from './field-manager.ts'
import type { ControllerMetrics } from './metrics.ts'
import { retentionPolicies, sweeps } from './retention/resource.ts'
import { isTouched, type Live } from './runtime/apply-once.ts'
import type { Connection } from './runtime/connection.ts'
import type { KubernetesError } from './runtime/kubernetes-error.ts'
import { type KubernetesObject, keyOf, type ResourceType } from './runtime/resource.ts'
import { type Watched, type WatchOptions, watchObjects } from './runtime/watch.ts'
import { scalingPolicies } from './scaling-policy/resource.ts'
import { isAcceleratorProblem } from './worker-pool/node-problems.ts'
import { keepOfPod, PODS, POOL_LABEL, type Pod } from './worker-pool/pods.ts'
import { BUDGETS, REPLICA_SETS, type ReplicaSet } from './worker-pool/replica-set.ts'
import { type WorkerPool, workerPools } from './worker-pool/resource.ts'

/** Enqueues objects for a reconcile. */
export interface ReconcileQueues {
  /** Immediately, or after `ms`. */
  pool(key: string, ms?: number): void
  engine(key: string): void
  policy(key: string): void
  budget(key: string): void
  retention(key: string): void
  sweep(key: string): void
}

/** A change of a pool usually affects several objects: batch the changes into one reconcile. */
const BATCH_MS = 100
/** A kind without news from the API server for this long counts as unknown. */
const UNKNOWN_MS = 300_000
/** Max wait of pools for the cost budgets. If these cannot be read, pools scale without them. */
const MAX_BUDGET_WAIT_MS = 10_000

interface PoolNames extends KubernetesObject {
  readonly spec?: {
    readonly engines?: readonly string[]
    readonly scaling?: { readonly policyRef?: { readonly name?: string } }
  }
}

interface EngineSettings extends KubernetesObject {
  readonly spec?: {
    readonly source?: { readonly bundled?: object }
    readonly prefetch?: { readonly enabled?: boolean }
  }
}

export type Cluster = ReturnType<typeof watchCluster>

/** Watches all kinds that the controller reads, and enqueues the objects that a change affects. */
export function watchCluster({
  connection,
  namespace,
  mayWatchNodes,
  interested,
  log,
  metrics,
}: {
  connection: Connection
  /** Namespace to watch; undefined: all namespaces. */
  namespace: string | undefined
  mayWatchNodes: boolean
  interested: ReconcileQueues
  log: Log
  metrics: Pick<ControllerMetrics, 'watchAge'>
}) {
  const watch = <T extends KubernetesObject>(
    type: ResourceType,
    onChange: (object: T) => void,
    more: Pick<WatchOptions<T>, 'labelSelector' | 'keep'> = {},
  ): Watched<T> => {
    const onFault = (error: KubernetesError) => {
      const level = [403, 404].includes(error.status) ? 'warn' : 'debug'
      log[level]({ err: error, kind: type.kind }, 'watch interrupted')
    }
    return watchObjects<T>({ connection, type, namespace, onChange, onFault, ...more })
  }
  const podsByPool = new Map<string, Map<string, Pod>>()
  const poolOf = ({ metadata }: KubernetesObject) =>
    keyOf({ namespace: metadata.namespace, name: metadata.labels?.[POOL_LABEL] ?? '' })
  const askAllOf = (objects: () => readonly KubernetesObject[], namespaceOf: KubernetesObject) => {
    for (const { metadata } of objects())
      if (metadata.namespace === namespaceOf.metadata.namespace) interested.pool(keyOf(metadata))
  }

  const pools = watch<PoolNames>(workerPools.type, (pool) => {
    const { namespace } = pool.metadata
    interested.pool(keyOf(pool.metadata))
    askEnginesOf(pool)
    const policy = pool.spec?.scaling?.policyRef?.name
    if (policy !== undefined) interested.policy(keyOf({ namespace, name: policy }))
    for (const { metadata } of costBudgetObjects.list())
      if (metadata.namespace === namespace) interested.budget(keyOf(metadata))
  })
  // Files in the worker image have no state to observe.
  const askEnginesOf = ({ metadata: { namespace }, spec }: PoolNames) => {
    for (const name of spec?.engines ?? []) {
      const key = keyOf({ namespace, name })
      if (engineObjects.get(key)?.spec?.source?.bundled === undefined) interested.engine(key)
    }
  }
  const policies = watch<KubernetesObject>(scalingPolicies.type, (policy) => {
    interested.policy(keyOf(policy.metadata))
    askAllOf(pools.list, policy)
  })
  const costBudgetObjects = watch<KubernetesObject>(costBudgets.type, (budget) => {
    interested.budget(keyOf(budget.metadata))
    askAllOf(pools.list, budget)
  })
  const engineObjects = watch<EngineSettings>(engines.type, (engine) => {
    interested.engine(keyOf(engine.metadata))
    askAllOf(pools.list, engine)
  })
  const retention = watch<KubernetesObject>(retentionPolicies.type, ({ metadata }) =>
    interested.retention(keyOf(metadata)),
  )
  const sweepObjects = watch<KubernetesObject>(sweeps.type, ({ metadata }) => interested.sweep(keyOf(metadata)))
  const labelSelector = POOL_LABEL
  const replicaSets = watch<ReplicaSet>(REPLICA_SETS, (object) => interested.pool(poolOf(object), BATCH_MS), {
    labelSelector,
    keep: (object) => ({
      metadata: object.metadata,
      spec: { replicas: object.spec.replicas },
      status: {
        observedGeneration: object.status?.observedGeneration,
        conditions: object.status?.conditions?.filter(({ type }) => type === 'ReplicaFailure'),
      },
      touched: isTouched(object, FIELD_MANAGER),
    }),
  })
  const budgets = watch<Live>(BUDGETS, (object) => interested.pool(poolOf(object), BATCH_MS), {
    labelSelector,
    keep: (object) => ({ metadata: object.metadata, touched: isTouched(object, FIELD_MANAGER) }),
  })
  const pods: Watched<Pod> = watch<Pod>(
    PODS,
    (pod) => {
      const pool = poolOf(pod)
      const known = podsByPool.get(pool) ?? new Map<string, Pod>()
      podsByPool.set(pool, known)
      const key = keyOf(pod.metadata)
      const now = pods.get(key)
      if (now) known.set(key, now)
      else known.delete(key)
      if (known.size === 0) podsByPool.delete(pool)
      interested.pool(pool, BATCH_MS)
      const owner = pools.get(pool)
      if (owner) askEnginesOf(owner)
    },
    { labelSelector, keep: keepOfPod },
  )
  const jobs = watch<Job>(
    JOBS,
    ({ metadata }) =>
      interested.engine(keyOf({ namespace: metadata.namespace, name: metadata.labels?.[ENGINE_LABEL] ?? '' })),
    {
      labelSelector: ENGINE_LABEL,
      keep: ({ metadata, status }) => ({ metadata, status: { conditions: status?.conditions } }),
    },
  )
  // Nodes report often; only changes of fields that affect selection count.
  const watchNodes = () =>
    watch<Node>(NODES, () => askPrefetching(), {
      keep: ({ metadata: { name, uid, labels, resourceVersion, deletionTimestamp }, spec, status }) => ({
        metadata: { name, uid, labels, resourceVersion, deletionTimestamp },
        spec: { unschedulable: spec?.unschedulable },
        status: { conditions: status?.conditions?.filter(isAcceleratorProblem) },
      }),
    })
  const nodes = mayWatchNodes ? watchNodes() : null

  const askPrefetching = () => {
    for (const { metadata, spec } of engineObjects.list())
      if (spec?.prefetch?.enabled) interested.engine(keyOf(metadata))
  }

  const all = {
    WorkerPool: pools,
    ScalingPolicy: policies,
    CostBudget: costBudgetObjects,
    Engine: engineObjects,
    RetentionPolicy: retention,
    Sweep: sweepObjects,
    ReplicaSet: replicaSets,
    PodDisruptionBudget: budgets,
    Pod: pods,
  }
  // If the controller may not read these kinds, only the features that need them are disabled.
  const optional = { Job: jobs, ...(nodes && { Node: nodes }) }
  const listed = new Set<unknown>()
  for (const watched of Object.values(optional)) watched.synced.then(() => listed.add(watched))
  const ifKnown = <T>(watched: Watched<T>) =>
    listed.has(watched) && watched.ageMs() < UNKNOWN_MS ? watched.list() : null
  const every = { ...all, ...optional }
  return {
    /** Applies the controller's own writes to the caches. */
    note: (type: ResourceType, object: KubernetesObject) =>
      Object.values(every)
        .find((watched) => watched.type === type)
        ?.note(object),
    pools,
    policies,
    costBudgets: costBudgetObjects,
    engines: engineObjects,
    replicaSets,
    budgets,
    retention,
    sweeps: sweepObjects,
    /** The prefetch Jobs, and the nodes; null while they cannot be read. */
    findJobs: () => ifKnown(jobs),
    findNodes: () => nodes && ifKnown(nodes),
    findNode: (name: string) => nodes?.get(keyOf({ name })),
    podsOf: ({ metadata }: WorkerPool): readonly Pod[] => [...(podsByPool.get(keyOf(metadata))?.values() ?? [])],
    /** Resolves, for each kind's reconciler, when all objects that the reconciler reads have been listed once. */
    synced: {
      pool: listedOnce(pools, policies, engineObjects, replicaSets, budgets, pods, soon(costBudgetObjects)),
      engine: listedOnce(engineObjects, pools, pods),
      policy: listedOnce(policies, pools),
      budget: listedOnce(costBudgetObjects, pools),
      retention: listedOnce(retention),
      sweep: listedOnce(sweepObjects, retention),
    },
    /** Records for each kind the time since the last message of the API server. */
    measureAges: () => {
      for (const [kind, { ageMs }] of Object.entries(every)) metrics.watchAge.set({ kind }, ageMs() / 1000)
    },
    close: () => {
      for (const watched of Object.values(every)) watched.close()
    },
  }
}

/** Listed, or timed out. */
function soon({ synced }: { readonly synced: Promise<void> }): { readonly synced: Promise<void> } {
  return { synced: Promise.race([synced, sleep(MAX_BUDGET_WAIT_MS, undefined, { ref: false })]) }
}

function listedOnce(...watched: readonly { readonly synced: Promise<void> }[]): Promise<unknown> {
  return Promise.all(watched.map(({ synced }) => synced))
}
