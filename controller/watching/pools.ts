import { engines } from '../engine/resource.ts'
import type { Enqueue } from '../runtime/controllers.ts'
import { type KubernetesObject, keyOf } from '../runtime/resource.ts'
import { scalingPolicies } from '../scaling-policy/resource.ts'
import { workerPools } from '../worker-pool/resource.ts'
import type { WatchKind } from './watch-kind.ts'

interface PoolNames extends KubernetesObject {
  readonly spec?: {
    readonly engines?: readonly string[]
    readonly scaling?: { readonly policyRef?: { readonly name?: string } }
  }
}

interface EngineSettings extends KubernetesObject {
  readonly spec?: { readonly source?: { readonly bundled?: object } }
}

/** Watches pools and the objects that affect them. A change of such an object affects all pools of its namespace. */
export function watchPools(watch: WatchKind, enqueue: Enqueue) {
  const enqueuePoolsOf = ({ metadata: { namespace } }: KubernetesObject) => {
    for (const { metadata } of pools.list())
      if (metadata.namespace === namespace) enqueue('WorkerPool', keyOf(metadata))
  }
  // Files in the worker image have no state to observe.
  const enqueueEnginesOf = ({ metadata: { namespace }, spec }: PoolNames) => {
    for (const name of spec?.engines ?? []) {
      const key = keyOf({ namespace, name })
      if (engineObjects.get(key)?.spec?.source?.bundled === undefined) enqueue('Engine', key)
    }
  }
  const pools = watch<PoolNames>(workerPools.type, (pool) => {
    const { namespace } = pool.metadata
    enqueue('WorkerPool', keyOf(pool.metadata))
    enqueueEnginesOf(pool)
    const policy = pool.spec?.scaling?.policyRef?.name
    if (policy !== undefined) enqueue('ScalingPolicy', keyOf({ namespace, name: policy }))
  })
  const policies = watch<KubernetesObject>(scalingPolicies.type, (policy) => {
    enqueue('ScalingPolicy', keyOf(policy.metadata))
    enqueuePoolsOf(policy)
  })
  const engineObjects = watch<EngineSettings>(engines.type, (engine) => {
    enqueue('Engine', keyOf(engine.metadata))
    enqueuePoolsOf(engine)
  })
  return { pools, policies, engines: engineObjects, enqueueEnginesOf }
}
