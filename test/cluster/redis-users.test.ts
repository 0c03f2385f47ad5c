import { createClient } from 'redis'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createPoolRegistry } from '../../api/shared/engines/pool-registry.ts'
import { createRedis } from '../../api/shared/queue/redis.ts'
import { createLog } from '../../api/shared/telemetry/log.ts'
import { engines } from '../../controller/engine/resource.ts'
import { workerPools } from '../../controller/worker-pool/resource.ts'
import type { PoolStatus } from '../../controller/worker-pool/status/status-schema.ts'
import { type Drape, readSample, readSmallPerson, startDrape } from '../support/drape.ts'
import { startProgram, type TestProgram } from '../support/process.ts'
import { asProcess, createRedisUsers } from '../support/process-roles.ts'
import { startOwnRedis } from '../support/redis.ts'
import { until } from '../support/until.ts'
import { type FakeNodes, startFakeNodes } from './fake-nodes.ts'
import { createTestNamespace, type TestNamespace } from './namespace.ts'
import { installDefinitions } from './samples.ts'
import { findSharedControlPlane } from './shared-control-plane.ts'

type Role = 'api' | 'worker' | 'controller'

const controlPlane = await findSharedControlPlane()
const POOL = 'guarded'

describe.skipIf(controlPlane === null)('processes with the Redis users of the chart', () => {
  let url: string
  let drape: Drape
  let place: TestNamespace
  let nodes: FakeNodes
  let controller: TestProgram
  const undo = new AsyncDisposableStack()
  const as = (role: Role) => asProcess(url, role)

  beforeAll(async () => {
    if (controlPlane === null) return
    const redis = await startOwnRedis()
    undo.defer(() => redis.kill())
    url = await createRedisUsers(redis.url)
    place = await createTestNamespace(controlPlane)
    undo.use(place)
    await installDefinitions(place.client)
    drape = await startDrape({ env: { REDIS_URL: as('api') } })
    undo.defer(() => drape.stop())
    nodes = await startFakeNodes(place, ['guarded-node'])
    undo.defer(() => nodes.close())
    const { client, namespace } = place
    const spec = { license: { name: 'Apache-2.0', commercialUse: true }, source: { bundled: {} } }
    await client.apply(engines.type, { metadata: { namespace, name: 'mock' }, spec })
    const names = { WATCH_NAMESPACE: namespace, LEASE_NAMESPACE: namespace, KUBECONFIG: controlPlane.kubeconfig }
    controller = await startProgram('controller', { ...drape.env, ...names, REDIS_URL: as('controller') })
    undo.defer(async () => void (await controller.end('SIGKILL')))
  })
  afterAll(() => undo.disposeAsync())

  const pool = { engines: ['mock'], scaling: { mode: 'Fixed' }, drain: { timeoutSeconds: 30 } }
  const apply = (replicas: number, priority = 0) =>
    place.client.apply(workerPools.type, {
      metadata: { namespace: place.namespace, name: POOL },
      spec: { ...pool, replicas, priority, template: { image: 'drape/worker:1', requests: { cpu: 1 } } },
    })
  const statusOf = async () =>
    (
      await place.client.get<{ metadata: { name: string }; status?: PoolStatus }>(workerPools.type, {
        namespace: place.namespace,
        name: POOL,
      })
    )?.status

  it('run a try-on and drain the worker', async () => {
    const started: Promise<TestProgram>[] = []
    nodes.onPod(async (_, name, state, uid) => {
      if (state !== 'runs') return
      const names = { POOL: `${place.namespace}/${POOL}`, POD_NAME: name, POD_UID: uid }
      started.push(drape.startWorker({ ...names, REDIS_URL: as('worker') }))
    })
    await apply(1)
    const worker = await until(async () => (await statusOf())?.workers.find(({ state }) => state === 'Idle'))
    const id = await drape.tryOn(
      {
        products: [{ images: [{ source: { fileKey: 'shirt' } }] }],
        person: { image: { source: { fileKey: 'me' } } },
        output: { engine: 'mock' },
      },
      { me: await readSmallPerson(), shirt: await readSample('garments/tshirt-navy.jpg') },
    )
    expect(await drape.finish(id)).toMatchObject({ status: 'COMPLETED' })

    // A report of another worker for this pod, which does not know its UID, is no report.
    const forger = createRedis(as('worker'), { role: 'consumer', log: createLog({ process: 'test', level: 'silent' }) })
    undo.defer(() => forger.close())
    const forged = { host: worker.name, state: 'drained', fence: null, jobs: 0, slots: 9, provider: 'cpu' } as const
    const seen = new Set<string | undefined>()
    for (let count = 1; count <= 30; count++) {
      // The controller reconciles a changed pool at once.
      await apply(1, count)
      for (const uid of ['', 'guessed'])
        await createPoolRegistry(forger).report({ ...forged, engines: ['mock'], idleSince: 0 }, { uid })
      await new Promise((resolve) => setTimeout(resolve, 100))
      seen.add((await statusOf())?.workers.find(({ name }) => name === worker.name)?.state)
    }
    // The status may still be of its job.
    expect([...seen].filter((state) => state !== 'Busy')).toEqual(['Idle'])

    await apply(0)
    await until(() => nodes.running(place.namespace).length === 0)
    await Promise.all(started)
    const admin = await createClient({ url }).connect()
    undo.defer(() => admin.destroy())
    // Redis refused them nothing but the configuration, which would contain passwords: INFO has the policy, too.
    const refused = new Set((await admin.aclLog()).map(({ object }) => object))
    expect([...refused].filter((command) => command !== 'config|get')).toEqual([])
  })
})
