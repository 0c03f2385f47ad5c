import { setTimeout } from 'node:timers/promises'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { createPoolRegistry, type WorkerReport } from '../../../api/shared/engines/pool-registry.ts'
import { createRedis, type Redis } from '../../../api/shared/queue/redis.ts'
import { createLog } from '../../../api/shared/telemetry/log.ts'
import { announceWorker, joinPool } from '../../../worker/job/registry.ts'
import { createTestRedis } from '../../support/redis.ts'
import { until } from '../../support/until.ts'

const log = createLog({ process: 'test', level: 'silent' })
let redis: Redis

beforeEach(async () => {
  const url = await createTestRedis()
  redis = createRedis(url, { role: 'consumer', log })
  await until(() => redis.isReady())
  // No heartbeat and no poll happens by itself.
  vi.useFakeTimers({ toFake: ['setInterval'] })
})
afterEach(async () => {
  vi.useRealTimers()
  await redis.close()
})

it('a worker is announced once, as soon as it is ready', async () => {
  let canWork = false
  let arrivals = 0
  const announcement = announceWorker({
    redis,
    worker: 'fresh',
    queues: ['try-on'],
    engines: ['mock'],
    slots: 2,
    log,
    canWork: () => canWork,
    findManifests: () => [],
    onArrival: () => arrivals++,
  })
  await announcement.renew()
  expect([await redis.countSlots('try-on'), arrivals]).toEqual([0, 0])
  canWork = true
  await announcement.renew()
  await announcement.renew()
  expect([await redis.countSlots('try-on'), arrivals]).toEqual([2, 1])
  canWork = false
  await announcement.renew()
  canWork = true
  await announcement.renew()
  expect(arrivals).toBe(2)
  await announcement.withdraw()
  expect(await redis.countSlots('try-on')).toBe(0)
})

it('an invalid worker report is ignored, and hides no other worker', async () => {
  const registry = createPoolRegistry(redis)
  const report = {
    state: 'taking',
    fence: null,
    jobs: 0,
    slots: 1,
    provider: 'cpu',
    engines: ['mock'] as string[],
    idleSince: null,
  } as const
  await registry.report({ host: 'honest', ...report })
  const sick = { reason: 'DeviceError', message: '', since: 1e18 }
  await registry.report({ host: 'timeless', ...report, sick })
  await registry.report({ host: 'broken', ...report })
  await redis.client.set('drape:pool-worker:broken', '{')
  expect([...(await registry.findWorkers()).keys()]).toEqual(['honest'])
})

it('a report is found until Redis expires it, also by a reader whose clock is wrong', async () => {
  const registry = createPoolRegistry(redis)
  const report = {
    state: 'taking',
    fence: null,
    jobs: 0,
    slots: 1,
    provider: 'cpu',
    engines: ['mock'] as string[],
    idleSince: null,
  } as const
  // Both may have the same score.
  const findListed = async () => (await redis.client.zRange('drape:pool-workers', 0, -1)).sort()
  await registry.report({ ...report, host: 'kept' })
  await registry.report({ ...report, host: 'expired' })
  await redis.client.del('drape:pool-worker:expired')
  const now = vi.spyOn(Date, 'now').mockReturnValue(Date.now() + 3_600_000)
  const hosts = [...(await registry.findWorkers()).keys()]
  now.mockRestore()
  expect(hosts).toEqual(['kept'])
  expect(await findListed()).toEqual(['expired', 'kept'])
  // The controller drops the name of one that crashed more than an hour ago.
  await redis.client.zAdd('drape:pool-workers', { value: 'expired', score: Date.now() - 3_601_000 })
  await registry.forgetLost()
  expect(await findListed()).toEqual(['kept'])
})

it('a reader learns of changed, silent, returned and forgotten workers without reading all reports again', async () => {
  const [writer, reader] = [createPoolRegistry(redis), createPoolRegistry(redis)]
  const report: Omit<WorkerReport, 'host'> = {
    state: 'taking',
    fence: null,
    jobs: 0,
    slots: 1,
    provider: 'cpu',
    engines: [],
    idleSince: null,
  }
  const jobsOf = async () =>
    Object.fromEntries([...(await reader.findWorkers())].map(([name, { jobs }]) => [name, jobs]))
  for (const host of ['a', 'b', 'c']) await writer.report({ ...report, host })
  expect(await jobsOf()).toMatchObject({ a: 0, b: 0, c: 0 })
  // Without a change nothing is read, not even this.
  await redis.client.set('drape:pool-worker:a', 'unread')
  await writer.report({ ...report, host: 'b', jobs: 1 })
  await writer.report({ ...report, host: 'c' }, { isChanged: false })
  expect(await jobsOf()).toMatchObject({ a: 0, b: 1, c: 0 })
  await redis.client.zAdd('drape:pool-workers', { value: 'c', score: Date.now() - 11_000 })
  expect(await jobsOf()).not.toHaveProperty('c')
  await writer.report({ ...report, host: 'c' }, { isChanged: false })
  await writer.forget('b')
  const left = await jobsOf()
  expect(left).toMatchObject({ a: 0, c: 0 })
  expect(left).not.toHaveProperty('b')
  // A Redis that lost its data, and needs longer than the millisecond that numbers changes to be back.
  await redis.client.flushDb()
  await setTimeout(2)
  await writer.report({ ...report, host: 'd' })
  expect(await jobsOf()).toEqual({ d: 0 })
})

it('an announcement is found until it expires, and the next one drops it', async () => {
  const announce = (worker: string) =>
    redis.announce({ queues: ['try-on'], engines: ['mock'], worker, slots: 1, seconds: 12 })
  await announce('crashed')
  await redis.client.zAdd('drape:workers:try-on', { value: 'mock crashed:1', score: Date.now() - 1000 })
  expect(await redis.findWorkers('try-on')).toEqual([])
  expect(await redis.client.zCard('drape:workers:try-on')).toBe(1)
  await announce('next')
  expect(await redis.client.zRange('drape:workers:try-on', 0, -1)).toEqual(['mock next:1'])
})

it('an unknown order or limit is ignored', async () => {
  const registry = createPoolRegistry(redis)
  for (const word of ['hibernate', '', '-1', 'NaN']) {
    await redis.client.set('drape:pool-word:host', word)
    await redis.client.set('drape:pool-job-limit:host', word)
    expect([await registry.readOrder('host'), await registry.readJobLimit('host')], word).toEqual([null, null])
  }
  await registry.order('host', 4711)
  await registry.limitJobs('host', 0)
  expect([await registry.readOrder('host'), await registry.readJobLimit('host')]).toEqual([4711, 0])
})

it('a pool worker reads its order before the first poll is due', async () => {
  const registry = createPoolRegistry(redis)
  await registry.order('fresh', 'take')
  let changes = 0
  const membership = joinPool({
    registry,
    host: 'fresh',
    facts: { slots: 1, provider: 'cuda', engines: ['mock'] },
    consumers: [],
    log,
    findSickness: () => null,
    findDownloadSeconds: () => 12.5,
    onChange: () => changes++,
    handBack: () => {},
  })
  expect(membership.mayTake()).toBe(false)
  await until(() => changes === 1)
  expect(membership.mayTake()).toBe(true)
  expect((await registry.findWorkers()).get('fresh')).toMatchObject({
    state: 'taking',
    slots: 1,
    provider: 'cuda',
    engines: ['mock'],
    downloadSeconds: 12.5,
  })
  await membership.leave()
})

it('a draining worker returns its jobs after their remaining time, unless released', async () => {
  const registry = createPoolRegistry(redis)
  let returned = 0
  const membership = joinPool({
    registry,
    host: 'ending',
    facts: { slots: 1, provider: 'cpu', engines: [] },
    consumers: [],
    log,
    findSickness: () => null,
    findDownloadSeconds: () => null,
    onChange: () => {},
    handBack: () => returned++,
  })
  const look = async (limitMs: number | null) => {
    await registry.limitJobs('ending', limitMs)
    const read = vi.spyOn(registry, 'readJobLimit')
    // A running poll skips the next one.
    await until(() => {
      vi.advanceTimersByTime(1000)
      return read.mock.results.length > 0
    })
    await read.mock.results[0].value
    read.mockRestore()
  }
  await registry.order('ending', 4711)
  await look(3_600_000)
  // Withdrawn: only then can the next limit replace it.
  await look(null)
  await look(0)
  await until(() => returned === 1)
  await membership.leave()
})
