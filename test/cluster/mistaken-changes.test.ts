import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createClient } from '../../controller/runtime/client.ts'
import type { KubernetesObject } from '../../controller/runtime/resource.ts'
import { until } from '../support/until.ts'
import { PODS, REPLICA_SETS } from './kinds.ts'
import { type PoolStage, startPoolStage } from './pool-stage.ts'
import { findSharedControlPlane } from './shared-control-plane.ts'

interface Pod extends KubernetesObject {
  readonly spec: {
    readonly containers: readonly { readonly name: string; readonly env?: readonly { name: string }[] }[]
  }
}

interface ReplicaSet extends KubernetesObject {
  readonly spec: {
    readonly replicas?: number
    readonly template?: { readonly spec: { readonly terminationGracePeriodSeconds?: number } }
  }
}

const controlPlane = await findSharedControlPlane()
const template = { image: 'drape/worker:test', requests: { cpu: '1' } }

describe.skipIf(!controlPlane?.hasControllers)('a worker pool with objects changed by others', () => {
  let stage: PoolStage

  beforeAll(async () => {
    if (controlPlane !== null) stage = await startPoolStage(controlPlane)
  })
  afterAll(async () => {
    await stage?.[Symbol.asyncDispose]()
  })

  const fixed = (replicas: number, more: object = {}) => ({
    engines: ['mock'],
    replicas,
    scaling: { mode: 'Fixed' },
    template,
    ...more,
  })
  const setLabels = (pod: string, labels: object) =>
    stage.client.patch(PODS, { namespace: stage.namespace, name: pod }, { metadata: { labels } })
  const fenced = (pool: string) => stage.podsOf(pool).filter((pod) => !stage.workers.takesJobs(pod))

  it.for(['drape.dev/pool', 'app.kubernetes.io/name'])(
    'replaces a pod that was taken out by its label %s, and asks no other to leave',
    async (label) => {
      await stage.apply('examined', fixed(3))
      await stage.untilReady('examined', 3)
      const [examined, ...others] = stage.podsOf('examined')
      await setLabels(examined, { [label]: 'examined-by-hand' })
      await until(() => stage.podsOf('examined').length === 4)
      await until(async () => {
        const status = await stage.statusOf('examined')
        const names = status?.workers.map(({ name }) => name) ?? []
        return status?.replicas === 3 && !names.includes(examined) && others.every((name) => names.includes(name))
      })
      await sleep(3000)
      expect(fenced('examined')).toEqual([])
      expect(await stage.conditionOf('examined', 'Ready')).toMatchObject({ status: 'True' })
      await stage.client.delete(PODS, { namespace: stage.namespace, name: examined })
      await stage.remove('examined')
    },
  )

  it('reports a reverted change of its ReplicaSet once, with the writer', async () => {
    const { namespace } = stage
    const name = { namespace, name: 'edited-workers' }
    await stage.apply('edited', fixed(2))
    await stage.untilReady('edited', 2)
    const found = () => stage.get<ReplicaSet>(REPLICA_SETS, name.name)
    const replicas = async () => (await found())?.spec.replicas
    const owners = async () => (await found())?.metadata.ownerReferences?.length
    const label = async () => (await found())?.metadata.labels?.['app.kubernetes.io/managed-by']
    const edits = [
      { by: 'adds-workers', change: { spec: { replicas: 4 } }, done: async () => (await replicas()) === 2 },
      { by: 'removes-workers', change: { spec: { replicas: 1 } }, done: async () => (await replicas()) === 2 },
      {
        by: 'changes-pods',
        change: { spec: { template: { spec: { terminationGracePeriodSeconds: 1 } } } },
        done: async () => (await found())?.spec.template?.spec.terminationGracePeriodSeconds !== 1,
      },
      {
        by: 'changes-labels',
        change: { metadata: { labels: { 'app.kubernetes.io/managed-by': 'me' } } },
        done: async () => (await label()) === 'drape-controller',
      },
      { by: null, change: { metadata: { ownerReferences: null } }, done: async () => (await owners()) === 1 },
    ]
    for (const [i, { by, change, done }] of edits.entries()) {
      const writer = createClient(stage.connection, { fieldManager: by ?? 'removes-owners' })
      await writer.patch(REPLICA_SETS, name, change)
      await until(async () => (await done()) && (await stage.eventsOf('edited', 'EditReverted')).length > i)
      await stage.untilReady('edited', 2)
    }
    await sleep(2000)
    const messages = (await stage.eventsOf('edited', 'EditReverted')).map(({ message }) => message)
    const expected = edits.map(({ by }) => {
      const writer = by === null ? '' : ` by ${by}`
      return `A change of ReplicaSet edited-workers${writer} was reverted. Change the WorkerPool instead.`
    })
    expect(messages.sort()).toEqual(expected.sort())
    await stage.remove('edited')
  })

  it('does not adopt a pod that has only the label of the pool', async () => {
    await stage.apply('alone', fixed(1))
    await stage.untilReady('alone', 1)
    const [worker] = stage.podsOf('alone')
    const pod = await stage.get<Pod & { spec: { nodeName?: string } }>(PODS, worker)
    if (pod === null) throw new Error('The worker is gone')
    const labels = { 'drape.dev/pool': 'alone' }
    const { containers, ...spec } = pod.spec
    await stage.client.create(PODS, {
      metadata: { namespace: stage.namespace, name: 'alone-workers-debug', labels },
      spec: { ...spec, containers, nodeName: undefined },
    })
    await until(() => stage.podsOf('alone').length === 2)
    await sleep(3000)
    expect(await stage.statusOf('alone')).toMatchObject({ replicas: 1, workers: [{ name: worker }] })
    expect(fenced('alone')).toEqual([])
    await stage.client.delete(PODS, { namespace: stage.namespace, name: 'alone-workers-debug' })
    await stage.remove('alone')
  })

  it('removes drained workers despite manual pod-deletion-cost on others', async () => {
    const setCost = (pod: string, cost: number | null) => {
      const annotations = { 'controller.kubernetes.io/pod-deletion-cost': cost === null ? null : String(cost) }
      return stage.client.patch(PODS, { namespace: stage.namespace, name: pod }, { metadata: { annotations } })
    }
    await stage.apply('costly', fixed(4))
    await stage.untilReady('costly', 4)
    const [cheap, cheapest, ...others] = stage.podsOf('costly')
    for (const pod of [cheap, cheapest]) await until(() => stage.workers.work(pod))
    // A worker whose job is not reported yet may be chosen: the worker would drain and finish its job first.
    await until(async () => (await stage.statusOf('costly'))?.busyReplicas === 2)
    await setCost(cheap, -2147483647)
    await setCost(cheapest, -2147483648)
    await stage.apply('costly', fixed(2))
    // The first worker that drains gets the annotation, and another client removes it.
    const drained = await until(() => fenced('costly')[0])
    await until(async () => {
      const pod = await stage.get(PODS, drained)
      return pod === null || pod.metadata.annotations?.['drape.dev/marked-at'] !== undefined
    })
    await setCost(drained, 100)
    await stage.untilReady('costly', 2)
    expect(stage.podsOf('costly').sort()).toEqual([cheap, cheapest].sort())
    expect(others).toHaveLength(2)
    expect(stage.workers.interrupted).toEqual([])
    expect(await stage.eventsOf('costly', 'WrongVictim')).toEqual([])
    const [event] = await stage.eventsOf('costly', 'DeletionCostRemoved')
    expect(event).toMatchObject({ type: 'Warning', message: expect.stringContaining(cheapest) })
    for (const pod of [cheap, cheapest]) stage.workers.finish(pod)
    await stage.remove('costly')
  })
})
