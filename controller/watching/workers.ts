import { isTouched, type Live } from '../runtime/apply-once.ts'
import type { Enqueue } from '../runtime/controllers.ts'
import { FIELD_MANAGER } from '../runtime/field-manager.ts'
import { type KubernetesObject, keyOf } from '../runtime/resource.ts'
import { lastWriters } from '../runtime/reverted-edits.ts'
import type { Watched } from '../runtime/watch.ts'
import type { WorkerPool } from '../worker-pool/resource.ts'
import { BUDGETS, REPLICA_SETS, type ReplicaSet } from '../worker-pool/template/replica-set.ts'
import { keepOfPod, PODS, POOL_LABEL, type Pod, WORKER_PODS } from '../worker-pool/workers/pods.ts'
import type { WatchKind } from './watch-kind.ts'

/** A change of a pool usually affects several objects: batch the changes into one reconcile. */
const BATCH_MS = 100

/** Watches the objects that the controller creates for pools, and their pods. */
export function watchWorkers(watch: WatchKind, enqueue: Enqueue, onPodOf: (pool: string) => void) {
  const index = createPodIndex()
  const replicaSets = watch<ReplicaSet>(REPLICA_SETS, (object) => enqueue('WorkerPool', poolOf(object), BATCH_MS), {
    labelSelector: POOL_LABEL,
    keep: (object) => ({
      metadata: object.metadata,
      spec: { replicas: object.spec.replicas },
      status: {
        observedGeneration: object.status?.observedGeneration,
        conditions: object.status?.conditions?.filter(({ type }) => type === 'ReplicaFailure'),
      },
      touched: isTouched(object, FIELD_MANAGER),
      writers: lastWriters(object),
    }),
  })
  const disruptionBudgets = watch<Live>(BUDGETS, (object) => enqueue('WorkerPool', poolOf(object), BATCH_MS), {
    labelSelector: POOL_LABEL,
    keep: (object) => ({
      metadata: object.metadata,
      touched: isTouched(object, FIELD_MANAGER),
      writers: lastWriters(object),
    }),
  })
  const pods: Watched<Pod> = watch<Pod>(
    PODS,
    (pod) => {
      for (const pool of index.put(pod, pods.get(keyOf(pod.metadata)))) {
        enqueue('WorkerPool', pool, BATCH_MS)
        onPodOf(pool)
      }
    },
    { labelSelector: WORKER_PODS, keep: keepOfPod },
  )
  return { replicaSets, disruptionBudgets, pods, podsOf: index.podsOf }
}

function poolOf({ metadata: { namespace, labels } }: KubernetesObject): string {
  return keyOf({ namespace, name: labels?.[POOL_LABEL] ?? '' })
}

/** Pods by pool. Operators relabel a pod to take it out of its pool and examine it. */
function createPodIndex() {
  const byPool = new Map<string, Map<string, Pod>>()
  const poolByPod = new Map<string, string>()
  const remove = (pool: string, pod: string) => {
    const known = byPool.get(pool)
    known?.delete(pod)
    if (known?.size === 0) byPool.delete(pool)
    poolByPod.delete(pod)
  }
  return {
    podsOf: ({ metadata }: WorkerPool): readonly Pod[] => [...(byPool.get(keyOf(metadata))?.values() ?? [])],
    /** Records the current state or the deletion of a pod. Returns the affected pools. */
    put: (pod: Pod, now: Pod | undefined): ReadonlySet<string> => {
      const key = keyOf(pod.metadata)
      const [before, pool] = [poolByPod.get(key), poolOf(pod)]
      if (before !== undefined && (before !== pool || now === undefined)) remove(before, key)
      if (now !== undefined) {
        byPool.set(pool, (byPool.get(pool) ?? new Map<string, Pod>()).set(key, now))
        poolByPod.set(key, pool)
      }
      return new Set(before === undefined ? [pool] : [before, pool])
    },
  }
}
