import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { KubernetesObject } from '../../controller/runtime/resource.ts'
import type { TestProcess } from '../support/process.ts'
import { until } from '../support/until.ts'
import { PODS } from './kinds.ts'
import { CLUSTER_QUEUES, FLAVORS, findKueue, LOCAL_QUEUES, startKueue } from './kueue.ts'
import { type OwnControlPlane, startOwnControlPlane } from './own-control-plane.ts'
import { type PoolStage, startPoolStage } from './pool-stage.ts'
import { findSharedControlPlane } from './shared-control-plane.ts'

interface GatedPod extends KubernetesObject {
  readonly spec: { readonly schedulingGates?: readonly { readonly name: string }[] }
}

interface ClusterQueue extends KubernetesObject {
  readonly status?: {
    readonly admittedWorkloads: number
    readonly pendingWorkloads: number
    readonly flavorsUsage?: readonly {
      readonly resources: readonly { readonly name: string; readonly total: string; readonly borrowed: string }[]
    }[]
  }
}

const controlPlane = process.env.LONG_TESTS ? await findSharedControlPlane() : null
const kueue = controlPlane?.hasControllers ? await findKueue() : null

const DEVICE = 'example.com/lent'
const WORKERS = 4
const QUOTA = 2
/** Each has a pool of its name. */
const QUEUES = ['borrower', 'owner']
const LABEL = 'kueue.x-k8s.io/queue-name'
const spec = {
  engines: ['mock'],
  replicas: WORKERS,
  scaling: { mode: 'Fixed' },
  capacity: { hourlyCost: 3 },
  accelerator: { resource: DEVICE, count: 1 },
  template: { image: 'drape/worker:test', requests: { cpu: '1' }, labels: { [LABEL]: 'borrower' } },
}
const ownerSpec = { ...spec, replicas: QUOTA, template: { ...spec.template, labels: { [LABEL]: 'owner' } } }
const WAITING = `${WORKERS - QUOTA} workers are waiting for quota of their Kueue queue. They cost nothing.`

describe.skipIf(kueue === null)('workers in a queue of Kueue', () => {
  let ownControlPlane: OwnControlPlane
  let stage: PoolStage
  let started: TestProcess

  beforeAll(async () => {
    if (kueue === null) return
    // Its webhooks hold up the pods of a whole cluster.
    ownControlPlane = await startOwnControlPlane()
    stage = await startPoolStage(ownControlPlane, {
      graceful: true,
      nodeNames: ['lent-a', 'lent-b'],
      resources: { [DEVICE]: String(WORKERS / 2) },
    })
    started = await startKueue(kueue, { controlPlane: ownControlPlane, client: stage.client })
    await stage.client.apply(FLAVORS, { metadata: { name: 'default' } })
    for (const name of QUEUES) {
      const metadata = { namespace: stage.namespace, name }
      await stage.client.apply(LOCAL_QUEUES, { metadata, spec: { clusterQueue: name } })
    }
  })
  beforeEach(async () => {
    for (const name of QUEUES) await setQuota(name, QUOTA)
  })
  afterEach(async () => {
    for (const pool of QUEUES) {
      for (const pod of stage.podsOf(pool)) stage.workers.finish(pod)
      await stage.remove(pool)
    }
    await untilUsed('borrower', { admitted: 0, pending: 0 })
  })
  afterAll(async () => {
    await started?.end('SIGKILL')
    await stage?.[Symbol.asyncDispose]()
    await ownControlPlane?.stop()
  })

  /** In a cohort, queues lend each other what they do not use, and take it back from workers. */
  const setQuota = (name: string, devices: number, cohortName?: string) => {
    const quotas = { cpu: '100', memory: '1000Gi', [DEVICE]: String(devices) }
    const resources = Object.entries(quotas).map(([resource, nominalQuota]) => ({ name: resource, nominalQuota }))
    const group = { coveredResources: Object.keys(quotas), flavors: [{ name: 'default', resources }] }
    const queue = { namespaceSelector: {}, resourceGroups: [group], preemption: { reclaimWithinCohort: 'Any' } }
    return stage.client.apply(CLUSTER_QUEUES, {
      metadata: { name },
      spec: { ...queue, ...(cohortName !== undefined && { cohortName }) },
    })
  }
  const lend = async () => {
    for (const name of QUEUES) await setQuota(name, QUOTA, 'team')
  }
  /** Waits until Kueue has decided about all workers of a queue; returns how many devices they have, and how many are borrowed. */
  const untilUsed = async (name: string, { admitted, pending }: { admitted: number; pending: number }) => {
    const { flavorsUsage = [] } = await until(async () => {
      const status = (await stage.client.get<ClusterQueue>(CLUSTER_QUEUES, { name }))?.status
      return status?.admittedWorkloads === admitted && status.pendingWorkloads === pending && status
    })
    const { total, borrowed } = flavorsUsage[0].resources.find((resource) => resource.name === DEVICE) ?? {}
    return { total, borrowed }
  }
  const untilWaiting = async () => {
    await until(async () => (await stage.conditionOf('borrower', 'WorkersAdmitted'))?.message === WAITING)
    expect(await stage.conditionOf('borrower', 'WorkersAdmitted')).toMatchObject({
      status: 'False',
      reason: 'WaitingForQuota',
    })
    await until(async () => (await stage.statusOf('borrower'))?.readyReplicas === QUOTA)
    expect(await stage.statusOf('borrower')).toMatchObject({
      replicas: WORKERS,
      gatedReplicas: WORKERS - QUOTA,
      unschedulableReplicas: 0,
      hourlyCost: 3 * QUOTA,
    })
  }
  const startBusy = async () => {
    const pods = stage.podsOf('borrower')
    for (const pod of pods) await until(() => stage.workers.work(pod))
    await until(async () => (await stage.statusOf('borrower'))?.busyReplicas === pods.length)
    return pods
  }
  const expectNoLoss = async () => {
    expect(stage.workers.killed).toEqual([])
    expect(await stage.eventsOf('borrower', 'WrongVictim')).toEqual([])
    const metrics = await (await fetch(`${stage.controller.probeUrl}/metrics`)).text()
    expect(metrics).toMatch(/^drape_wrong_victim_total 0$/m)
  }

  it('start as far as its quota goes; the others wait and cost nothing', async () => {
    await stage.apply('borrower', spec)
    expect(await untilUsed('borrower', { admitted: QUOTA, pending: WORKERS - QUOTA })).toEqual({
      total: String(QUOTA),
      borrowed: '0',
    })
    await untilWaiting()
    const pods = await stage.client.list<GatedPod>(PODS, { namespace: stage.namespace, labelSelector: LABEL })
    const gated = pods.filter((pod) => (pod.spec.schedulingGates ?? []).length > 0)
    expect(gated).toHaveLength(WORKERS - QUOTA)
    for (const { spec: held } of gated)
      expect(held.schedulingGates).toContainEqual({ name: 'kueue.x-k8s.io/admission' })
    expect(stage.podsOf('borrower')).toHaveLength(QUOTA)
    await setQuota('borrower', WORKERS)
    const status = await stage.untilReady('borrower', WORKERS)
    expect(status).toMatchObject({ gatedReplicas: 0, hourlyCost: 3 * WORKERS })
    expect(await stage.conditionOf('borrower', 'WorkersAdmitted')).toMatchObject({ status: 'True' })
  })

  it('leave first while they wait, when the pool scales down', async () => {
    await stage.apply('borrower', spec)
    await untilWaiting()
    const busy = await startBusy()
    await stage.apply('borrower', { ...spec, replicas: QUOTA })
    await stage.untilReady('borrower', QUOTA)
    expect(await untilUsed('borrower', { admitted: QUOTA, pending: 0 })).toMatchObject({ total: String(QUOTA) })
    expect(stage.podsOf('borrower')).toEqual(busy)
    expect(busy.filter(stage.workers.isBusy)).toEqual(busy)
    expect(stage.workers.interrupted).toEqual([])
    await expectNoLoss()
  })

  it('all start with quota that another queue of the cohort lends', async () => {
    await lend()
    await stage.apply('borrower', spec)
    const status = await stage.untilReady('borrower', WORKERS)
    expect(status).toMatchObject({ gatedReplicas: 0, hourlyCost: 3 * WORKERS })
    expect(await untilUsed('borrower', { admitted: WORKERS, pending: 0 })).toEqual({
      total: String(WORKERS),
      borrowed: String(WORKERS - QUOTA),
    })
  })

  it('give borrowed quota back when its owner needs it, and finish their jobs before they leave', async () => {
    await lend()
    await stage.apply('borrower', spec)
    await stage.untilReady('borrower', WORKERS)
    const busy = await startBusy()
    await stage.apply('owner', ownerSpec)
    await until(() => stage.workers.interrupted.length === QUOTA)
    const leaving = [...stage.workers.interrupted]
    const staying = busy.filter((pod) => !leaving.includes(pod))
    expect(staying).toHaveLength(WORKERS - QUOTA)
    await untilWaiting()
    // Kueue gives the owner the quota at once, but the jobs still need the devices.
    await untilUsed('owner', { admitted: QUOTA, pending: 0 })
    await until(async () => {
      const found = await stage.conditionOf('owner', 'WorkersScheduled')
      return found?.status === 'False' && found.message.includes(`Insufficient ${DEVICE}`)
    })
    expect(stage.podsOf('owner')).toEqual([])
    expect(busy.filter(stage.workers.isBusy)).toEqual(busy)
    expect(busy.filter(stage.workers.takesJobs)).toEqual(staying)

    for (const pod of leaving) stage.workers.finish(pod)
    await stage.untilReady('owner', QUOTA)
    expect(stage.podsOf('borrower')).toEqual(staying)
    await untilWaiting()
    await expectNoLoss()

    await stage.remove('owner')
    await stage.untilReady('borrower', WORKERS)
    expect(staying.filter(stage.workers.isBusy)).toEqual(staying)
    expect(stage.workers.interrupted).toEqual(leaving)
    await expectNoLoss()
  })
})
