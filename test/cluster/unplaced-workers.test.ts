import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Pod } from '../../controller/worker-pool/workers/pods.ts'
import { createRandom } from '../faults/support/random.ts'
import { createLink, type Link } from '../faults/support/tcp-proxy.ts'
import { until } from '../support/until.ts'
import { CLAIM_TEMPLATES, DEVICE_CLASSES, PODS, RESOURCE_QUOTAS } from './kinds.ts'
import { type PoolStage, startPoolStage } from './pool-stage.ts'
import { findSharedControlPlane } from './shared-control-plane.ts'

const controlPlane = await findSharedControlPlane()

const GPU = 'example.com/gpu'
const template = { image: 'drape/worker:test', requests: { cpu: '1' } }
const spec = { engines: ['mock'], replicas: 2, scaling: { mode: 'Fixed' }, capacity: { hourlyCost: 3 }, template }

describe.skipIf(!controlPlane?.hasControllers)('workers that do not start', () => {
  let stage: PoolStage
  let toPostgres: Link
  let toRedis: Link

  beforeAll(async () => {
    if (controlPlane === null) return
    stage = await startPoolStage(controlPlane, {
      env: async ({ env }) => {
        const through = async (name: 'DATABASE_URL' | 'REDIS_URL') => {
          const url = new URL(env[name])
          const link = await createLink(Number(url.port), createRandom(1))
          url.port = String(link.port)
          return { link, variables: { [name]: url.href } }
        }
        const [postgres, redis] = [await through('DATABASE_URL'), await through('REDIS_URL')]
        toPostgres = postgres.link
        toRedis = redis.link
        return { ...postgres.variables, ...redis.variables }
      },
    })
  })
  afterAll(async () => {
    await stage?.[Symbol.asyncDispose]()
    await toPostgres?.close()
    await toRedis?.close()
  })

  /** Waits until the condition is False; returns its message. */
  const whyNot = (pool: string, type: string) =>
    until(async () => {
      const found = await stage.conditionOf(pool, type)
      return found?.status === 'False' && found.message
    })

  it('without a claim template or device class are reported, and start when it exists', async () => {
    const { client, namespace } = stage
    const accelerator = { resourceClaims: [{ name: 'gpu', resourceClaimTemplateName: 'later' }] }
    await stage.apply('claimless', { ...spec, replicas: 1, accelerator })
    expect(await whyNot('claimless', 'WorkersScheduled')).toContain('a resource claim or its template may be missing')
    expect(await stage.statusOf('claimless')).toMatchObject({ unschedulableReplicas: 1, hourlyCost: 0 })
    await until(async () => (await stage.eventsOf('claimless', 'Unschedulable')).length > 0)
    const request = { name: 'gpu', exactly: { deviceClassName: `gpu.${namespace}.example` } }
    await client.create(CLAIM_TEMPLATES, {
      metadata: { namespace, name: 'later' },
      spec: { spec: { devices: { requests: [request] } } },
    })
    await until(async () => (await whyNot('claimless', 'WorkersScheduled')).includes('does not exist'))
    await client.create(DEVICE_CLASSES, { metadata: { name: `gpu.${namespace}.example` }, spec: {} })
    await until(async () => (await whyNot('claimless', 'WorkersScheduled')).includes('cannot allocate all claims'))
    await client.delete(DEVICE_CLASSES, { name: `gpu.${namespace}.example` })
    await stage.remove('claimless')
  })

  it('without quota are not missing and cost nothing, and start when Kueue admits them', async () => {
    const { client, namespace } = stage
    const gates = [{ name: 'kueue.x-k8s.io/admission' }]
    const podTemplate = { spec: { schedulingGates: gates } }
    const labels = { 'kueue.x-k8s.io/queue-name': 'gpu' }
    await stage.apply('queued', { ...spec, template: { ...template, labels }, podTemplate })
    expect(await whyNot('queued', 'WorkersAdmitted')).toBe(
      '2 workers are waiting for quota of their Kueue queue. They cost nothing.',
    )
    expect(await stage.conditionOf('queued', 'WorkersAdmitted')).toMatchObject({ reason: 'WaitingForQuota' })
    expect(await stage.conditionOf('queued', 'WorkersScheduled')).toMatchObject({ status: 'True' })
    expect(await stage.statusOf('queued')).toMatchObject({
      replicas: 2,
      gatedReplicas: 2,
      unschedulableReplicas: 0,
      readyReplicas: 0,
      hourlyCost: 0,
    })
    const metrics = await (await fetch(`${stage.controller.probeUrl}/metrics`)).text()
    expect(metrics).toContain(`drape_pool_gated_workers{pool="${namespace}/queued"} 2`)
    const pods = await client.list(PODS, { namespace, labelSelector: 'kueue.x-k8s.io/queue-name=gpu' })
    for (const { metadata } of pods) {
      await client.patch(PODS, { namespace, name: metadata.name }, { spec: { schedulingGates: null } })
    }
    const status = await stage.untilReady('queued', 2)
    expect(status).toMatchObject({ gatedReplicas: 0, hourlyCost: 6 })
    expect(await stage.conditionOf('queued', 'WorkersAdmitted')).toMatchObject({ status: 'True' })
    await stage.remove('queued')
  })

  it.for([
    [
      'a missing PriorityClass',
      'unranked',
      { template: { ...template, priorityClassName: 'missing' } },
      'no PriorityClass with name missing was found',
    ],
    ['a quota', 'rationed', { accelerator: { resource: GPU, count: 1 } }, 'exceeded quota: gpus'],
    [
      'the Pod Security Standard',
      'insecure',
      { podTemplate: { spec: { hostNetwork: true } } },
      'violates PodSecurity "restricted:latest": host namespaces (hostNetwork=true)',
    ],
  ] as const)('because of %s are named with the reason of the API server', async ([, pool, more, reason]) => {
    const { client, namespace } = stage
    const hard = { [`requests.${GPU}`]: '0' }
    await client.apply(RESOURCE_QUOTAS, { metadata: { namespace, name: 'gpus' }, spec: { hard } })
    // The test control plane runs no controller that counts what is used.
    const status = { hard, used: hard }
    await client.patch(RESOURCE_QUOTAS, { namespace, name: 'gpus' }, { status }, { subresource: 'status' })
    await stage.apply(pool, { ...spec, ...more })
    expect(await whyNot(pool, 'WorkersCreated')).toContain(reason)
    expect(await stage.statusOf(pool)).toMatchObject({ unschedulableReplicas: 2, replicas: 0, hourlyCost: 0 })
    expect(await stage.conditionOf(pool, 'Ready')).toMatchObject({ status: 'False' })
    const [event] = await until(async () => {
      const found = await stage.eventsOf(pool, 'FailedCreate')
      return found.length > 0 && found
    })
    expect(event).toMatchObject({ type: 'Warning', message: expect.stringContaining(reason) })
    await stage.apply(pool, spec)
    await stage.untilReady(pool, 2)
    expect(await stage.conditionOf(pool, 'WorkersCreated')).toMatchObject({ status: 'True' })
    await stage.remove(pool)
    await client.delete(RESOURCE_QUOTAS, { namespace, name: 'gpus' })
  })

  it('because their nodes reject them are named with the reason, and few are made', async () => {
    const { client, namespace, nodes } = stage
    nodes.reject('UnexpectedAdmissionError')
    await stage.apply('rejected', spec)
    const message = await whyNot('rejected', 'WorkersStarting')
    expect(message).toContain('UnexpectedAdmissionError on fake-')
    expect(message).toContain('no healthy devices present')
    // For as long as nothing limited them, hundreds of pods were made.
    await sleep(15_000)
    expect(nodes.rejected.size).toBeLessThanOrEqual(20)
    const pods = await client.list<Pod>(PODS, { namespace, labelSelector: 'drape.dev/pool=rejected' })
    expect(pods.filter(({ status }) => status?.phase === 'Failed').length).toBeLessThanOrEqual(3)
    expect(await stage.statusOf('rejected')).toMatchObject({ replicas: 2, readyReplicas: 0, hourlyCost: 0 })
    expect(await stage.conditionOf('rejected', 'Problems')).toMatchObject({ status: 'True' })
    expect(await stage.eventsOf('rejected', 'UnexpectedAdmissionError')).not.toEqual([])
    nodes.reject(null)
    await stage.remove('rejected')
  })

  it('are neither ready while demand is unknown nor idle while Redis is unavailable', async () => {
    const policy = { bounds: { min: 2, max: 4 }, target: { backlogPerSlot: 1 }, sampling: { intervalSeconds: 1 } }
    await stage.apply('blind', { engines: ['mock'], scaling: { policy }, template })
    await stage.untilReady('blind', 2)
    const busy = stage.podsOf('blind')
    const askDemand = async () => {
      const response = await fetch(`${stage.controller.probeUrl}/demand`)
      return { status: response.status, body: await response.json() }
    }
    const idle = { waiting: 0, running: 0, desiredSlots: 0 }
    const pools = { [stage.namespace]: { blind: idle } }
    expect(await askDemand()).toEqual({ status: 200, body: { engines: { mock: idle }, pools } })
    for (const pod of busy) await until(() => stage.workers.work(pod))
    await until(async () => (await stage.statusOf('blind'))?.busyReplicas === 2)

    toPostgres.injectFaults({ partitioned: true })
    await until(async () => (await stage.conditionOf('blind', 'Ready'))?.reason === 'DemandUnknown')
    expect(await stage.conditionOf('blind', 'Ready')).toMatchObject({ status: 'False' })
    expect(await askDemand()).toEqual({ status: 503, body: { status: 'unknown' } })
    expect(await stage.conditionOf('blind', 'AbleToScale')).toMatchObject({ status: 'False', reason: 'DemandUnknown' })
    toPostgres.injectFaults()
    await stage.untilReady('blind', 2)

    toRedis.injectFaults({ partitioned: true })
    const away = await until(async () => {
      const found = await stage.statusOf('blind')
      return found?.conditions.some(({ type, status }) => type === 'QueueReachable' && status === 'False') && found
    })
    expect(away.busyReplicas).toBeUndefined()
    toRedis.injectFaults()
    await until(async () => (await stage.statusOf('blind'))?.busyReplicas === 2)
    expect(stage.podsOf('blind')).toEqual(busy)
    const pods = await stage.client.list(PODS, { namespace: stage.namespace, labelSelector: 'drape.dev/pool=blind' })
    expect(pods.flatMap(({ metadata }) => metadata.annotations?.['drape.dev/fenced-at'] ?? [])).toEqual([])
  })
})
