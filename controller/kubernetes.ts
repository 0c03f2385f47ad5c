import type { Log } from '../api/shared/log.ts'
import { engines } from './engine/resource.ts'
import type { ControllerMetrics } from './metrics.ts'
import { retentionPolicies } from './retention/resource.ts'
import { type Connection, KubernetesError } from './runtime/connection.ts'
import { type KubernetesObject, keyOf, type ResourceType } from './runtime/resource.ts'
import { type Watched, type WatchOptions, watchObjects } from './runtime/watch.ts'
import { scalingPolicies } from './scaling-policy/resource.ts'
import { BUDGETS, DEPLOYMENTS, POOL_LABEL } from './worker-pool/deployment.ts'
import { keepOfPod, PODS, type Pod } from './worker-pool/pods.ts'
import type { Deployment } from './worker-pool/reconcile.ts'
import { type WorkerPool, workerPools } from './worker-pool/resource.ts'

/** What asks for an object to be looked at. */
export interface Interested {
  pool(key: string): void
  engine(key: string): void
  policy(key: string): void
  retention(key: string): void
}

export type Cluster = ReturnType<typeof watchCluster>

/** Watches all that the controller looks at, and asks for those objects that a change is about. */
export function watchCluster({
  connection,
  namespace,
  interested,
  log,
  metrics,
}: {
  connection: Connection
  /** Of the objects; all when undefined. */
  namespace: string | undefined
  interested: Interested
  log: Log
  metrics: Pick<ControllerMetrics, 'watchAge'>
}) {
  const watch = <T extends KubernetesObject>(
    type: ResourceType,
    onChange: (object: T) => void,
    more: Pick<WatchOptions<T>, 'labelSelector' | 'keep'> = {},
  ): Watched<T> => {
    const onFault = (error: unknown) => {
      const level = error instanceof KubernetesError && [403, 404].includes(error.status) ? 'warn' : 'debug'
      log[level]({ err: error, kind: type.kind }, 'watch broke off')
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

  const pools = watch<KubernetesObject>(workerPools.type, ({ metadata }) => interested.pool(keyOf(metadata)))
  const policies = watch<KubernetesObject>(scalingPolicies.type, (policy) => {
    interested.policy(keyOf(policy.metadata))
    askAllOf(pools.list, policy)
  })
  const engineObjects = watch<KubernetesObject>(engines.type, (engine) => {
    interested.engine(keyOf(engine.metadata))
    askAllOf(pools.list, engine)
  })
  const retention = watch<KubernetesObject>(retentionPolicies.type, ({ metadata }) =>
    interested.retention(keyOf(metadata)),
  )
  const labelSelector = POOL_LABEL
  const deployments = watch<Deployment>(DEPLOYMENTS, (object) => interested.pool(poolOf(object)), {
    labelSelector,
    keep: ({ metadata, spec, status }) => ({
      metadata,
      spec: { replicas: spec.replicas },
      status: { observedGeneration: status?.observedGeneration },
    }),
  })
  const budgets = watch<KubernetesObject>(BUDGETS, (object) => interested.pool(poolOf(object)), {
    labelSelector,
    keep: ({ metadata }) => ({ metadata }),
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
      interested.pool(pool)
    },
    { labelSelector, keep: keepOfPod },
  )

  const all = {
    WorkerPool: pools,
    ScalingPolicy: policies,
    Engine: engineObjects,
    RetentionPolicy: retention,
    Deployment: deployments,
    PodDisruptionBudget: budgets,
    Pod: pods,
  }
  return {
    /** Takes in what the controller itself wrote. */
    note: (type: ResourceType, object: KubernetesObject) =>
      Object.values(all)
        .find((watched) => watched.type === type)
        ?.note(object),
    pools,
    policies,
    engines: engineObjects,
    deployments,
    budgets,
    retention,
    podsOf: ({ metadata }: WorkerPool): readonly Pod[] => [...(podsByPool.get(keyOf(metadata))?.values() ?? [])],
    /** Resolves when everything has been listed once. */
    synced: Promise.all(Object.values(all).map(({ synced }) => synced)),
    /** Notes for each kind how long ago the API server was heard of. */
    measureAges: () => {
      for (const [kind, { ageMs }] of Object.entries(all)) metrics.watchAge.set({ kind }, ageMs() / 1000)
    },
    close: () => {
      for (const watched of Object.values(all)) watched.close()
    },
  }
}
