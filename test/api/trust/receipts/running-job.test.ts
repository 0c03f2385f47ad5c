import { afterAll, describe, expect, it } from 'vitest'
import { sql } from '../../../../api/shared/database/database.ts'
import { createRedis } from '../../../../api/shared/queue/redis.ts'
import { createLog } from '../../../../api/shared/telemetry/log.ts'
import { shrink, startDrape } from '../../../support/drape.ts'
import { until } from '../../../support/until.ts'

describe('a worker whose customer is erased during a job', async () => {
  const drape = await startDrape({ defaultEngines: true })
  await drape.startWorker()
  const redis = createRedis(drape.env.REDIS_URL, {
    role: 'producer',
    log: createLog({ process: 'test', level: 'silent' }),
  })
  afterAll(async () => {
    await redis.close()
    await drape.stop()
  })

  it('stops, stores nothing, and the receipt waits for it', async () => {
    const [me, shirt] = [
      await shrink('scripts/samples/persons/down-half-teal.jpg'),
      await shrink('scripts/samples/garments/tshirt-navy.jpg'),
    ]
    const id = await drape.tryOn(
      {
        products: [{ externalId: 'shirt', images: [{ source: { fileKey: 'shirt' } }] }],
        person: { image: { source: { fileKey: 'me' } } },
        externalUserId: 'drawn',
        output: { engine: 'warp' },
      },
      { shirt, me },
    )
    const statusOf = async () => (await drape.call('GET', `/tryon/v1/generations/${id}`)).body.status
    await until(async () => (await statusOf()) === 'PROCESSING')
    const answer = await drape.call('DELETE', '/tryon/v1/customers/drawn')
    const path = answer.headers.get('location') ?? ''
    // A worker keeps the lock of its job until it has dropped the photo.
    const countLocks = async () => (await redis.client.keys('bull:try-on*:lock')).length
    expect(await countLocks()).toBe(1)
    await until(async () => {
      // Replaces the lifetime of caches, and the time after which no upload can arrive.
      await drape.database.query(sql.unsafe`update objects set created_at = created_at - interval '11 minutes'`)
      await drape.database.query(sql.unsafe`
        update erasures set cached_until = now(), check_at = now() where issued_at is null`)
      const isLocked = (await countLocks()) > 0
      const { status } = (await drape.call('GET', path)).body
      if (isLocked && status === 'ISSUED') throw new Error('The receipt did not wait for the worker')
      return status === 'ISSUED'
    })
    expect((await drape.call('GET', path)).body.receipt.statement).toMatchObject({
      ...{ cancelledJobs: 1, objects: { byKind: { person: expect.any(Number) } } },
    })
    expect(await statusOf()).toBe('FAILED')
    const results = await drape.database.any(sql.unsafe`select key from objects where kind = 'result'`)
    expect(results).toEqual([])
  })
})
