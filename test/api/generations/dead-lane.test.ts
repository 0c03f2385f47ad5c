import { afterAll, describe, expect, it } from 'vitest'
import { createTryOnQueues } from '../../../api/generations/try-on-queues.ts'
import { engineQueueName } from '../../../api/shared/queue/engine-queues.ts'
import { createRedis } from '../../../api/shared/queue/redis.ts'
import { createLog } from '../../../api/shared/telemetry/log.ts'
import { readSample, startDrape } from '../../support/drape.ts'
import { until } from '../../support/until.ts'

/** Time for which a worker counts as live after its last announcement. */
const SILENT_SECONDS = 12
const DEAD = { queues: ['try-on'], engines: ['mock', 'warp'], worker: 'killed-1', slots: 4 } as const

describe('the lane of a worker that was killed', async () => {
  const person = await readSample('persons/down-half-teal.jpg')
  const drape = await startDrape()
  afterAll(() => drape?.stop())

  it('returns its jobs to workers of other lanes when its announcement expires, whatever their account', async () => {
    const log = createLog({ process: 'test', level: 'silent' })
    const redis = createRedis(drape.env.REDIS_URL, { role: 'producer', log })
    await until(redis.isReady)
    await redis.announce({ ...DEAD, seconds: SILENT_SECONDS })
    const ids = await Promise.all(Array.from({ length: 4 }, tryOn))
    // The dead worker is the only one: all of them wait in its lane.
    await until(async () => (await redis.countWaiting(engineQueueName(DEAD.engines))) === 4)
    await drape.startWorker()
    for (const id of ids) expect(await drape.finish(id)).toMatchObject({ status: 'COMPLETED' })
    expect(await redis.countWaiting(engineQueueName(DEAD.engines))).toBe(0)
    expect(await createTryOnQueues(redis).findEngineQueues()).toMatchObject([{ engines: ['mock'] }])
    await redis.close()
  })

  function tryOn(): Promise<string> {
    return drape.tryOn(
      {
        products: [{ images: [{ source: { fileKey: 'me' } }] }],
        person: { image: { source: { fileKey: 'me' } } },
        output: { engine: 'mock' },
      },
      { me: person },
    )
  }
})
