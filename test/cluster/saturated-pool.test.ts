import { createServer } from 'node:http'
import { request } from 'node:https'
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createJobQueue } from '../../api/shared/queue/queue.ts'
import { createRedis } from '../../api/shared/queue/redis.ts'
import { createLog } from '../../api/shared/telemetry/log.ts'
import type { KubernetesObject } from '../../controller/runtime/resource.ts'
import { watchObjects } from '../../controller/runtime/watch.ts'
import { workerPools } from '../../controller/worker-pool/resource.ts'
import type { PoolStatus } from '../../controller/worker-pool/status-schema.ts'
import { until } from '../support/until.ts'
import type { ControlPlane } from './control-plane.ts'
import { writeKubeconfig } from './namespace.ts'
import { type PoolStage, startPoolStage } from './pool-stage.ts'
import { saturate } from './saturate.ts'
import { findSharedControlPlane } from './shared-control-plane.ts'

interface WrittenPool extends KubernetesObject {
  readonly status?: PoolStatus
}

const controlPlane = await findSharedControlPlane()

const WORKERS = 20
const CAP = 5
const JOB_MS = 8000
/** From the end of the last job to the removal of its worker: the mark has to settle, and the status is written. */
const REMOVAL_MS = 10_000
const template = { image: 'drape/worker:test', requests: { cpu: '1' } }
// Neither the pace nor a budget of the policy may keep a worker above a hard limit.
const slow = { scaleDown: { maxReplicas: 1 }, budgets: [{ name: 'never', maxDraining: 0 }] }

function saturatedBy(policy: object = {}, more: object = {}) {
  return {
    engines: ['mock'],
    queues: ['prepare'],
    capacity: { hourlyCost: 1 },
    template,
    scaling: { policy: { bounds: { max: WORKERS }, target: { backlogPerSlot: 1 }, ...slow, ...policy } },
    ...more,
  }
}

/** The hours around now, so that a schedule begins as soon as it is there. */
function hoursAroundNow() {
  const clock = (ms: number) => new Date(ms).toISOString().slice(11, 16)
  return { start: clock(Date.now() - 3_600_000), end: clock(Date.now() + 3_600_000) }
}

/**
 * The status writes that the API server has recorded for a pool. `tooEarly`: those within 9 s of the one before, by the server's clock in
 * whole seconds, although no condition has changed.
 */
function recordStatusWrites({ connection, namespace }: PoolStage, name: string) {
  const writes: { version: string; at: number; outcomes: string }[] = []
  const note = ({ metadata, status }: WrittenPool) => {
    const { time = '' } = metadata.managedFields?.find(({ subresource }) => subresource === 'status') ?? {}
    const conditions = status?.conditions.map(({ type, status: holds, reason }) => `${type} ${holds} ${reason}`) ?? []
    const outcomes = [status?.observedGeneration, ...conditions].join()
    const content = JSON.stringify(status)
    if (metadata.name !== name || content === last) return
    last = content
    writes.push({ version: metadata.resourceVersion ?? '', at: Date.parse(time), outcomes })
  }
  let last = ''
  const keep = (pool: WrittenPool) => {
    note(pool)
    return pool
  }
  const watched = watchObjects<WrittenPool>({ connection, type: workerPools.type, namespace, keep })
  return {
    count: () => writes.length,
    tooEarly: () =>
      writes.slice(1).filter(({ at, outcomes }, i) => outcomes === writes[i].outcomes && at - writes[i].at < 9000),
    [Symbol.dispose]: () => watched.close(),
  }
}

describe.skipIf(!controlPlane?.hasControllers)('a saturated pool', () => {
  let stage: PoolStage
  let closeQueue = async () => {}

  beforeAll(async () => {
    if (controlPlane === null) return
    stage = await startPoolStage(controlPlane)
    const log = createLog({ process: 'test', level: 'silent' })
    const redis = createRedis(stage.drape.env.REDIS_URL, { role: 'producer', log })
    const queue = createJobQueue({ redis, name: 'prepare' })
    closeQueue = async () => {
      await queue.close()
      await redis.close()
    }
    await until(redis.isReady)
    await queue.add(Array.from({ length: 500 }, (_, i) => ({ id: `photo-${i}`, data: {} })))
  })
  afterAll(async () => {
    await closeQueue()
    await stage?.[Symbol.asyncDispose]()
  })

  it.for([
    ['cost.hourlyCap', 'costly', () => ({ cost: { hourlyCap: CAP, mode: 'Hard' } })],
    ['bounds.max', 'bounded', () => ({ bounds: { max: CAP } })],
    ['schedule night', 'nightly', () => ({ schedules: [{ name: 'night', ...hoursAroundNow(), max: CAP }] })],
  ] as const)('is within %s when each worker has finished its job', async ([limit, name, policy]) => {
    await using pool = await saturate(stage, name, { workers: WORKERS, jobMs: JOB_MS, spec: saturatedBy() })
    using writes = recordStatusWrites(stage, name)
    await stage.apply(name, saturatedBy(policy()))
    const cutAt = performance.now()
    const above = await until(async () => {
      const found = await stage.conditionOf(name, 'AboveCap')
      return found?.status === 'True' && found
    })
    expect(above.message).toContain(`${limit} allows ${CAP} workers, and there are ${WORKERS}: `)
    await until(() => stage.podsOf(name).length <= CAP)
    expect(performance.now() - cutAt).toBeLessThan(JOB_MS + REMOVAL_MS)
    await until(async () => (await stage.conditionOf(name, 'AboveCap'))?.status === 'False')
    await sleep(JOB_MS)
    expect(writes.count()).toBeGreaterThan(1)
    expect(writes.tooEarly()).toEqual([])
    expect(stage.podsOf(name)).toHaveLength(CAP)
    expect(pool.busy()).toHaveLength(CAP)
    expect(stage.workers.interrupted).toEqual([])
    expect(await stage.eventsOf(name, 'AboveCap')).toMatchObject([{ type: 'Warning', message: above.message }])
    expect(await stage.eventsOf(name, 'WithinCap')).toMatchObject([{ type: 'Normal' }])
    expect(await stage.eventsOf(name, 'WrongVictim')).toEqual([])
  })

  it('does not scale while paused: draining workers finish their jobs and stay', async () => {
    await using pool = await saturate(stage, 'frozen', { workers: WORKERS, jobMs: JOB_MS, spec: saturatedBy() })
    const capped = saturatedBy({ cost: { hourlyCap: CAP, mode: 'Hard' } })
    await stage.apply('frozen', capped)
    await until(() => pool.fenced().length >= WORKERS - CAP)
    const paused = { reason: 'an audit', until: new Date(Date.now() + 600_000).toISOString() }
    await stage.apply('frozen', { ...capped, paused })
    await until(async () => (await stage.conditionOf('frozen', 'Paused'))?.status === 'True')
    const [pods, fenced] = [stage.podsOf('frozen'), pool.fenced()]
    await sleep(2 * JOB_MS)
    expect(stage.podsOf('frozen')).toEqual(pods)
    expect(pool.fenced()).toEqual(fenced)
    expect(fenced.filter((pod) => stage.workers.isBusy(pod))).toEqual([])
    expect(await stage.conditionOf('frozen', 'Ready')).toMatchObject({ status: 'False', reason: 'Paused' })
    await stage.apply('frozen', capped)
    await until(() => stage.podsOf('frozen').length === CAP)
    expect(stage.workers.interrupted).toEqual([])
  })

  it('keeps workers that a rollback makes current again, even draining ones', async () => {
    const of = (image: string) => fixed(6, image, { maxSurge: 0, maxUnavailable: 2 })
    await stage.apply('back', of('drape/worker:1'))
    await stage.untilReady('back', 6)
    const first = stage.podsOf('back')
    for (const pod of first) await until(() => stage.workers.work(pod))
    await stage.apply('back', of('drape/worker:2'))
    const leaving = await until(() => {
      const found = first.filter((pod) => !stage.workers.takesJobs(pod))
      return found.length === 2 && found
    })
    const [gone, kept] = leaving
    stage.workers.finish(gone)
    const updated = await until(() => stage.podsOf('back').find((pod) => !first.includes(pod)))
    await until(() => stage.workers.work(updated))

    await stage.apply('back', of('drape/worker:1'))
    await until(() => stage.workers.takesJobs(kept) && !stage.workers.takesJobs(updated))
    stage.workers.finish(updated)
    await until(() => !stage.podsOf('back').includes(updated))
    await stage.untilReady('back', 6)
    expect(stage.podsOf('back').filter((pod) => first.includes(pod))).toEqual(
      expect.arrayContaining(first.filter((pod) => pod !== gone)),
    )
    expect(stage.podsOf('back').filter((pod) => !stage.workers.takesJobs(pod))).toEqual([])
    expect(stage.workers.interrupted).toEqual([])
    for (const pod of first) stage.workers.finish(pod)
    await stage.remove('back')
  })

  it('interrupts no job when its image changes back and forth while it scales down', async () => {
    const of = (replicas: number, image: string) => fixed(replicas, image, {}, { removeBusy: true })
    await using pool = await saturate(stage, 'both', { workers: 8, jobMs: JOB_MS, spec: of(8, 'drape/worker:1') })
    for (const [replicas, image] of [
      [3, 'drape/worker:2'],
      [3, 'drape/worker:1'],
      [6, 'drape/worker:2'],
      [2, 'drape/worker:1'],
    ] as const) {
      await stage.apply('both', of(replicas, image))
      await until(() => pool.fenced().length > 0)
      await sleep(JOB_MS / 2)
    }
    await stage.untilReady('both', 2)
    await until(() => pool.fenced().length === 0)
    expect(await stage.statusOf('both')).toMatchObject({ replicas: 2, updatedReplicas: 2 })
    expect(stage.workers.interrupted).toEqual([])
    expect(await stage.eventsOf('both', 'WrongVictim')).toEqual([])
  })
})

describe.skipIf(!controlPlane?.hasControllers)('an API server that refuses all requests for 20 s', () => {
  it('delays a smaller pool, interrupts no job, and is asked no more often than it allows', async () => {
    if (controlPlane === null) return
    await using line = await startLine(controlPlane)
    const kubeconfig = await writeKubeconfig(controlPlane, { server: line.url })
    await using stage = await startPoolStage(controlPlane, { env: async () => ({ KUBECONFIG: kubeconfig }) })
    const of = (replicas: number) => fixed(replicas, 'drape/worker:1', {}, { removeBusy: true })
    await using pool = await saturate(stage, 'waiting', { workers: 12, jobMs: 3000, spec: of(12) })
    line.refuse(true)
    await stage.apply('waiting', of(CAP))
    await sleep(20_000)
    expect(stage.podsOf('waiting')).toHaveLength(12)
    expect(line.refused()).toBeGreaterThan(0)
    // The election of a leader asks every second.
    expect(line.refused()).toBeLessThan(100)
    line.refuse(false)
    await stage.untilReady('waiting', CAP)
    expect(pool.busy()).toHaveLength(CAP)
    expect(stage.workers.interrupted).toEqual([])
    expect(await stage.eventsOf('waiting', 'WrongVictim')).toEqual([])
  })
})

/** A way to the API server on which it can answer as if it had too many requests; watches that are open continue, as there. */
async function startLine(controlPlane: ControlPlane) {
  let [isRefusing, refused] = [false, 0]
  const server = createServer((asked, answer) => {
    if (isRefusing) {
      refused++
      const body = { kind: 'Status', apiVersion: 'v1', status: 'Failure', reason: 'TooManyRequests', code: 429 }
      answer.writeHead(429, { 'retry-after': '1', 'content-type': 'application/json' }).end(JSON.stringify(body))
      return
    }
    const { method, headers, url = '' } = asked
    const passed = request(new URL(url, controlPlane.server), { method, headers, ca: controlPlane.certificate })
    passed.on('error', () => answer.destroy())
    passed.on('response', (response) => {
      answer.writeHead(response.statusCode ?? 502, response.headers)
      response.pipe(answer)
      response.on('error', () => answer.destroy())
      answer.on('close', () => response.destroy())
    })
    asked.pipe(passed)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    refuse: (value: boolean) => {
      isRefusing = value
    },
    refused: () => refused,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections()
      server.close()
    },
  }
}

function fixed(replicas: number, image: string, rollout: object, drain: object = {}) {
  return {
    engines: ['mock'],
    replicas,
    scaling: { mode: 'Fixed' },
    rollout,
    drain,
    template: { ...template, image },
  }
}
