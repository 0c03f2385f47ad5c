import { isDeepStrictEqual } from 'node:util'
import type { Client } from '../runtime/client.ts'
import { conditionsAfter } from '../runtime/conditions.ts'
import type { KubernetesObject } from '../runtime/resource.ts'
import type { Watched } from '../runtime/watch.ts'
import { scalingPolicies } from './resource.ts'

interface NamingPolicy extends KubernetesObject {
  readonly spec?: { readonly scaling?: { readonly policyRef?: { readonly name?: string } } }
}

/** Says of a policy how many pools name it. */
export function createPolicyReconcile({
  client,
  policies,
  pools,
  now,
}: {
  client: Client
  policies: Pick<Watched<KubernetesObject>, 'get'>
  pools: Pick<Watched<NamingPolicy>, 'list'>
  now: () => Date
}) {
  return async (key: string) => {
    const found = policies.get(key)
    if (found === undefined || found.metadata.deletionTimestamp !== undefined) return undefined
    const read = scalingPolicies.read(found)
    if ('problems' in read) return undefined
    const { metadata, status } = read.object
    const { namespace, name, generation } = metadata
    const naming = pools
      .list()
      .filter((pool) => pool.metadata.namespace === namespace && pool.spec?.scaling?.policyRef?.name === name)
    const message = `${naming.length} pools name it.`
    const next = {
      observedGeneration: generation,
      pools: naming.length,
      conditions: conditionsAfter(
        status?.conditions ?? [],
        [{ type: 'Ready', status: 'True', reason: naming.length > 0 ? 'InUse' : 'NotInUse', message }],
        { generation, now: now() },
      ),
    }
    if (!isDeepStrictEqual(next, status))
      await client.apply(
        scalingPolicies.type,
        { metadata: { namespace, name }, status: next },
        { subresource: 'status' },
      )
    return { againMs: 60_000 }
  }
}
