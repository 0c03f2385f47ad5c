import type { Client } from '../runtime/client.ts'
import type { KubernetesObject, ResourceType } from '../runtime/resource.ts'
import { POOL_LABEL } from './pods.ts'
import { REPLICA_SETS, workersName } from './replica-set.ts'
import type { WorkerPool } from './resource.ts'

const DEPLOYMENTS: ResourceType = {
  group: 'apps',
  version: 'v1',
  plural: 'deployments',
  kind: 'Deployment',
  namespaced: true,
}

/**
 * Before its first release Drape created a Deployment per pool. Deletes the Deployment and its ReplicaSets, but not their pods: the
 * pool's ReplicaSet adopts pods without an owner. Resolves to whether the pods can be adopted.
 */
export async function takeOverPods(
  pool: WorkerPool,
  client: Pick<Client, 'get' | 'list' | 'delete'>,
): Promise<boolean> {
  const { namespace, name: poolName, uid } = pool.metadata
  const name = workersName(pool)
  const deployment = await client.get(DEPLOYMENTS, { namespace, name })
  if (controllerOf(deployment)?.uid === uid) {
    await client.delete(DEPLOYMENTS, { namespace, name }, { orphan: true })
    return false
  }
  const found = await client.list(REPLICA_SETS, { namespace, labelSelector: `${POOL_LABEL}=${poolName}` })
  const orphans = found.filter((object) => object.metadata.name !== name && controllerOf(object) === undefined)
  for (const { metadata } of orphans)
    await client.delete(REPLICA_SETS, { namespace, name: metadata.name }, { orphan: true })
  return orphans.length === 0
}

function controllerOf(object: KubernetesObject | null) {
  return object?.metadata.ownerReferences?.find(({ controller }) => controller === true)
}
