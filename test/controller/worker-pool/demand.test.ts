import { expect, it } from 'vitest'
import { createDatabase } from '../../../api/shared/database/database.ts'
import { createConsumer, createJobQueue } from '../../../api/shared/queue/queue.ts'
import { createRedis } from '../../../api/shared/queue/redis.ts'
import { createLog } from '../../../api/shared/telemetry/log.ts'
import { PREPARE_QUEUE, readDemand } from '../../../controller/worker-pool/demand.ts'
import { createTestDatabase } from '../../support/postgres.ts'
import { createTestRedis } from '../../support/redis.ts'
import { until } from '../../support/until.ts'

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
