import type { Log } from '../../api/shared/telemetry/log.ts'
import { retentionPolicies, sweeps } from '../retention/resource.ts'
import type { Connection } from '../runtime/connection.ts'
import type { Enqueue, Kind } from '../runtime/controllers.ts'
import { type KubernetesObject, keyOf, type ResourceType } from '../runtime/resource.ts'
import { POOL_LABEL } from '../worker-pool/workers/pods.ts'
import { watchNodes } from './nodes.ts'
import { watchPools } from './pools.ts'
import { createWatchKind, type WatchKind } from './watch-kind.ts'
import { watchWorkers } from './workers.ts'

export type Cluster = ReturnType<typeof watchCluster>

/** Watches all kinds that the controller reads, and enqueues the objects that a change affects. */
export function watchCluster({
  connection,
  namespace,
  mayWatchNodes,
  enqueue,
  log,
}: {
  connection: Connection
  /** Namespace to watch; undefined: all namespaces. */
  namespace: string | undefined
  mayWatchNodes: boolean
  enqueue: Enqueue
  log: Log
}) {
  const watch = createWatchKind({ connection, namespace, log })
  const { pools, policies, engines: engineObjects, enqueueEnginesOf } = watchPools(watch, enqueue)
  const { retention, sweeps: sweepObjects } = watchRetention(watch, enqueue)
  const { replicaSets, disruptionBudgets, pods, podsOf } = watchWorkers(watch, enqueue, (pool) => {
    const owner = pools.get(pool)
    if (owner) enqueueEnginesOf(owner)
  })
  const { nodes, findNode } = watchNodes(watch, {
    mayWatchNodes,
    onNotice: (node) => {
      for (const pod of pods.list())
        if (pod.spec?.nodeName === node)
          enqueue('WorkerPool', keyOf({ ...pod.metadata, name: pod.metadata.labels?.[POOL_LABEL] ?? '' }))
    },
  })
  const every = {
    WorkerPool: pools,
    ScalingPolicy: policies,
    Engine: engineObjects,
    RetentionPolicy: retention,
    Sweep: sweepObjects,
    ReplicaSet: replicaSets,
    PodDisruptionBudget: disruptionBudgets,
    Pod: pods,
    ...(nodes && { Node: nodes }),
  }
  return {
    /** Applies the controller's own writes to the caches. */
    note: (type: ResourceType, object: KubernetesObject) =>
      Object.values(every)
        .find((watched) => watched.type === type)
        ?.note(object),
    pools,
    policies,
    engines: engineObjects,
    replicaSets,
    budgets: disruptionBudgets,
    retention,
    sweeps: sweepObjects,
    findNode,
    podsOf,
    /** Resolves, for each kind's reconciler, when all objects that the reconciler reads have been listed once. */
    synced: {
      WorkerPool: listedOnce(pools, policies, engineObjects, replicaSets, disruptionBudgets, pods),
      Engine: listedOnce(engineObjects, pools, pods),
      ScalingPolicy: listedOnce(policies, pools),
      RetentionPolicy: listedOnce(retention),
      Sweep: listedOnce(sweepObjects, retention),
    } satisfies Record<Kind, Promise<unknown>>,
    close: () => {
      for (const watched of Object.values(every)) watched.close()
    },
  }
}

function watchRetention(watch: WatchKind, enqueue: Enqueue) {
  return {
    retention: watch<KubernetesObject>(retentionPolicies.type, ({ metadata }) =>
      enqueue('RetentionPolicy', keyOf(metadata)),
    ),
    sweeps: watch<KubernetesObject>(sweeps.type, ({ metadata }) => enqueue('Sweep', keyOf(metadata))),
  }
}

function listedOnce(...watched: readonly { readonly synced: Promise<void> }[]): Promise<unknown> {
  return Promise.all(watched.map(({ synced }) => synced))
}
