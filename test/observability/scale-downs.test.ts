import { globSync, readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { describe, expect, it } from 'vitest'
import { engines } from '../../controller/engine/resource.ts'
import type { KubernetesObject } from '../../controller/runtime/resource.ts'
import { workerPools } from '../../controller/worker-pool/resource.ts'
import type { PoolStatus } from '../../controller/worker-pool/status-schema.ts'
import { startFakeNodes } from '../cluster/fake-nodes.ts'
import { startModelWorkers } from '../cluster/model-workers.ts'
import { createTestNamespace } from '../cluster/namespace.ts'
import { scaleDownAtRandom } from '../cluster/random-scale-downs.ts'
import { installDefinitions } from '../cluster/samples.ts'
import { findSharedControlPlane } from '../cluster/shared-control-plane.ts'
import { createRandom } from '../faults/support/random.ts'
import { startDrape } from '../support/drape.ts'
import { startProgram } from '../support/process.ts'
import { findPrometheusProgram } from './programs.ts'
import { startPrometheus } from './prometheus-server.ts'

const program = process.env.LONG_TESTS ? await findPrometheusProgram('prometheus') : null
const controlPlane = program === null ? null : await findSharedControlPlane()
const RULES = globSync(resolve(import.meta.dirname, '../../charts/drape/rules/*.yaml'))
const POOLS = 10
const ROUNDS = 100
const TIMEOUT_MS = 3_000_000

interface Pool extends KubernetesObject {
  readonly status?: PoolStatus
}

describe.skipIf(!controlPlane?.hasControllers)('1,000 scale-downs', () => {
  it(
    'end no job, and the alert about wrong victims stays silent',
    async () => {
      if (controlPlane === null || program === null) return
      await using undo = new AsyncDisposableStack()
      const place = undo.use(await createTestNamespace(controlPlane))
      const { client, namespace } = place
      await installDefinitions(client)
      const drape = await startDrape()
      undo.defer(() => drape.stop())
      const nodes = await startFakeNodes(place, ['scaled-a', 'scaled-b'])
      undo.defer(() => nodes.close())
      const workers = startModelWorkers({ redisUrl: drape.env.REDIS_URL, nodes })
      undo.defer(() => workers.close())
      const controller = await startProgram('controller', {
        ...drape.env,
        KUBECONFIG: controlPlane.kubeconfig,
        WATCH_NAMESPACE: namespace,
        LEASE_NAMESPACE: namespace,
      })
      undo.defer(() => void controller.end('SIGKILL'))
      const prometheus = await startPrometheus(program, {
        rules: RULES.map((path) => readFileSync(path, 'utf8')),
        namespace,
      })
      undo.defer(() => void prometheus.end())
      await prometheus.watch({ controller })
      const license = { name: 'Apache-2.0', commercialUse: true }
      await client.apply(engines.type, {
        metadata: { namespace, name: 'mock' },
        spec: { license, source: { bundled: {} } },
      })
      const random = createRandom(11)
      const names = Array.from({ length: POOLS }, (_, i) => `scaled-${i}`)
      const poolOf = (name: string) => ({
        scale: (replicas: number) =>
          client.apply(workerPools.type, {
            metadata: { namespace, name },
            spec: {
              engines: ['mock'],
              replicas,
              scaling: { mode: 'Fixed' },
              template: { image: 'drape/worker:test', requests: { cpu: '1' } },
            },
          }),
        isReady: async (replicas: number) => {
          const { status } = (await client.get<Pool>(workerPools.type, { namespace, name })) ?? {}
          const ready = status?.conditions.find(({ type }) => type === 'Ready')
          return status?.readyReplicas === replicas && ready?.status === 'True'
        },
        pods: () => nodes.running(namespace).filter((pod) => pod.startsWith(`${name}-workers-`)),
      })
      await Promise.all(names.map((name) => scaleDownAtRandom(poolOf(name), { workers, random, rounds: ROUNDS })))

      expect(workers.interrupted).toEqual([])
      const [counted] = await prometheus.query('drape_wrong_victim_total')
      expect(counted.values.length).toBeGreaterThan(100)
      expect(new Set(counted.values.map(([, value]) => value))).toEqual(new Set(['0']))
      const [decided] = await prometheus.query('drape_scaling_decisions_total{direction="Down"}')
      expect(Number(decided.values.at(-1)?.[1])).toBeGreaterThanOrEqual(POOLS * ROUNDS)
    },
    TIMEOUT_MS,
  )
})
