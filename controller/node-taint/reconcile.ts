import { readValid } from '../definitions/custom-resource.ts'
import type { Client } from '../runtime/client.ts'
import { type RecordEvent, warning } from '../runtime/events.ts'
import { KubernetesError } from '../runtime/kubernetes-error.ts'
import type { KubernetesObject } from '../runtime/resource.ts'
import type { Watched } from '../runtime/watch.ts'
import type { Done } from '../runtime/work-queue.ts'
import { workerPools } from '../worker-pool/resource.ts'
import { isSickTaint, NODES, type Node, TAINT } from './taint.ts'

/** Interval at which a node is tried again if the controller may not patch nodes. */
const FORBIDDEN_MS = 600_000

/**
 * Taints a node while a pool with `sickNodes.taint` avoids the node, and removes the taint afterwards. The value of the taint is its
 * `owner`: the taint of another release is enough, and only that release removes it.
 */
export function createNodeTaints({
  client,
  record,
  findNode,
  pools,
  owner,
  now,
}: {
  client: Pick<Client, 'get' | 'patch'>
  record: RecordEvent
  /** Finds a node by name; undefined if the node does not exist or nodes cannot be read. */
  findNode: (name: string) => Node | undefined
  pools: Pick<Watched<KubernetesObject>, 'list'>
  /** Namespace of the release. */
  owner: string
  now: () => Date
}) {
  return async (key: string): Promise<Done | undefined> => {
    const name = key.slice(key.indexOf('/') + 1)
    const found = findNode(name)
    if (found === undefined) return undefined
    const avoiding = findAvoiding(name)
    const wanted = avoiding.length > 0
    const again = wanted ? { againMs: Math.max(...avoiding.map(({ remainingMs }) => remainingMs)) } : undefined
    const taint = found.spec?.taints?.find(isSickTaint)
    if (wanted ? taint !== undefined : taint?.value !== owner) return again
    try {
      await setTaint(name, wanted)
    } catch (error) {
      if (!(error instanceof KubernetesError) || error.status !== 403) throw error
      const message = `The controller may not taint the node ${name}: set rbac.taintNodes of the chart, or sickNodes.taint to false.`
      for (const { pool } of avoiding) await record(pool, warning('NodeNotTainted', message))
      return { againMs: Math.min(FORBIDDEN_MS, again?.againMs ?? FORBIDDEN_MS) }
    }
    const message = `${name} has the taint ${TAINT.key}:${TAINT.effect} while the pool avoids the node.`
    for (const { pool } of avoiding) await record(pool, warning('NodeTainted', message))
    return again
  }

  /** The pools that want the node tainted now. */
  function findAvoiding(node: string) {
    return pools.list().flatMap((object) => {
      const pool = readValid(workerPools, object)
      if (pool === null || !pool.spec.sickNodes.taint || pool.metadata.deletionTimestamp !== undefined) return []
      const avoided = pool.status?.avoidedNodes.find(({ name }) => name === node)
      const remainingMs = avoided ? Date.parse(avoided.until) - now().getTime() : 0
      return remainingMs > 0 ? [{ pool, remainingMs }] : []
    })
  }

  /** Other writers own taints of the same list: fails with 409 if one of them is faster. */
  async function setTaint(name: string, wanted: boolean): Promise<void> {
    const node = await client.get<Node>(NODES, { name })
    if (node === null) return
    const others = (node.spec?.taints ?? []).filter((taint) => !isSickTaint(taint))
    const taints = wanted ? [...others, { ...TAINT, value: owner }] : others
    const { resourceVersion } = node.metadata
    await client.patch(NODES, { name }, { metadata: { resourceVersion }, spec: { taints } })
  }
}
