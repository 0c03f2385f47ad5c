import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { pathOf } from '../../controller/runtime/resource.ts'
import { inferenceOf, signal } from '../faults/support/inference.ts'
import { readSample, readSmallPerson } from '../support/drape.ts'
import { linesOf, type TestProgram } from '../support/process.ts'
import { until } from '../support/until.ts'
import { askApiServer } from './ask-api-server.ts'
import { NODES, PODS } from './kinds.ts'
import { type PoolStage, startPoolStage } from './pool-stage.ts'
import { findSharedControlPlane } from './shared-control-plane.ts'

const controlPlane = await findSharedControlPlane()

// Only these nodes have it, so that no other pod is on them.
const DEVICE = 'example.com/ending'
const WORKERS = 4
const [ENDING, OTHER] = ['ending-a', 'ending-b']
const spec = {
  engines: ['mock'],
  replicas: WORKERS,
  scaling: { mode: 'Fixed' },
  accelerator: { resource: DEVICE, count: 1 },
  template: { image: 'drape/worker:test', requests: { cpu: '1' } },
}
const SPOT = 'aws-node-termination-handler/spot-itn'

describe.skipIf(!controlPlane?.hasControllers)('a node that shuts down', () => {
  let stage: PoolStage

  beforeAll(async () => {
    if (controlPlane === null) return
    stage = await startPoolStage(controlPlane, {
      graceful: true,
      nodeNames: [ENDING, OTHER],
      resources: { [DEVICE]: '8' },
    })
  })
  afterAll(async () => {
    await stage?.[Symbol.asyncDispose]()
  })

  const on = (pool: string, node: string) =>
    stage.podsOf(pool).filter((pod) => stage.nodes.nodeOf(stage.namespace, pod) === node)
  const setTaints = (...keys: string[]) =>
    stage.client.patch(
      NODES,
      { name: ENDING },
      { spec: { taints: keys.map((key) => ({ key, effect: 'NoSchedule' })) } },
    )
  const cordon = (unschedulable: boolean) =>
    stage.client.patch(NODES, { name: ENDING }, { spec: { unschedulable: unschedulable || null } })
  const evict = (name: string) => {
    const { namespace } = stage
    const path = `${pathOf(PODS, { namespace, name })}/eviction`
    const body = { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { namespace, name } }
    return until(() =>
      askApiServer(stage.connection, { method: 'POST', path, body }).then(
        () => true,
        (error) => /disruption budget/.test(error.message) && false,
      ),
    )
  }
  /** A pool whose workers are all busy, half of them on each node. */
  const startBusy = async (pool: string) => {
    await stage.apply(pool, spec)
    await stage.untilReady(pool, WORKERS)
    for (const pod of stage.podsOf(pool)) await until(() => stage.workers.work(pod))
    await until(async () => (await stage.statusOf(pool))?.busyReplicas === WORKERS)
    const leaving = on(pool, ENDING)
    expect(leaving).toHaveLength(WORKERS / 2)
    return { leaving, staying: on(pool, OTHER) }
  }
  const untilReplaced = async (pool: string, leaving: readonly string[]) => {
    await until(() => on(pool, OTHER).length === WORKERS)
    await until(() => !leaving.some(stage.workers.takesJobs))
  }
  const untilGone = (pool: string, leaving: readonly string[]) =>
    until(() => !stage.podsOf(pool).some((pod) => leaving.includes(pod)))
  const condition = (pool: string, status: string) =>
    until(async () => {
      const found = await stage.conditionOf(pool, 'NodesEnding')
      return found?.status === status && found
    })
  const expectGone = async (pool: string, { leaving, staying }: Awaited<ReturnType<typeof startBusy>>) => {
    expect(stage.workers.killed).toEqual([])
    expect(staying.filter(stage.workers.isBusy)).toEqual(staying)
    const events = await until(async () => {
      const found = await stage.eventsOf(pool, 'NodeEnding')
      return found.length >= leaving.length && found
    })
    expect(events.map(({ message }) => message?.split(' ')[0]).sort()).toEqual([...leaving].sort())
    const metrics = await (await fetch(`${stage.controller.probeUrl}/metrics`)).text()
    expect(metrics).toMatch(/^drape_wrong_victim_total 0$/m)
  }
  const handedBack = (pods: readonly string[]) => pods.map((pod) => stage.workers.handedBack.get(pod))
  const remove = async (pool: string) => {
    for (const pod of stage.podsOf(pool)) stage.workers.finish(pod)
    await stage.remove(pool)
  }

  it.for([
    ['spot', SPOT, 25_000],
    ['karpenter', 'karpenter.sh/disrupted', 25_000],
    ['google', 'cloud.google.com/impending-node-termination', 10_000],
  ] as const)(
    'by a taint (%s) loses its workers at once; busy ones hand their jobs back',
    async ([pool, taint, ms]) => {
      const workers = await startBusy(pool)
      await setTaints(taint)
      await untilReplaced(pool, workers.leaving)
      expect((await condition(pool, 'True')).message).toContain(`${ENDING} (${taint})`)
      await untilGone(pool, workers.leaving)
      expect(handedBack(workers.leaving)).toEqual([ms, ms])
      await expectGone(pool, workers)
      await setTaints()
      await condition(pool, 'False')
      await remove(pool)
    },
  )

  it('drains all its workers with the first eviction, and none when only cordoned', async () => {
    const workers = await startBusy('drained')
    await cordon(true)
    await stage.apply('drained', { ...spec, replicas: WORKERS + 1 })
    await stage.untilReady('drained', WORKERS + 1)
    expect(on('drained', ENDING)).toEqual(workers.leaving)
    expect(workers.leaving.filter(stage.workers.isBusy)).toEqual(workers.leaving)
    await evict(workers.leaving[0])
    await until(() => on('drained', OTHER).length === WORKERS + 1)
    await untilGone('drained', workers.leaving)
    expect(handedBack(workers.leaving)).toEqual([25_000, 25_000])
    await expectGone('drained', workers)
    await cordon(false)
    await remove('drained')
  })

  it('and then recovers lets the jobs of its workers finish', async () => {
    const { leaving } = await startBusy('spared')
    // They have as long as real ones.
    stage.workers.hasten(1)
    await setTaints(SPOT)
    await untilReplaced('spared', leaving)
    await setTaints()
    await until(async () => (await stage.eventsOf('spared', 'NodeStays')).length === leaving.length)
    await condition('spared', 'False')
    expect(await Promise.all(leaving.map(stage.workers.jobLimit))).toEqual([null, null])
    expect(handedBack(leaving)).toEqual([undefined, undefined])
    for (const pod of leaving) stage.workers.finish(pod)
    await untilGone('spared', leaving)
    expect(stage.workers.killed).toEqual([])
    await remove('spared')
  })

  /** Runs real workers in the pods of the pool, as a kubelet does. */
  const startRealWorkers = (pool: string) => {
    const workers = new Map<string, { readonly program: TestProgram; ended?: { code: number | null; at: number } }>()
    const uids = new Map<string, string>()
    const isOf = (pod: string) => pod.startsWith(`${pool}-workers-`)
    stage.workers.leaveOut(isOf, (pod) => workers.has(pod) && workers.get(pod)?.ended === undefined)
    stage.nodes.onPod(async (_, pod, state, uid) => {
      uids.set(pod, uid)
      const worker = workers.get(pod)
      if (state === 'ends' && worker) worker.ended = { code: await worker.program.end('SIGTERM'), at: Date.now() }
    })
    return {
      workers,
      start: async (pod: string) => {
        const names = { POOL: `${stage.namespace}/${pool}`, POD_NAME: pod, POD_UID: uids.get(pod) ?? '' }
        const env = { ...names, PUBLIC_URL: stage.drape.api.url }
        workers.set(pod, { program: await stage.drape.startWorker(env, { separate: true }) })
      },
    }
  }

  it('has a real worker return a job that hangs and exit', async () => {
    // The long form waits as long as a spot node does, and asserts the time; the short one may run on a busy machine.
    const isLong = Boolean(process.env.LONG_TESTS)
    const taint = isLong ? SPOT : 'cloud.google.com/impending-node-termination'
    const pool = 'real'
    const { workers, start } = startRealWorkers(pool)
    await stage.client.patch(NODES, { name: OTHER }, { spec: { unschedulable: true } })
    await stage.apply(pool, { ...spec, replicas: 1 })
    const leaving = await until(() => on(pool, ENDING)[0])
    await stage.client.patch(NODES, { name: OTHER }, { spec: { unschedulable: null } })
    await start(leaving)
    const leaver = workers.get(leaving)?.program as TestProgram
    for (const pid of inferenceOf(leaver)) signal(pid, 'SIGSTOP')
    const data = {
      products: [{ images: [{ source: { fileKey: 'shirt' } }] }],
      person: { image: { source: { fileKey: 'me' } } },
      output: { engine: 'mock' },
    }
    const shirt = await readSample('garments/tshirt-navy.jpg')
    const id = await stage.drape.tryOn(data, { me: await readSmallPerson(), shirt })
    await until(async () => (await stage.statusOf(pool))?.busyReplicas === 1)

    const noticedAt = Date.now()
    await setTaints(taint)
    const replacement = await until(() => on(pool, OTHER)[0])
    await start(replacement)
    expect(await stage.drape.finish(id)).toMatchObject({ status: 'COMPLETED' })
    const ended = await until(() => workers.get(leaving)?.ended)
    expect(ended.code).toBe(0)
    const messages = linesOf(leaver.output())
    expect(messages.filter(({ level }) => level === 'fatal')).toEqual([])
    const order = ['draining', 'try-on returned to the queue', 'stopped']
    expect(messages.map(({ msg }) => msg).filter((msg) => order.includes(msg))).toEqual(order)
    // Handing the job back used no attempt.
    const entry = await until(() =>
      linesOf(workers.get(replacement)?.program.output() ?? '').find(({ msg }) => msg === 'try-on'),
    )
    expect(entry).toMatchObject({ generationId: id, attempt: 1, outcome: 'completed' })
    if (isLong) expect(ended.at - noticedAt).toBeLessThan(30_000)
    await setTaints()
    await stage.remove(pool)
  })
})
