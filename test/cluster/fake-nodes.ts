import { setTimeout as sleep } from 'node:timers/promises'
import type { Client } from '../../controller/runtime/client.ts'
import type { Connection } from '../../controller/runtime/connection.ts'
import { type KubernetesObject, pathOf } from '../../controller/runtime/resource.ts'
import { watchObjects } from '../../controller/runtime/watch.ts'
import { askApiServer } from './ask-api-server.ts'
import { NODES, PODS } from './kinds.ts'

interface AssignedPod extends KubernetesObject {
  readonly spec: { readonly nodeName?: string; readonly containers: readonly { readonly name: string }[] }
  readonly status?: { readonly phase?: string }
}

/** Machines that only say that they run what they are given. */
export interface FakeNodes {
  /** Pods that run now in a namespace, by name, also those that are terminating. */
  running(namespace: string): string[]
  /** The node of a pod that runs now. */
  nodeOf(namespace: string, name: string): string | undefined
  /** Calls back when a pod has begun to run, when its deletion starts, and when it has ended. */
  onPod(listener: (namespace: string, name: string, state: PodState, uid: string) => void): void
  /** Has a pod say that it is ready, or not. */
  setReady(namespace: string, name: string, ready: boolean): Promise<void>
  /** Has the nodes reject each new pod for this reason, as a kubelet does with an unhealthy device; null: run it. */
  reject(reason: string | null): void
  /** Pods that were rejected, by name. */
  readonly rejected: ReadonlySet<string>
  /** Removes the nodes, so that no pod is scheduled on them. */
  close(): Promise<void>
}

export type PodState = 'runs' | 'ends' | 'ended'

const LOOK_MS = 100

/**
 * Registers the nodes. Every pod that the scheduler gives them is ready at once. One that is told to go is gone as soon as
 * `hasEnded` says so, at the latest after its grace period, as under a kubelet.
 */
export async function startFakeNodes(
  { client, connection }: { client: Client; connection: Connection },
  names: readonly string[],
  /** What each node has beside processors and memory, such as accelerators. */
  resources: Readonly<Record<string, string>> = {},
  hasEnded: (pod: string) => boolean = () => true,
): Promise<FakeNodes> {
  await Promise.all(names.map((name) => registerNode(client, name, resources)))
  const ours = new Set(names)
  const running = new Map<string, AssignedPod>()
  const ending = new Set<string>()
  const listeners: Parameters<FakeNodes['onPod']>[0][] = []
  let rejection: string | null = null
  const rejected = new Set<string>()
  const report = (pod: AssignedPod, state: PodState) => {
    const { namespace = '', name, uid = '' } = pod.metadata
    for (const listener of listeners) listener(namespace, name, state, uid)
  }
  const end = async (pod: AssignedPod) => {
    const uid = pod.metadata.uid ?? ''
    if (ending.has(uid)) return
    ending.add(uid)
    report(pod, 'ends')
    // The API server sets the time by which the pod has to be gone.
    const killedAt = Date.parse(pod.metadata.deletionTimestamp ?? '')
    while (!hasEnded(pod.metadata.name) && Date.now() < killedAt) await sleep(LOOK_MS)
    if (running.delete(uid)) report(pod, 'ended')
    await remove(connection, pod)
  }
  const act = async (pod: AssignedPod, isThere: boolean) => {
    if (!ours.has(pod.spec.nodeName ?? '')) return
    const uid = pod.metadata.uid ?? ''
    if (!isThere || pod.metadata.deletionTimestamp !== undefined) {
      if (isThere && running.has(uid)) return end(pod)
      if (running.delete(uid)) report(pod, 'ended')
      if (isThere) await remove(connection, pod)
    } else if (pod.status?.phase === 'Failed') {
      running.delete(uid)
    } else if (!running.has(uid)) {
      if (rejection !== null) {
        rejected.add(pod.metadata.name)
        return rejectPod(client, pod, rejection)
      }
      running.set(uid, pod)
      await setStatus(client, pod, true)
      report(pod, 'runs')
    }
  }
  const watched = watchObjects<AssignedPod>({
    connection,
    type: PODS,
    onChange: (pod) => {
      const isThere = watched.get(`${pod.metadata.namespace}/${pod.metadata.name}`) !== undefined
      act(pod, isThere).catch(() => {})
    },
  })
  await watched.synced
  const inNamespace = (namespace: string) =>
    [...running.values()].filter(({ metadata }) => metadata.namespace === namespace)
  return {
    running: (namespace) => inNamespace(namespace).map(({ metadata }) => metadata.name),
    nodeOf: (namespace, name) => inNamespace(namespace).find(({ metadata }) => metadata.name === name)?.spec.nodeName,
    rejected,
    reject: (reason) => {
      rejection = reason
    },
    onPod: (listener) => listeners.push(listener),
    setReady: async (namespace, name, ready) => {
      const pod = inNamespace(namespace).find(({ metadata }) => metadata.name === name)
      if (pod) await setStatus(client, pod, ready)
    },
    close: async () => {
      watched.close()
      for (const name of names) await client.delete(NODES, { name }).catch(() => {})
    },
  }
}

async function registerNode(client: Client, name: string, resources: Readonly<Record<string, string>>): Promise<void> {
  const amounts = { cpu: '1000', memory: '1000Gi', pods: '2000', ...resources }
  await client.apply(NODES, { metadata: { name, labels: { 'kubernetes.io/hostname': name } } })
  // No controller removes the taint of new nodes here.
  await client.patch(NODES, { name }, { spec: { taints: null } })
  const status = {
    capacity: amounts,
    allocatable: amounts,
    conditions: [{ type: 'Ready', status: 'True', reason: 'Fake' }],
  }
  await client.patch(NODES, { name }, { status }, { subresource: 'status' })
}

async function setStatus(client: Client, { metadata, spec }: AssignedPod, ready: boolean): Promise<void> {
  const lastTransitionTime = new Date().toISOString()
  const conditions = [
    ...['PodScheduled', 'Initialized'].map((type) => ({ type, status: 'True', lastTransitionTime })),
    { type: 'Ready', status: ready ? 'True' : 'False', lastTransitionTime },
  ]
  const containerStatuses = spec.containers.map(({ name }) => ({
    name,
    image: name,
    imageID: name,
    ready,
    started: true,
    restartCount: 0,
    state: { running: { startedAt: lastTransitionTime } },
  }))
  const status = { phase: 'Running', conditions, containerStatuses }
  await client.patch(PODS, metadata, { status }, { subresource: 'status' })
}

async function rejectPod(client: Client, { metadata }: AssignedPod, reason: string): Promise<void> {
  const status = { phase: 'Failed', reason, message: 'Pod was rejected: Allocate failed: no healthy devices present' }
  await client.patch(PODS, metadata, { status }, { subresource: 'status' })
}

async function remove(connection: Connection, { metadata }: AssignedPod): Promise<void> {
  const body = { gracePeriodSeconds: 0, preconditions: { uid: metadata.uid } }
  await askApiServer(connection, { method: 'DELETE', path: pathOf(PODS, metadata), body })
}
