import { engines } from '../../controller/engine/resource.ts'
import type { KubernetesObject, ResourceType } from '../../controller/runtime/resource.ts'
import { workerPools } from '../../controller/worker-pool/resource.ts'
import type { PoolStatus } from '../../controller/worker-pool/status/status-schema.ts'
import { type Drape, startDrape } from '../support/drape.ts'
import { startProgram, type TestProgram } from '../support/process.ts'
import { until } from '../support/until.ts'
import type { ControlPlane } from './control-plane.ts'
import { type FakeNodes, startFakeNodes } from './fake-nodes.ts'
import { EVENTS, NAMESPACES } from './kinds.ts'
import { type ModelWorkers, startModelWorkers } from './model-workers.ts'
import { createTestNamespace, type TestNamespace } from './namespace.ts'
import { installDefinitions } from './samples.ts'

interface Pool extends KubernetesObject {
  readonly status?: PoolStatus
}

interface FoundEvent extends KubernetesObject {
  readonly type?: string
  readonly reason?: string
  readonly message?: string
  readonly involvedObject?: { readonly name: string }
}

/** A namespace with the engine `mock`, nodes, the workers in their pods, and the controller that looks after its pools. */
export interface PoolStage extends TestNamespace {
  readonly drape: Drape
  readonly nodes: FakeNodes
  readonly workers: ModelWorkers
  readonly controller: TestProgram
  apply(pool: string, spec: object): Promise<Pool>
  /** Deletes a pool and waits until its pods are gone. */
  remove(pool: string): Promise<void>
  statusOf(pool: string): Promise<PoolStatus | undefined>
  conditionOf(pool: string, type: string): Promise<PoolStatus['conditions'][number] | undefined>
  /** Waits until the pool has this number of ready workers and no change is in progress. */
  untilReady(pool: string, workers: number): Promise<PoolStatus>
  podsOf(pool: string): string[]
  eventsOf(pool: string, reason: string): Promise<{ type?: string; message?: string }[]>
  get<T extends KubernetesObject>(type: ResourceType, name: string): Promise<T | null>
}

const NODES = ['fake-a', 'fake-b']

/**
 * `env` replaces variables of the controller, such as the way to its database or to the API server. `graceful`: workers that are deleted finish their
 * jobs, as long as their pods have time; otherwise they are gone at once, so that no test overlooks it.
 */
export async function startPoolStage(
  controlPlane: ControlPlane,
  {
    env = async () => ({}),
    graceful = false,
    nodeNames = NODES,
    resources = {},
  }: {
    env?: (drape: Drape) => Promise<Readonly<Record<string, string>>>
    graceful?: boolean
    nodeNames?: readonly string[]
    /** What each node has beside processors and memory. */
    resources?: Readonly<Record<string, string>>
  } = {},
): Promise<PoolStage> {
  const place = await createTestNamespace(controlPlane)
  const { client, namespace } = place
  await installDefinitions(client)
  const labels = { 'pod-security.kubernetes.io/enforce': 'restricted' }
  await client.patch(NAMESPACES, { name: namespace }, { metadata: { labels } })
  const drape = await startDrape()
  const nodes = await startFakeNodes(place, nodeNames, resources, (pod) => !graceful || !workers.isBusy(pod))
  const workers = startModelWorkers({ redisUrl: drape.env.REDIS_URL, nodes })
  const ways = await env(drape)
  const spec = { license: { name: 'Apache-2.0', commercialUse: true }, source: { bundled: {} } }
  await client.apply(engines.type, { metadata: { namespace, name: 'mock' }, spec })
  const controller = await startProgram('controller', {
    ...drape.env,
    KUBECONFIG: controlPlane.kubeconfig,
    ...ways,
    WATCH_NAMESPACE: namespace,
    LEASE_NAMESPACE: namespace,
    LEASE_SECONDS: '3',
  })

  const statusOf = async (name: string) => (await client.get<Pool>(workerPools.type, { namespace, name }))?.status
  const conditionOf = async (pool: string, type: string) =>
    (await statusOf(pool))?.conditions.find((condition) => condition.type === type)
  const podsOf = (pool: string) => nodes.running(namespace).filter((pod) => pod.startsWith(`${pool}-workers-`))
  return {
    ...place,
    drape,
    nodes,
    workers,
    controller,
    statusOf,
    conditionOf,
    podsOf,
    apply: (name, poolSpec) => client.apply<Pool>(workerPools.type, { metadata: { namespace, name }, spec: poolSpec }),
    remove: async (name) => {
      await client.delete(workerPools.type, { namespace, name })
      await until(() => podsOf(name).length === 0)
    },
    untilReady: (pool, count) =>
      until(async () => {
        const status = await statusOf(pool)
        const isReady = status?.conditions.some(({ type, status: holds }) => type === 'Ready' && holds === 'True')
        return isReady && status?.readyReplicas === count && podsOf(pool).length === count && status
      }),
    eventsOf: async (pool, reason) => {
      const found = await client.list<FoundEvent>(EVENTS, { namespace })
      return found
        .filter((event) => event.reason === reason && event.involvedObject?.name === pool)
        .map(({ type, message }) => ({ type, message }))
    },
    get: (type, name) => client.get(type, { namespace, name }),
    [Symbol.asyncDispose]: async () => {
      await controller.end('SIGKILL')
      await workers.close()
      await nodes.close()
      await drape.stop()
      await place[Symbol.asyncDispose]()
    },
  }
}
