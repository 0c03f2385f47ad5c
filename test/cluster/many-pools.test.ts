import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { engines } from '../../controller/engine/resource.ts'
import type { KubernetesObject } from '../../controller/runtime/resource.ts'
import { workerPools } from '../../controller/worker-pool/resource.ts'
import type { PoolStatus } from '../../controller/worker-pool/status-schema.ts'
import { readImageVariables } from '../../scripts/stack/image-variables.ts'
import { type Drape, startDrape } from '../support/drape.ts'
import { startProgram, type TestProgram } from '../support/process.ts'
import { until } from '../support/until.ts'
import { type FakeNodes, startFakeNodes } from './fake-nodes.ts'
import { type ModelWorkers, startModelWorkers } from './model-workers.ts'
import { createTestNamespace, type TestNamespace } from './namespace.ts'
import { installDefinitions } from './samples.ts'
import { findSharedControlPlane } from './shared-control-plane.ts'

const controlPlane = process.env.LONG_TESTS ? await findSharedControlPlane() : null
const POOLS = Number(process.env.POOLS ?? 1000)
const PODS_EACH = Number(process.env.PODS_EACH ?? 5)
const TIMEOUT_MS = 1_800_000

describe.skipIf(!controlPlane?.hasControllers)('many pools', () => {
  let place: TestNamespace
  let drape: Drape
  let nodes: FakeNodes
  let workers: ModelWorkers
  let controller: TestProgram

  const startController = () =>
    startProgram('controller', {
      ...drape.env,
      KUBECONFIG: controlPlane?.kubeconfig,
      WATCH_NAMESPACE: place.namespace,
      LEASE_NAMESPACE: place.namespace,
      LEASE_SECONDS: '5',
      ...readImageVariables('controller'),
    })
  const measure = async (pattern: RegExp) => {
    const text = await (await fetch(`${controller.probeUrl}/metrics`)).text()
    return [...text.matchAll(pattern)].reduce((sum, match) => sum + Number(match[1]), 0)
  }
  const countReconciles = () => measure(/^drape_reconcile_seconds_count\{kind="WorkerPool".*\} (\d+)$/gm)

  beforeAll(async () => {
    if (controlPlane === null) return
    place = await createTestNamespace(controlPlane)
    await installDefinitions(place.client)
    drape = await startDrape()
    nodes = await startFakeNodes(place, ['fake-1', 'fake-2', 'fake-3', 'fake-4'])
    workers = startModelWorkers({ redisUrl: drape.env.REDIS_URL, nodes })
    const spec = { license: { name: 'Apache-2.0', commercialUse: true }, source: { bundled: {} } }
    await place.client.apply(engines.type, { metadata: { namespace: place.namespace, name: 'mock' }, spec })
  }, TIMEOUT_MS)
  afterAll(async () => {
    await controller?.end('SIGKILL')
    await workers?.close()
    await nodes?.close()
    await drape?.stop()
    await place?.[Symbol.asyncDispose]()
  }, TIMEOUT_MS)

  it(
    'are all reconciled within a minute after the start of the controller, in little memory',
    async () => {
      const template = { image: 'drape/worker:test', requests: { cpu: '100m' } }
      const spec = { engines: ['mock'], replicas: PODS_EACH, scaling: { mode: 'Fixed' }, template }
      for (let first = 0; first < POOLS; first += 50) {
        const names = Array.from({ length: Math.min(50, POOLS - first) }, (_, i) => `many-${first + i}`)
        await Promise.all(
          names.map((name) =>
            place.client.apply(workerPools.type, { metadata: { namespace: place.namespace, name }, spec }),
          ),
        )
      }
      controller = await startController()
      await until(async () => {
        const pools = await place.client.list<KubernetesObject & { status?: PoolStatus }>(workerPools.type, place)
        return pools.every(({ status }) => status?.readyReplicas === PODS_EACH)
      })
      await controller.end()

      const startedAt = performance.now()
      controller = await startController()
      await until(async () => (await countReconciles()) >= POOLS)
      const seconds = (performance.now() - startedAt) / 1000
      const memory = await measure(/^process_resident_memory_bytes (\d+)$/gm)
      console.log(
        `${POOLS} pools with ${POOLS * PODS_EACH} pods: ${seconds.toFixed(1)} s until all were reconciled, ` +
          `${Math.round(memory / 1e6)} MB`,
      )
      expect(await measure(/^drape_wrong_victim_total (\d+)$/gm)).toBe(0)
      expect(seconds).toBeLessThan(60)
      expect(memory / 1e6).toBeLessThan(320)
    },
    TIMEOUT_MS,
  )
})
