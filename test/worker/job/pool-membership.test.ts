import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { hostname } from 'node:os'
import { afterAll, describe, expect, it } from 'vitest'
import { Type } from '../../../api/shared/contract/schema.ts'
import { rowType, sql } from '../../../api/shared/database/database.ts'
import { createPoolRegistry } from '../../../api/shared/engines/pool-registry.ts'
import { createRedis } from '../../../api/shared/queue/redis.ts'
import { createLog } from '../../../api/shared/telemetry/log.ts'
import { readSample, readSmallPerson, startDrape } from '../../support/drape.ts'
import { linesOf } from '../../support/process.ts'
import { until } from '../../support/until.ts'

const AttemptRow = rowType(Type.Object({ status: Type.String(), attempt: Type.Integer() }))

describe('a worker of a pool', async () => {
  /** Responds to no request. */
  const images = createServer(() => {})
  const portOf = (server: typeof images) => String((server.address() as AddressInfo).port)

  images.listen(0, '127.0.0.1')
  await once(images, 'listening')
  const drape = await startDrape({ env: { POOL: 'default/small', FETCH_ALLOW_PORTS: portOf(images) } })
  const worker = await drape.startWorker()
  const redis = createRedis(drape.env.REDIS_URL, {
    role: 'consumer',
    log: createLog({ process: 'test', level: 'silent' }),
  })
  const registry = createPoolRegistry(redis)
  afterAll(async () => {
    await redis.close()
    await drape.stop()
    images.closeAllConnections()
    images.close()
  })

  const reported = async () => (await registry.findWorkers()).get(hostname())
  const tryOn = async () =>
    drape.tryOn(
      {
        products: [{ images: [{ source: { fileKey: 'shirt' } }] }],
        person: { image: { source: { fileKey: 'me' } } },
        output: { engine: 'mock' },
      },
      { me: await readSmallPerson(), shirt: await readSample('garments/tshirt-navy.jpg') },
    )

  it('reports its state', async () => {
    const report = await until(reported)
    expect(report).toMatchObject({ state: 'taking', fence: null, jobs: 0, slots: 1 })
    expect(report.idleSince).toBeLessThanOrEqual(Date.now())
  })

  it('takes no job while drained, even if Redis loses the order, until released', async () => {
    await drape.finish(await tryOn())
    await registry.order(hostname(), 4711)
    await until(async () => (await reported())?.state === 'drained')
    expect(await reported()).toMatchObject({ fence: 4711, jobs: 0 })
    await redis.client.del(`drape:pool-word:${hostname()}`)
    const id = await tryOn()
    // A worker without a fence would announce its slots again within 100 ms.
    await until(async () => (await redis.countSlots('try-on')) === 0)
    expect(await reported()).toMatchObject({ state: 'drained', fence: 4711, jobs: 0 })
    await registry.order(hostname(), 'take')
    await drape.finish(id)
    expect(await until(reported)).toMatchObject({ fence: null })
  })

  it('returns its job without using an attempt when its node shuts down first', async () => {
    // A product image that never arrives keeps the job running.
    const url = `http://127.0.0.1:${portOf(images)}/shirt.jpg`
    const asked = once(images, 'request')
    const id = await drape.tryOn(
      {
        products: [{ images: [{ source: { url } }] }],
        person: { image: { source: { fileKey: 'me' } } },
        output: { engine: 'mock' },
      },
      { me: await readSmallPerson() },
    )
    await asked
    await until(async () => (await reported())?.jobs === 1)
    await registry.limitJobs(hostname(), 0)
    await registry.order(hostname(), 4712)
    await until(async () => (await reported())?.state === 'drained')
    const found = await drape.database.one(
      sql.type(AttemptRow)`select status, attempt from generations where id = ${id}`,
    )
    expect(found).toEqual({ status: 'PENDING', attempt: 1 })
  })

  it('ends by plan while it drains', async () => {
    // The job that was returned is taken again, and its image does not arrive.
    await registry.limitJobs(hostname(), null)
    await registry.order(hostname(), 'take')
    const asked = once(images, 'request')
    await until(async () => (await reported())?.jobs === 1)
    await asked
    await registry.order(hostname(), 4713)
    await until(async () => (await reported())?.state === 'draining')
    const ended = worker.end('SIGTERM')
    await until(() => linesOf(worker.output()).some(({ msg }) => msg === 'stopping'))
    images.closeAllConnections()
    expect(await ended).toBe(0)
    expect(linesOf(worker.output()).filter(({ level }) => ['error', 'fatal'].includes(level))).toEqual([])
  })
})
