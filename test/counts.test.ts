import { setTimeout as sleep } from 'node:timers/promises'
import { createClient } from 'redis'
import { afterEach, describe, expect, it } from 'vitest'
import { createDatabase, rowType, sql } from '../api/shared/database/database.ts'
import { Type } from '../api/shared/schema.ts'
import { formOf, readSample, readSmallPerson, startDrape } from './support/drape.ts'
import { monitorRedis } from './support/monitor.ts'
import { createTestDatabase } from './support/postgres.ts'
import { startProgram } from './support/process.ts'
import { startOwnRedis } from './support/redis.ts'
import { requestService } from './support/request-service.ts'
import { until } from './support/until.ts'

const Count = rowType(Type.Object({ count: Type.Integer() }))

/** What the design may cost, counted instead of timed. */
describe('the cost of jobs and workers', () => {
  const undo: (() => unknown)[] = []
  afterEach(async () => {
    for (const step of undo.splice(0).reverse()) await step()
  })

  async function startRedis() {
    const redis = await startOwnRedis()
    undo.push(() => redis.kill())
    const monitor = await monitorRedis(redis.url)
    undo.push(() => monitor.close())
    return { redis, monitor }
  }

  it('is at most 12 Redis commands per finished job', async () => {
    const { redis, monitor } = await startRedis()
    const drape = await startDrape({ env: { REDIS_URL: redis.url } })
    undo.push(() => drape.stop())
    await drape.startWorker({ ENGINES: 'mock', QUEUES: 'try-on' })
    const [me, shirt] = [await readSmallPerson(), await readSample('garments/tshirt-navy.jpg')]
    const form = formOf(undefined, { file: me })
    form.set('crop', 'false')
    const { body: photo } = await drape.call('POST', '/tryon/v1/images/upload', { body: form })
    const product = { products: [{ externalId: 'shirt', images: [{ source: { fileKey: 'shirt' } }] }] }
    const person = { image: { source: { id: photo.imageId } } }
    await drape.finish(await drape.tryOn({ ...product, person, output: { engine: 'mock' } }, { shirt }))
    monitor.take()
    const jobs = 60
    const body = { products: [{ externalId: 'shirt' }], person, output: { engine: 'mock' } }
    await Promise.all(Array.from({ length: jobs }, () => drape.call('POST', '/tryon/v1/try-on', { body })))
    await until(async () => {
      const open = await drape.database.oneFirst(sql.type(Count)`
        select count(*) as count from generations where status in ('PENDING', 'PROCESSING')`)
      return open === 0
    })
    expect(monitor.take().length / jobs).toBeLessThanOrEqual(12)
  })

  it('is at most 3 Redis connections, 1 Postgres connection and a command every 2 seconds for an idle worker', async () => {
    const { redis, monitor } = await startRedis()
    const [testDatabase, folder] = await Promise.all([createTestDatabase(), requestService('folder', null)])
    undo.push(testDatabase.drop)
    const worker = await startProgram('worker', {
      DATABASE_URL: `${testDatabase.url}?application_name=counted`,
      REDIS_URL: redis.url,
      STORAGE_URL: `file:${folder.path}`,
      ENGINES: 'mock',
    })
    undo.push(() => worker.end())
    const database = createDatabase(testDatabase.url, { poolSize: 1 })
    undo.push(() => database.end())
    const client = await createClient({ url: redis.url }).connect()
    undo.push(() => client.close())

    const sessions = await database.oneFirst(sql.type(Count)`
      select count(*) as count from pg_stat_activity where application_name = 'counted'`)
    expect(sessions).toBeLessThanOrEqual(1)
    // Of the others one asks here and one watches.
    expect((await client.clientList()).length - 2).toBeLessThanOrEqual(3)
    // What a start sends has been sent by then.
    await sleep(3000)
    monitor.take()
    const seconds = 30
    await sleep(seconds * 1000)
    expect(monitor.take().length).toBeLessThanOrEqual(seconds / 2)
  })
})
