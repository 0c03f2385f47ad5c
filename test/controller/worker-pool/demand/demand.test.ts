import { expect, it } from 'vitest'
import { acceptGeneration } from '../../../../api/generations/acceptance.store.ts'
import { createDatabase, sql } from '../../../../api/shared/database/database.ts'
import { createConsumer, createJobQueue } from '../../../../api/shared/queue/queue.ts'
import { createRedis } from '../../../../api/shared/queue/redis.ts'
import { createLog } from '../../../../api/shared/telemetry/log.ts'
import { PREPARE_QUEUE, readDemand } from '../../../../controller/worker-pool/demand/demand.ts'
import { callOf, copyGeneration, createCaller } from '../../../support/accepted.ts'
import { createTestDatabase } from '../../../support/postgres.ts'
import { createTestRedis } from '../../../support/redis.ts'
import { until } from '../../../support/until.ts'

it('photos that wait for preparation or are being prepared count as demand', async () => {
  const [{ url }, redisUrl] = await Promise.all([createTestDatabase(), createTestRedis()])
  const database = createDatabase(url, { poolSize: 1 })
  const redis = createRedis(redisUrl, { role: 'consumer', log: createLog({ process: 'test', level: 'silent' }) })
  const queue = createJobQueue({ redis, name: 'prepare' })
  const { promise: released, resolve: release } = Promise.withResolvers<void>()
  const consumer = createConsumer({
    redis,
    name: 'prepare',
    concurrency: 1,
    handle: () => released,
    refuse: async () => null,
  })
  try {
    const look = async () => (await readDemand(database, () => redis.countJobs('prepare'))).get(PREPARE_QUEUE)
    await until(redis.isReady)
    expect(await look()).toMatchObject({ waiting: 0, inFlight: 0 })
    await queue.add(['a', 'b', 'c'].map((id) => ({ id, data: {} })))
    await consumer.setTaking(true)
    await until(async () => (await look())?.inFlight === 1)
    expect(await look()).toMatchObject({ waiting: 2, inFlight: 1 })
  } finally {
    release()
    await consumer.close()
    await queue.close()
    await redis.close()
    await database.end()
  }
})

it('the seconds of a job are those of its engine, mode and resolution, then of its engine, then of the catalogue', async () => {
  const { url, drop } = await createTestDatabase()
  const database = createDatabase(url, { poolSize: 1 })
  try {
    const caller = await createCaller(database, 10)
    const accept = async (engine: string, changes: { mode?: 'quality'; fullResolution?: boolean } = {}) => {
      const call = callOf(caller, { engine })
      await acceptGeneration(database, { ...call, options: { ...call.options, ...changes } })
      return call.generationId
    }
    const secondsOf = async (engine: string) =>
      (await readDemand(database, async () => ({ waiting: 0, inFlight: 0 }))).get(engine)?.secondsPerJob
    const complete = async (
      id: string,
      count: number,
      { seconds, minutesAgo }: { seconds: number; minutesAgo: number },
    ) => {
      const finished = Date.now() - minutesAgo * 60_000
      for (let i = 0; i < count; i++) {
        const started_at = new Date(finished - seconds * 1000)
        const finished_at = new Date(finished)
        await copyGeneration(database, id, { status: 'COMPLETED', started_at, finished_at })
      }
    }
    const slow = await accept('studio')
    expect(await secondsOf('studio')).toBe(10)
    // Completed long before hundreds of jobs of a busy engine.
    await complete(slow, 2, { seconds: 30, minutesAgo: 60 })
    const quick = await accept('warp')
    expect(await secondsOf('warp')).toBe(3)
    await complete(quick, 201, { seconds: 1, minutesAgo: 1 })
    expect([await secondsOf('studio'), await secondsOf('warp')]).toEqual([30, 1])
    // Two resolutions wait: the mean is of what waits, not of what completed.
    const large = await accept('studio', { fullResolution: true })
    expect(await secondsOf('studio')).toBe(30)
    await complete(large, 5, { seconds: 90, minutesAgo: 2 })
    expect(await secondsOf('studio')).toBe(60)
    // A mode that never ran takes as long as the engine's others.
    await database.query(sql.unsafe`delete from outbox`)
    await accept('studio', { mode: 'quality' })
    expect(await secondsOf('studio')).toBeCloseTo((2 * 30 + 5 * 90) / 7)
  } finally {
    await database.end()
    await drop()
  }
})
