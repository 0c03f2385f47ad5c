import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { engines } from '../../controller/engine/resource.ts'
import type { KubernetesObject } from '../../controller/runtime/resource.ts'
import { workerPools } from '../../controller/worker-pool/resource.ts'
import type { PoolStatus } from '../../controller/worker-pool/status/status-schema.ts'
import { type Pod, TEMPLATE_DIGEST } from '../../controller/worker-pool/workers/pods.ts'
import { type Drape, startDrape } from '../support/drape.ts'
import { type OtlpReceiver, startOtlpReceiver } from '../support/otlp-receiver.ts'
import { startProgram, type TestProgram } from '../support/process.ts'
import { until } from '../support/until.ts'
import { type FakeNodes, startFakeNodes } from './fake-nodes.ts'
import { EVENTS, NODES, PODS, REPLICA_SETS } from './kinds.ts'
import { type ModelWorkers, startModelWorkers } from './model-workers.ts'
import { createTestNamespace, type TestNamespace } from './namespace.ts'
import { installDefinitions } from './samples.ts'
import { findSharedControlPlane } from './shared-control-plane.ts'

interface Pool extends KubernetesObject {
  readonly status?: PoolStatus
}

const GPU = 'example.com/gpu'
const controlPlane = await findSharedControlPlane()

describe.skipIf(!controlPlane?.hasControllers)('a node with a failing GPU', () => {
  let place: TestNamespace
  let drape: Drape
  let nodes: FakeNodes
  let workers: ModelWorkers
  let controller: TestProgram
  let receiver: OtlpReceiver

  const statusOf = async () =>
    (await place.client.get<Pool>(workerPools.type, { namespace: place.namespace, name: 'gpu' }))?.status
  const conditionOf = (status: PoolStatus | undefined, type: string) =>
    status?.conditions.find((condition) => condition.type === type)
  const podsOn = (node: string) =>
    nodes.running(place.namespace).filter((pod) => nodes.nodeOf(place.namespace, pod) === node)
  const workerPods = (labelSelector = 'drape.dev/pool=gpu') =>
    place.client.list<Pod>(PODS, { namespace: place.namespace, labelSelector })
  const podsWith = async (label: string) => (await workerPods(label)).map(({ metadata }) => metadata.name)
  /** Whether new workers stay off nodes with sick workers. */
  const avoidsSickNodes = async () => {
    const found = await place.client.get<KubernetesObject & { spec: { template: KubernetesObject } }>(REPLICA_SETS, {
      namespace: place.namespace,
      name: 'gpu-workers',
    })
    return found?.spec.template.metadata.annotations?.['drape.dev/avoids-sick'] !== undefined
  }
  const setUnschedulable = (name: string, unschedulable: boolean) =>
    place.client.patch(NODES, { name }, { spec: { unschedulable } })
  const isSettled = async () => {
    const status = await statusOf()
    return status?.readyReplicas === 2 && conditionOf(status, 'Ready')?.status === 'True' && status
  }
  const sickEvents = async () => {
    const found = await place.client.list<KubernetesObject & { message?: string; reason?: string }>(EVENTS, {
      namespace: place.namespace,
    })
    return found.filter(({ reason }) => reason === 'WorkerSick')
  }

  beforeAll(async () => {
    if (controlPlane === null) return
    place = await createTestNamespace(controlPlane)
    await installDefinitions(place.client)
    drape = await startDrape()
    nodes = await startFakeNodes(place, ['gpu-a', 'gpu-b', 'gpu-c'], { [GPU]: '1' })
    workers = startModelWorkers({ redisUrl: drape.env.REDIS_URL, nodes })
    receiver = await startOtlpReceiver()
    controller = await startProgram('controller', {
      ...drape.env,
      ...receiver.env,
      KUBECONFIG: controlPlane.kubeconfig,
      WATCH_NAMESPACE: place.namespace,
      LEASE_NAMESPACE: place.namespace,
      LEASE_SECONDS: '3',
    })
    const spec = { license: { name: 'Apache-2.0', commercialUse: true }, source: { bundled: {} } }
    await place.client.apply(engines.type, { metadata: { namespace: place.namespace, name: 'mock' }, spec })
    await place.client.apply(workerPools.type, {
      metadata: { namespace: place.namespace, name: 'gpu' },
      spec: {
        engines: ['mock'],
        replicas: 2,
        scaling: { mode: 'Fixed' },
        accelerator: { resource: GPU, count: 1 },
        // Only workers are to be on the nodes.
        template: { image: 'drape/worker:test', requests: { cpu: '1' } },
      },
    })
    await until(isSettled)
  })
  afterAll(async () => {
    await controller?.end('SIGKILL')
    receiver?.stop()
    await workers?.close()
    await nodes?.close()
    await drape?.stop()
    await place?.[Symbol.asyncDispose]()
  })

  it('has only its own workers moved to other nodes', async () => {
    const [used, other] = ['gpu-a', 'gpu-b', 'gpu-c'].filter((node) => podsOn(node).length === 1)
    const spare = ['gpu-a', 'gpu-b', 'gpu-c'].find((node) => node !== used && node !== other) as string
    const [busy] = podsOn(other)
    const [first] = podsOn(used)
    await until(() => workers.work(busy))
    // The replacement can only come back to the same node, which has another GPU.
    await setUnschedulable(spare, true)
    const twoGpus = { capacity: { [GPU]: '2' }, allocatable: { [GPU]: '2' } }
    await place.client.patch(NODES, { name: used }, { status: twoGpus }, { subresource: 'status' })
    workers.failWhere((pod) => nodes.nodeOf(place.namespace, pod) === used)
    await until(async () => {
      // One sick worker does not keep others off its node.
      const isHinted = await avoidsSickNodes()
      const count = (await sickEvents()).length
      if (count < 2) expect(isHinted).toBe(false)
      return count === 2
    })
    // The scheduler puts no worker beside the sick one, although a GPU of its node is free.
    const waiting = await until(async () => {
      const pods = await workerPods()
      return pods.find(({ status }) => status?.conditions?.some(({ reason }) => reason === 'Unschedulable'))
    })
    expect(waiting.status?.conditions?.[0].message).toContain("didn't match pod anti-affinity rules")
    expect(podsOn(used)).toHaveLength(1)
    const digests = (await workerPods()).map(({ metadata }) => metadata.annotations?.[TEMPLATE_DIGEST])
    expect(new Set(digests).size).toBe(1)
    await setUnschedulable(spare, false)
    // Events are published before the status is written, so the status of before the second failure may still be there.
    const status = await until(async () => {
      const found = await isSettled()
      return found && found.avoidedNodes.length === 1 && found
    })
    const [second, ...more] = podsOn(used)
    // It stays: the GPU that it has can be given to no other.
    expect(more).toEqual([])
    expect(second).not.toBe(first)
    expect(podsOn(other)).toEqual([busy])
    expect(podsOn(spare)).toHaveLength(1)
    expect(workers.interrupted).toEqual([])
    expect(workers.isBusy(busy)).toBe(true)
    expect(status).toMatchObject({
      readyReplicas: 2,
      avoidedNodes: [{ name: used, workers: 2 }],
      sickWorkers: [
        { name: second, node: used, reason: 'DeviceError' },
        { name: first, node: used },
      ],
    })
    const seconds = expect.any(Number)
    expect(status.lastStart).toEqual({
      name: podsOn(spare)[0],
      at: expect.any(String),
      schedulingSeconds: seconds,
      initializationSeconds: seconds,
      imageSeconds: seconds,
      warmupSeconds: seconds,
    })
    expect(status.workers).toContainEqual({ name: second, state: 'Sick', jobs: 0 })
    expect(conditionOf(status, 'WorkersHealthy')).toMatchObject({ status: 'False', reason: 'SickWorkers' })
    const pod = await place.client.get(PODS, { namespace: place.namespace, name: second })
    expect(pod?.metadata.annotations).toMatchObject({ 'drape.dev/sick': 'DeviceError' })
    expect(pod?.metadata.labels).toMatchObject({ 'drape.dev/sick': 'node-avoided' })
    expect(await podsWith('drape.dev/sick')).toEqual([second])
    const metrics = await (await fetch(`${controller.probeUrl}/metrics`)).text()
    expect(metrics).toContain(`drape_pool_sick_workers{pool="${place.namespace}/gpu"} 2`)
    expect(metrics).toMatch(/^drape_wrong_victim_total 0$/m)
  })

  it('has events with the trace ID of the controller', async () => {
    const [event] = await sickEvents()
    const traceId = event.metadata.annotations?.['drape.dev/trace-id']
    const trace = await until(() => {
      const spans = receiver.spans().filter((span) => span.traceId === traceId)
      return spans.some(({ parentSpanId }) => parentSpanId === '') && spans
    })
    const [root] = trace.filter(({ parentSpanId }) => parentSpanId === '')
    expect(root).toMatchObject({
      service: 'drape-controller',
      name: 'reconcile WorkerPool',
      attributes: { 'drape.object': `${place.namespace}/gpu` },
    })
    const partsOf = (span: { spanId: string }) =>
      trace.filter(({ parentSpanId }) => parentSpanId === span.spanId).map(({ name }) => name)
    expect(partsOf(root)).toEqual(expect.arrayContaining(['PATCH pods', 'event WorkerSick']))
    expect(trace.filter(({ name }) => name === 'event WorkerSick').flatMap(partsOf)).toContain('PATCH events')
    // A pass that changes nothing leaves no trace.
    const spans = receiver.spans()
    const parents = new Set(spans.map(({ parentSpanId }) => parentSpanId))
    const passes = spans.filter(({ name, failed }) => name.startsWith('reconcile ') && !failed)
    expect(passes.filter(({ spanId }) => !parents.has(spanId))).toEqual([])
  })

  it('is avoided after its first sick worker when its conditions report a GPU failure', async () => {
    const avoided = (await statusOf())?.avoidedNodes.map(({ name }) => name) ?? []
    const [node] = ['gpu-a', 'gpu-b', 'gpu-c'].filter((name) => {
      const [pod] = podsOn(name)
      return !avoided.includes(name) && !workers.isBusy(pod)
    })
    const [pod] = podsOn(node)
    const conditions = [
      { type: 'Ready', status: 'True', reason: 'Fake' },
      { type: 'GpuMemWatch', status: 'True', reason: 'Dbe', message: 'a page is broken' },
    ]
    await place.client.patch(NODES, { name: node }, { status: { conditions } }, { subresource: 'status' })
    await until(async () => conditionOf(await statusOf(), 'WorkersHealthy')?.message.includes('a page is broken'))
    workers.failWhere((name) => nodes.nodeOf(place.namespace, name) === node)
    const status = await until(async () => {
      const found = await statusOf()
      return found?.avoidedNodes.length === 2 && found
    })
    expect(status.avoidedNodes).toContainEqual({ name: node, workers: 1, until: expect.any(String) })
    expect(podsOn(node)).toEqual([pod])
  })
})
