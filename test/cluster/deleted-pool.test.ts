import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type KubernetesObject, pathOf } from '../../controller/runtime/resource.ts'
import { workerPools } from '../../controller/worker-pool/resource.ts'
import { BUDGETS, REPLICA_SETS } from '../../controller/worker-pool/template/replica-set.ts'
import { until } from '../support/until.ts'
import { askApiServer } from './ask-api-server.ts'
import { PODS } from './kinds.ts'
import { type PoolStage, startPoolStage } from './pool-stage.ts'
import { saturate } from './saturate.ts'
import { findSharedControlPlane } from './shared-control-plane.ts'

interface Pod extends KubernetesObject {
  readonly spec: { readonly terminationGracePeriodSeconds: number }
}

const controlPlane = await findSharedControlPlane()

const WORKERS = 20
const JOB_MS = 8000
const DRAIN_SECONDS = 5
/** What a pod has beyond the drain: its worker exits in that time. */
const SHUTDOWN_SECONDS = 30

const spec = {
  engines: ['mock'],
  replicas: WORKERS,
  scaling: { mode: 'Fixed' },
  template: { image: 'drape/worker:test', requests: { cpu: '1' } },
}

describe.skipIf(!controlPlane?.hasControllers)('the deletion of a pool', () => {
  let stage: PoolStage

  beforeAll(async () => {
    if (controlPlane !== null) stage = await startPoolStage(controlPlane, { graceful: true })
  })
  afterAll(async () => {
    await stage?.[Symbol.asyncDispose]()
  })

  const deletePool = (name: string, propagationPolicy: 'Background' | 'Orphan' = 'Background') =>
    askApiServer(stage.connection, {
      method: 'DELETE',
      path: pathOf(workerPools.type, { namespace: stage.namespace, name }),
      body: { propagationPolicy },
    })

  it('drains all workers: each finishes its job, takes no other and stops', async () => {
    await using pool = await saturate(stage, 'deleted', { workers: WORKERS, jobMs: JOB_MS, spec })
    const before = pool.busy()
    expect(before).toHaveLength(WORKERS)
    await deletePool('deleted')
    const seen = new Set<string>()
    const isGone = (pods: readonly string[]) => {
      for (const pod of stage.podsOf('deleted')) seen.add(pod)
      return pods.length === 0
    }
    // The garbage collector of Kubernetes needs up to 30 s to know a kind that is new in the cluster.
    await until(() => stage.workers.interrupted.length > 0)
    const requestedAt = performance.now()
    await until(() => isGone(stage.podsOf('deleted').filter(stage.workers.takesJobs)))
    await until(() => isGone(stage.podsOf('deleted')))
    expect(performance.now() - requestedAt).toBeLessThan(JOB_MS + 10_000)
    // A worker may have been between two jobs.
    expect(stage.workers.interrupted.length).toBeGreaterThan(WORKERS / 2)
    expect(stage.workers.killed).toEqual([])
    expect([...seen].sort()).toEqual(before.sort())
    for (const [type, name] of [
      [workerPools.type, 'deleted'],
      [REPLICA_SETS, 'deleted-workers'],
      [BUDGETS, 'deleted-workers'],
    ] as const)
      await until(async () => (await stage.get(type, name)) === null)
    expect(await stage.eventsOf('deleted', 'WrongVictim')).toEqual([])
  })

  it('with orphaned workers leaves them to a new pool of the same name', async () => {
    await using pool = await saturate(stage, 'again', { workers: 4, jobMs: JOB_MS, spec: { ...spec, replicas: 4 } })
    const before = stage.podsOf('again')
    const interruptedCount = stage.workers.interrupted.length
    await deletePool('again', 'Orphan')
    await until(async () => (await stage.get(workerPools.type, 'again')) === null)
    await stage.apply('again', { ...spec, replicas: 4 })
    await stage.untilReady('again', 4)
    const found = await stage.get(REPLICA_SETS, 'again-workers')
    const { metadata } = (await stage.get(workerPools.type, 'again')) ?? {}
    expect(found?.metadata.ownerReferences).toMatchObject([{ uid: metadata?.uid }])
    expect(stage.podsOf('again')).toEqual(before)
    expect(pool.busy().length).toBeGreaterThan(0)
    expect(stage.workers.interrupted).toHaveLength(interruptedCount)
  })

  it('stops a job that exceeds its time, even without a controller', async () => {
    const stuck = { ...spec, replicas: 3, drain: { timeoutSeconds: DRAIN_SECONDS, acknowledgeSeconds: DRAIN_SECONDS } }
    await stage.apply('stuck', stuck)
    await stage.untilReady('stuck', 3)
    const [quick, ...slow] = stage.podsOf('stuck')
    for (const pod of [quick, ...slow]) await until(() => stage.workers.work(pod))
    const pod = await stage.get<Pod>(PODS, quick)
    expect(pod?.spec.terminationGracePeriodSeconds).toBe(DRAIN_SECONDS + SHUTDOWN_SECONDS)
    await stage.controller.end('SIGKILL')
    await deletePool('stuck')
    const deletedAt = performance.now()
    await until(() => !stage.workers.takesJobs(quick))
    stage.workers.finish(quick)
    await until(() => stage.podsOf('stuck').length === 0)
    const seconds = (performance.now() - deletedAt) / 1000
    expect(seconds).toBeGreaterThan(DRAIN_SECONDS + SHUTDOWN_SECONDS - 5)
    expect(seconds).toBeLessThan(DRAIN_SECONDS + SHUTDOWN_SECONDS + 20)
    expect([...stage.workers.killed].sort()).toEqual(slow.sort())
    await until(async () => (await stage.get(workerPools.type, 'stuck')) === null)
  })
})
