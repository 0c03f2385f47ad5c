import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { Type } from '../../api/shared/contract/schema.ts'
import { rowType, sql } from '../../api/shared/database/database.ts'
import { engines } from '../../controller/engine/resource.ts'
import type { KubernetesObject } from '../../controller/runtime/resource.ts'
import { type ScalingPolicy, scalingPolicies } from '../../controller/scaling-policy/resource.ts'
import { workerPools } from '../../controller/worker-pool/resource.ts'
import type { PoolStatus } from '../../controller/worker-pool/status/status-schema.ts'
import { createRandom } from '../faults/support/random.ts'
import { type Drape, readSample, startDrape } from '../support/drape.ts'
import { startProgram, type TestProgram } from '../support/process.ts'
import { until } from '../support/until.ts'
import { askApiServer } from './ask-api-server.ts'
import { type FakeNodes, startFakeNodes } from './fake-nodes.ts'
import { CLAIM_TEMPLATES, DEVICE_CLASSES, EVENTS, NAMESPACES, PODS, REPLICA_SETS, RESOURCE_SLICES } from './kinds.ts'
import { type ModelWorkers, startModelWorkers } from './model-workers.ts'
import { createTestNamespace, type TestNamespace } from './namespace.ts'
import { scaleDownAtRandom } from './random-scale-downs.ts'
import { installDefinitions } from './samples.ts'
import { findSharedControlPlane } from './shared-control-plane.ts'

const PublishedRow = rowType(
  Type.Object({ name: Type.String(), license: Type.String(), maxSlots: Type.Integer(), hasStarted: Type.Boolean() }),
)

interface Pool extends KubernetesObject {
  readonly status?: PoolStatus
}

const controlPlane = await findSharedControlPlane()
const template = { image: 'drape/worker:test', requests: { cpu: '1' } }
/** Scale-downs of each of 10 pools. */
const ROUNDS = process.env.LONG_TESTS === '1' ? 100 : 4

const PLAIN_POD = {
  securityContext: { runAsNonRoot: true, runAsUser: 65532, seccompProfile: { type: 'RuntimeDefault' } },
  containers: [
    {
      name: 'worker',
      image: 'drape/worker:former',
      securityContext: { allowPrivilegeEscalation: false, capabilities: { drop: ['ALL'] } },
    },
  ],
}

describe.skipIf(!controlPlane?.hasControllers)('a worker pool', () => {
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
      LEASE_SECONDS: '3',
    })
  const apply = (name: string, spec: object) =>
    place.client.apply<Pool>(workerPools.type, { metadata: { namespace: place.namespace, name }, spec })
  const get = async (name: string) => {
    const pool = await place.client.get<Pool>(workerPools.type, { namespace: place.namespace, name })
    return pool?.status
  }
  const holds = (status: PoolStatus | undefined, type: string) =>
    status?.conditions.find((condition) => condition.type === type)?.status === 'True'
  const replicasOf = async (name: string) => {
    const found = await place.client.get<KubernetesObject & { spec: { replicas: number } }>(REPLICA_SETS, {
      namespace: place.namespace,
      name: `${name}-workers`,
    })
    return found?.spec.replicas
  }
  const findPublished = () =>
    drape.database.any(sql.type(PublishedRow)`
      select name, license, max_slots as "maxSlots", start_seconds is not null as "hasStarted" from published_engines order by name`)
  const podsOf = (name: string) => nodes.running(place.namespace).filter((pod) => pod.startsWith(`${name}-workers-`))
  const isReady = async (name: string, replicas: number) => {
    const status = await get(name)
    return status?.readyReplicas === replicas && holds(status, 'Ready') && status
  }

  beforeAll(async () => {
    if (controlPlane === null) return
    place = await createTestNamespace(controlPlane)
    await installDefinitions(place.client)
    // A pod that breaks the strictest standard is not let in.
    const labels = { 'pod-security.kubernetes.io/enforce': 'restricted' }
    await place.client.patch(NAMESPACES, { name: place.namespace }, { metadata: { labels } })
    drape = await startDrape()
    nodes = await startFakeNodes(place, ['fake-a', 'fake-b'])
    workers = startModelWorkers({ redisUrl: drape.env.REDIS_URL, nodes })
    controller = await startController()
    const spec = { license: { name: 'Apache-2.0', commercialUse: true }, source: { bundled: {} } }
    await place.client.apply(engines.type, { metadata: { namespace: place.namespace, name: 'mock' }, spec })
  })
  afterAll(async () => {
    await controller?.end('SIGKILL')
    await workers?.close()
    await nodes?.close()
    await drape?.stop()
    await place?.[Symbol.asyncDispose]()
  })

  it('does not run an engine without an acknowledged license', async () => {
    const license = { name: 'CC-BY-NC-4.0', commercialUse: false }
    const metadata = { namespace: place.namespace, name: 'research' }
    await place.client.apply(engines.type, { metadata, spec: { license, source: { bundled: {} } } })
    await apply('research', { engines: ['research'], replicas: 1, scaling: { mode: 'Fixed' }, template })
    await until(async () => (await get('research'))?.conditions.some(({ message }) => message.includes('CC-BY-NC-4.0')))
    const acknowledged = { ...license, acknowledged: true }
    await place.client.apply(engines.type, { metadata, spec: { license: acknowledged, source: { bundled: {} } } })
    await until(() => isReady('research', 1))
  })

  it('creates the first worker when the first job arrives', async () => {
    const policy = { bounds: { max: 3 }, target: { backlogPerSlot: 1 }, sampling: { intervalSeconds: 60 } }
    await apply('eager', { engines: ['mock'], scaling: { policy }, template })
    await until(async () => (await replicasOf('eager')) === 0)
    await until(async () => (await findPublished()).some(({ name, maxSlots }) => name === 'mock' && maxSlots === 3))
    // The API refuses jobs of a pool that it does not know yet, and remembers for a moment what it knew before.
    await until(async () => {
      const { body } = await drape.call('GET', '/tryon/v1/engines')
      return body.engines.some(({ name, state }: Record<string, string>) => name === 'mock' && state !== 'unavailable')
    })
    const acceptedAt = performance.now()
    await drape.tryOn(
      {
        products: [{ images: [{ source: { fileKey: 'shirt' } }] }],
        person: { image: { source: { fileKey: 'me' } } },
        output: { engine: 'mock' },
      },
      { me: await readSample('persons/down-half-teal.jpg'), shirt: await readSample('garments/tshirt-navy.jpg') },
    )
    await until(async () => (await replicasOf('eager')) === 1)
    // Sixty seconds lie between two looks: it was woken.
    expect(performance.now() - acceptedAt).toBeLessThan(30_000)
    const status = await until(() => isReady('eager', 1))
    expect(status).toMatchObject({
      min: 0,
      max: 3,
      desiredReplicas: 1,
      demand: { waiting: 1, inFlight: 0 },
      lastDecision: { from: 0, to: 1, direction: 'Up', reason: 'The demand requires 1: 1 waiting, 0 running.' },
    })
  })

  it('is published for the API with its engines and their maximum slots', async () => {
    await until(async () => (await findPublished()).find(({ name }) => name === 'mock')?.hasStarted)
    expect(await findPublished()).toEqual([
      { name: 'mock', license: 'Apache-2.0', maxSlots: 3, hasStarted: true },
      { name: 'research', license: 'CC-BY-NC-4.0', maxSlots: 1, hasStarted: true },
    ])
    const { body } = await drape.call('GET', '/tryon/v1/engines')
    expect(body.engines.find(({ name }: { name: string }) => name === 'mock')).toMatchObject({
      state: 'scaling_from_zero',
      license: 'Apache-2.0',
    })
    expect(body.engines.find(({ name }: { name: string }) => name === 'warp')).toMatchObject({ state: 'unavailable' })
  })

  it('applies its podTemplate, reports errors of the API server, and continues when they are fixed', async () => {
    const spec = { engines: ['mock'], replicas: 1, scaling: { mode: 'Fixed' }, template }
    const onlyB = { key: 'kubernetes.io/hostname', operator: 'In', values: ['fake-b'] }
    const podTemplate = {
      metadata: { labels: { team: 'shop', 'drape.dev/pool': 'another' } },
      spec: {
        affinity: {
          nodeAffinity: {
            requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: [{ matchExpressions: [onlyB] }] },
          },
        },
        containers: [
          { ...PLAIN_POD.containers[0], name: 'proxy', image: 'example/proxy:1' },
          { name: 'worker', env: [{ name: 'HTTPS_PROXY', value: 'http://127.0.0.1:3128' }] },
        ],
      },
    }
    await apply('patched', { ...spec, podTemplate })
    await until(() => isReady('patched', 1))
    const [pod] = podsOf('patched')
    expect(nodes.nodeOf(place.namespace, pod)).toBe('fake-b')
    expect(await place.client.get(PODS, { namespace: place.namespace, name: pod })).toMatchObject({
      metadata: { labels: { team: 'shop', 'drape.dev/pool': 'patched' } },
      spec: {
        containers: [
          {
            name: 'worker',
            image: template.image,
            env: expect.arrayContaining([
              { name: 'ENGINES', value: 'mock' },
              { name: 'HTTPS_PROXY', value: 'http://127.0.0.1:3128' },
            ]),
          },
          { name: 'proxy', image: 'example/proxy:1' },
        ],
      },
    })
    const refusalOf = async (patch: object) => {
      await apply('patched', { ...spec, podTemplate: { spec: patch } })
      const generation = (
        await place.client.get<Pool>(workerPools.type, { namespace: place.namespace, name: 'patched' })
      )?.metadata.generation
      return until(async () => {
        const status = await get('patched')
        const stalled = status?.conditions.find(({ type }) => type === 'Stalled')
        return status?.observedGeneration === generation && stalled?.status === 'True' && stalled.message
      })
    }
    expect(await refusalOf({ containers: [{ name: 'proxy', imagee: 'example/proxy:1' }] })).toContain('imagee')
    expect(await refusalOf({ containers: [{ name: 'proxy' }] })).toContain('spec.template.spec.containers[1].image')
    expect(podsOf('patched')).toEqual([pod])
    expect((await get('patched'))?.conditions).toContainEqual(
      expect.objectContaining({ type: 'Ready', status: 'False', reason: 'Refused' }),
    )
    await until(async () => (await eventsOf('Refused', 'patched')).length > 0)
    await apply('patched', { ...spec, podTemplate })
    await until(() => isReady('patched', 1))
    expect(holds(await get('patched'), 'Stalled')).toBe(false)
    await place.client.delete(workerPools.type, { namespace: place.namespace, name: 'patched' })
  })

  it('gets the devices of its resource claims', async () => {
    const { client, namespace } = place
    const driver = `gpu.${namespace}.example`
    const offer = (node: string, profiles: readonly string[]) =>
      client.create(RESOURCE_SLICES, {
        metadata: { name: `${namespace}-${node}` },
        spec: {
          driver,
          nodeName: node,
          pool: { name: node, generation: 1, resourceSliceCount: 1 },
          devices: profiles.map((profile, i) => ({ name: `gpu-${i}`, attributes: { profile: { string: profile } } })),
        },
      })
    const isOfDriver = { cel: { expression: `device.driver == '${driver}'` } }
    await client.create(DEVICE_CLASSES, { metadata: { name: driver }, spec: { selectors: [isOfDriver] } })
    const isSmall = { cel: { expression: `device.attributes['${driver}'].profile == '1g.10gb'` } }
    const request = { name: 'gpu', exactly: { deviceClassName: driver, selectors: [isSmall] } }
    await client.create(CLAIM_TEMPLATES, {
      metadata: { namespace, name: 'mig' },
      spec: { spec: { devices: { requests: [request] } } },
    })
    await offer('fake-a', ['1g.10gb', '7g.80gb', '1g.10gb'])
    const accelerator = { resourceClaims: [{ name: 'gpu', resourceClaimTemplateName: 'mig' }] }
    await apply('claims', { engines: ['mock'], replicas: 3, scaling: { mode: 'Fixed' }, template, accelerator })
    const status = await until(async () => {
      const found = await get('claims')
      return found?.readyReplicas === 2 && found.unschedulableReplicas === 1 && found
    })
    expect(podsOf('claims').map((pod) => nodes.nodeOf(namespace, pod))).toEqual(['fake-a', 'fake-a'])
    expect(status.conditions.find(({ type }) => type === 'WorkersScheduled')?.message).toContain(
      'cannot allocate all claims',
    )
    await offer('fake-b', ['1g.10gb'])
    await until(() => isReady('claims', 3))
    expect(
      podsOf('claims')
        .map((pod) => nodes.nodeOf(namespace, pod))
        .sort(),
    ).toEqual(['fake-a', 'fake-a', 'fake-b'])
    await client.delete(workerPools.type, { namespace, name: 'claims' })
    for (const node of ['fake-a', 'fake-b']) await client.delete(RESOURCE_SLICES, { name: `${namespace}-${node}` })
    await client.delete(DEVICE_CLASSES, { name: driver })
  })

  it('resumes as soon as the pause ends', async () => {
    const policy = { bounds: { min: 1, max: 3 }, target: { backlogPerSlot: 1 }, sampling: { intervalSeconds: 300 } }
    await apply('resumed', { engines: ['mock'], scaling: { policy }, template })
    await until(() => isReady('resumed', 1))
    const resumesAt = new Date(Date.now() + 4000).toISOString()
    const more = { ...policy, bounds: { min: 2, max: 3 } }
    const paused = { reason: 'an audit', until: resumesAt }
    await apply('resumed', { engines: ['mock'], scaling: { policy: more }, template, paused })
    await until(async () => holds(await get('resumed'), 'Paused'))
    // Five minutes lie between two looks.
    await until(() => isReady('resumed', 2))
  })

  it('has a valid status with the longest names and reasons', async () => {
    const hours = { name: 's'.repeat(63), start: '00:00', end: '23:59', min: 2 }
    const day = { ...hours, name: 'd'.repeat(63), start: '23:59', end: '00:00' }
    const policy = { bounds: { max: 3 }, target: { backlogPerSlot: 1 }, schedules: [hours, day] }
    await apply('wordy', { engines: ['mock'], scaling: { policy }, template })
    const status = await until(() => isReady('wordy', 2))
    expect(status.limitedBy).toMatch(/^schedule (s{63}|d{63})$/)
    const reason = '→'.repeat(256)
    const paused = { reason, until: '2999-01-01T00:00:00Z' }
    await apply('wordy', { engines: ['mock'], scaling: { policy }, template, paused })
    const reported = await until(async () => {
      const found = await get('wordy')
      return holds(found, 'Paused') && found
    })
    expect(reported.lastDecision).toMatchObject({ direction: 'None', limitedBy: ['paused'] })
    expect(reported.lastDecision?.reason).toMatch(/^Paused: →{82}$/)
  })

  it('reports an unknown time zone, as does its policy', async () => {
    const hours = { name: 'a', timeZone: 'Mars/Olympus', start: '08:00', end: '09:00', min: 1 }
    const spec = { bounds: { max: 3 }, target: { backlogPerSlot: 1 }, schedules: [hours] }
    const name = { namespace: place.namespace, name: 'martian' }
    await place.client.apply(scalingPolicies.type, { metadata: name, spec })
    const policy = await until(async () => {
      const found = await place.client.get<ScalingPolicy>(scalingPolicies.type, name)
      return found?.status && found.status
    })
    expect(policy.conditions).toMatchObject([
      { type: 'Ready', status: 'False', message: 'Unknown time zone Mars/Olympus.' },
      { type: 'Reconciling', status: 'False' },
      { type: 'Stalled', status: 'True', reason: 'UnknownTimeZone' },
    ])
    await apply('martian', { engines: ['mock'], scaling: { policyRef: { name: 'martian' } }, template })
    await until(async () => holds(await get('martian'), 'Stalled'))
  })

  it('explains every condition of every object', async () => {
    const found = await Promise.all(
      [workerPools, engines, scalingPolicies].map(({ type }) => place.client.list<Pool>(type, place)),
    )
    const conditions = found.flat().flatMap(({ status }) => status?.conditions ?? [])
    expect(new Set(conditions.map(({ status }) => status)).size).toBeGreaterThan(1)
    expect(conditions.filter(({ message }) => message.trim() === '')).toEqual([])
  })

  it('writes nothing when nothing changes', async () => {
    // A job that waits longer and longer is a change.
    await drape.database.query(sql.unsafe`delete from outbox`)
    await until(async () => {
      const before = await countWrites()
      // A status that changed waits for up to 10 s.
      await sleep(12_000)
      return before === (await countWrites())
    })
    const before = await countWrites()
    await sleep(12_000)
    expect(await countWrites()).toBe(before)
  })

  it('removes no worker with a job in random scale-downs', async () => {
    const random = createRandom(7)
    const spec = { engines: ['mock'], scaling: { mode: 'Fixed' }, template }
    const names = Array.from({ length: 10 }, (_, i) => `random-${i}`)
    const drive = (name: string) => {
      const scale = (replicas: number) => apply(name, { ...spec, replicas })
      const pool = { scale, isReady: (replicas: number) => isReady(name, replicas), pods: () => podsOf(name) }
      return scaleDownAtRandom(pool, { workers, random, rounds: ROUNDS })
    }
    await Promise.all(names.map(drive))
    expect(workers.interrupted).toEqual([])
    expect(await eventsOf('WrongVictim')).toEqual([])
    const metrics = await (await fetch(`${controller.probeUrl}/metrics`)).text()
    expect(metrics).toMatch(/^drape_wrong_victim_total 0$/m)
    for (const name of names) await place.client.delete(workerPools.type, { namespace: place.namespace, name })
  })

  it('continues the work of a controller killed at any moment', async () => {
    const spec = { engines: ['mock'], scaling: { mode: 'Fixed' }, template }
    const names = ['kill-a', 'kill-b', 'kill-c', 'kill-d', 'kill-e']
    await Promise.all(names.map((name) => apply(name, { ...spec, replicas: 4 })))
    for (const name of names) await until(() => isReady(name, 4))
    for (let round = 0; round < 4; round++) {
      const replicas = round % 2 === 0 ? 1 : 4
      const busy = names.flatMap((name) => podsOf(name).slice(0, 1)).filter((pod) => workers.work(pod))
      await Promise.all(names.map((name) => apply(name, { ...spec, replicas })))
      await sleep(200 + round * 700)
      await controller.end('SIGKILL')
      controller = await startController()
      // One that got its job when it had just been chosen stays as well until it is done.
      for (const name of names) await until(() => podsOf(name).length <= replicas + 1)
      for (const pod of busy) workers.finish(pod)
      for (const name of names) await until(() => isReady(name, replicas))
    }
    expect(workers.interrupted).toEqual([])
  })

  /** The messages of the events with this reason: of one pool, or of all. */
  async function eventsOf(reason: string, pool?: string): Promise<unknown[]> {
    const found = await place.client.list<
      KubernetesObject & { message?: string; reason?: string; involvedObject?: { name: string } }
    >(EVENTS, { namespace: place.namespace })
    return found
      .filter((event) => event.reason === reason && (pool === undefined || event.involvedObject?.name === pool))
      .map(({ message }) => message)
  }

  /** Of what the controller may write, since the API server was started. */
  async function countWrites(): Promise<number> {
    const figures = await askApiServer(place.connection, { path: '/metrics' })
    return figures
      .split('\n')
      .filter((line) =>
        /^apiserver_request_total\{.*resource="(workerpools|replicasets|events|engines|pods)"/.test(line),
      )
      .filter((line) => /verb="(APPLY|PATCH|PUT|POST)"/.test(line) && !/subresource="binding"/.test(line))
      .reduce((sum, line) => sum + Number(line.split(' ').at(-1)), 0)
  }
})
