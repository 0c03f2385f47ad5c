import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createPoolRegistry } from '../../api/shared/engines/pool-registry.ts'
import { createRedis } from '../../api/shared/queue/redis.ts'
import { createLog } from '../../api/shared/telemetry/log.ts'
import { type Engine, engines } from '../../controller/engine/resource.ts'
import type { KubernetesObject } from '../../controller/runtime/resource.ts'
import { type WorkerPool, workerPools } from '../../controller/worker-pool/resource.ts'
import { PODS } from '../../controller/worker-pool/workers/pods.ts'
import { type Drape, startDrape } from '../support/drape.ts'
import { startProgram, type TestProgram } from '../support/process.ts'
import { until } from '../support/until.ts'
import { type FakeNodes, startFakeNodes } from './fake-nodes.ts'
import { NAMESPACES } from './kinds.ts'
import { createTestNamespace, type TestNamespace } from './namespace.ts'
import { installDefinitions } from './samples.ts'
import { findSharedControlPlane } from './shared-control-plane.ts'

const controlPlane = await findSharedControlPlane()
const FILES = [{ path: 'model.onnx', sha256: 'a'.repeat(64), bytes: 1000 }]
const LICENSE = { name: 'Apache-2.0', commercialUse: true }

const SILENT = createLog({ process: 'test', level: 'silent' })
const BEGIN = Date.now()
const at = (seconds: number) => new Date(BEGIN + seconds * 1000).toISOString().replace(/\.\d+/, '')

interface FoundPod extends KubernetesObject {
  readonly spec: {
    readonly nodeName?: string
    readonly volumes: readonly { readonly name: string }[]
    readonly initContainers?: readonly {
      readonly name: string
      readonly image: string
      readonly env?: readonly unknown[]
    }[]
    readonly containers: readonly { readonly name: string; readonly image: string; readonly env?: readonly unknown[] }[]
  }
}

describe.skipIf(!controlPlane?.hasControllers)('an engine', () => {
  let place: TestNamespace
  let drape: Drape
  let nodes: FakeNodes
  let controller: TestProgram

  const applyEngine = (name: string, spec: object) =>
    place.client.apply(engines.type, {
      metadata: { namespace: place.namespace, name },
      spec: { license: LICENSE, files: FILES, ...spec },
    })
  const applyPool = (engine: string, replicas: number, spec: object = {}) =>
    place.client.apply(workerPools.type, {
      metadata: { namespace: place.namespace, name: `of-${engine}` },
      spec: {
        engines: [engine],
        replicas,
        scaling: { mode: 'Fixed' },
        template: { image: 'drape/worker:test', requests: { cpu: '1' } },
        ...spec,
      },
    })
  const statusOf = async (name: string) => {
    const found = await place.client.get<Engine>(engines.type, { namespace: place.namespace, name })
    return found?.status
  }
  const conditionOf = async (name: string, type: string) =>
    (await statusOf(name))?.conditions.find((condition) => condition.type === type)
  const poolCondition = async (engine: string, type: string) => {
    const name = { namespace: place.namespace, name: `of-${engine}` }
    const pool = await place.client.get<WorkerPool>(workerPools.type, name)
    return pool?.status?.conditions.find((condition) => condition.type === type)
  }
  const podsOf = async (labelSelector: string) =>
    place.client.list<FoundPod>(PODS, { namespace: place.namespace, labelSelector })
  const setPodStatus = ({ metadata }: KubernetesObject, status: object) =>
    place.client.patch(PODS, metadata, { status }, { subresource: 'status' })

  beforeAll(async () => {
    if (controlPlane === null) return
    place = await createTestNamespace(controlPlane)
    await installDefinitions(place.client)
    const labels = { 'pod-security.kubernetes.io/enforce': 'restricted' }
    await place.client.patch(NAMESPACES, { name: place.namespace }, { metadata: { labels } })
    drape = await startDrape()
    nodes = await startFakeNodes(place, ['engine-a', 'engine-b'])
    controller = await startProgram('controller', {
      ...drape.env,
      KUBECONFIG: controlPlane.kubeconfig,
      WATCH_NAMESPACE: place.namespace,
      LEASE_NAMESPACE: place.namespace,
      LEASE_SECONDS: '3',
    })
  })
  afterAll(async () => {
    await controller?.end('SIGKILL')
    await nodes?.close()
    await drape?.stop()
    await place?.[Symbol.asyncDispose]()
  })

  it('from a URL is downloaded and verified beside a starting worker', async () => {
    await applyEngine('fetched', { source: { url: { base: 'https://models.example/try-on', secretName: 'models' } } })
    // Without a node: only this test sets the status of the pod.
    await applyPool('fetched', 1, { podTemplate: { spec: { schedulingGates: [{ name: 'example.com/test' }] } } })
    const [pod] = await until(async () => {
      const found = await podsOf('drape.dev/pool=of-fetched')
      return found.length === 1 && found
    })
    expect(pod.spec.initContainers).toMatchObject([
      {
        name: 'check-fetched',
        image: 'drape/worker:test',
        restartPolicy: 'Always',
        env: [
          { name: 'ENGINE_FOLDER', value: '/models/fetched' },
          { name: 'ENGINE_FILES', value: JSON.stringify(FILES) },
          { name: 'ENGINE_URL', value: 'https://models.example/try-on' },
          { name: 'PROBE_PORT', value: '9091' },
          { name: 'ENGINE_AUTHORIZATION', valueFrom: { secretKeyRef: { name: 'models', key: 'authorization' } } },
        ],
      },
    ])
    expect(pod.spec.volumes).toContainEqual({ name: 'models-fetched', emptyDir: { sizeLimit: '67109864' } })
    expect(pod.spec.containers[0].env).toContainEqual({ name: 'DOWNLOADED_ENGINES', value: 'fetched' })

    const problem = 'model.onnx could not be fetched: the server answered 404'
    const sidecar = (ready: boolean, exitCode: number | null) => ({
      name: 'check-fetched',
      image: 'i',
      imageID: 'i',
      ready,
      started: true,
      restartCount: 1,
      state: { running: { startedAt: at(2) } },
      ...(exitCode !== null && { lastState: { terminated: { exitCode, message: exitCode === 1 ? problem : '' } } }),
    })
    const worker = (ready: boolean) => ({
      containerStatuses: [
        {
          name: 'worker',
          image: 'i',
          imageID: 'i',
          ready,
          started: true,
          restartCount: 0,
          state: { running: { startedAt: at(5) } },
        },
      ],
    })
    const phase = async () => (await statusOf('fetched'))?.phase
    await setPodStatus(pod, { phase: 'Running', initContainerStatuses: [sidecar(false, 1)], ...worker(false) })
    await until(async () => (await phase()) === 'Failed')
    expect(await conditionOf('fetched', 'Ready')).toMatchObject({ status: 'False', message: problem })
    await setPodStatus(pod, { initContainerStatuses: [sidecar(true, 1)] })
    await until(async () => (await phase()) === 'Verified')
    expect(await conditionOf('fetched', 'Conformant')).toMatchObject({ status: 'Unknown' })

    const redis = createRedis(drape.env.REDIS_URL, { role: 'consumer', log: SILENT })
    const report = {
      host: pod.metadata.name,
      state: 'taking',
      fence: null,
      jobs: 0,
      slots: 1,
      provider: 'cpu',
      engines: ['mock'] as string[],
      idleSince: 0,
    } as const
    await createPoolRegistry(redis).report({ ...report, downloadSeconds: 41.2 }, { uid: pod.metadata.uid })
    const conditions = ['PodScheduled', 'Initialized', 'Ready'].map((type, i) => ({
      type,
      status: 'True',
      lastTransitionTime: at(3 * i),
    }))
    await setPodStatus(pod, { conditions, ...worker(true) })
    const name = { namespace: place.namespace, name: 'of-fetched' }
    const start = await until(
      async () => (await place.client.get<WorkerPool>(workerPools.type, name))?.status?.lastStart,
    )
    await redis.close()
    expect(start).toMatchObject({ name: pod.metadata.name, warmupSeconds: 1, downloadSeconds: 41 })

    // The pod is not ready while the sidecar restarts. A later change shows that the controller has seen this one.
    const unready = conditions.map((condition) =>
      condition.type === 'Ready' ? { ...condition, status: 'False' } : condition,
    )
    await setPodStatus(pod, { conditions: unready, initContainerStatuses: [sidecar(false, 137)] })
    await until(async () => (await conditionOf('fetched', 'Conformant'))?.status === 'Unknown')
    expect(await phase()).toBe('Verified')
    expect(await poolCondition('fetched', 'EnginesReady')).toMatchObject({ status: 'True' })
  })

  it('reports a failed verification of a worker, and becomes verified when a later one passes', async () => {
    await applyEngine('checked', { source: { persistentVolumeClaim: { claimName: 'models', subPath: 'checked' } } })
    await applyPool('checked', 1)
    expect(await until(() => statusOf('checked'))).toMatchObject({ phase: 'Pending' })
    const [pod] = await until(async () => {
      const found = await podsOf('drape.dev/pool=of-checked')
      return found.length === 1 && found
    })
    const ended = (exitCode: number, message: string) => ({
      name: 'check-checked',
      image: 'i',
      imageID: 'i',
      ready: exitCode === 0,
      restartCount: 0,
      state: { terminated: { exitCode, message } },
    })
    const message = 'looking\nmodel.onnx has 7 bytes, expected 1000\n'
    await setPodStatus(pod, { initContainerStatuses: [ended(1, message)] })
    await until(async () => (await statusOf('checked'))?.phase === 'Failed')
    expect(await conditionOf('checked', 'Ready')).toMatchObject({
      status: 'False',
      reason: 'FilesDiffer',
      message: 'model.onnx has 7 bytes, expected 1000',
    })
    expect(await conditionOf('checked', 'Stalled')).toMatchObject({ status: 'True', reason: 'FilesDiffer' })
    await until(async () =>
      (await poolCondition('checked', 'EnginesReady'))?.message.includes('model.onnx has 7 bytes'),
    )
    await setPodStatus(pod, { initContainerStatuses: [ended(0, '')] })
    await until(async () => (await statusOf('checked'))?.phase === 'Verified')
    await until(async () => (await poolCondition('checked', 'EnginesReady'))?.status === 'True')
    expect(await conditionOf('checked', 'Conformant')).toMatchObject({ status: 'Unknown', reason: 'NotProven' })
    await setPodStatus(pod, { phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }] })
    await until(async () => (await conditionOf('checked', 'Conformant'))?.status === 'True')
  })
})
