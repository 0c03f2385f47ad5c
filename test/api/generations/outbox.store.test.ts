import { afterAll, beforeEach, describe, expect, it } from 'vitest'
import { createAccounts } from '../../../api/accounts/accounts.store.ts'
import { acceptGeneration } from '../../../api/generations/acceptance.store.ts'
import { createOutbox, MAX_STEP_BACK_SECONDS } from '../../../api/generations/outbox.store.ts'
import { Type } from '../../../api/shared/contract/schema.ts'
import { createDatabase, type Database, rowType, sql } from '../../../api/shared/database/database.ts'
import { DEMAND_CHANNEL, type TryOnJob, TryOnJobSchema } from '../../../api/shared/generations/generation.ts'
import { createGenerations } from '../../../api/shared/generations/generations.store.ts'
import { listenDatabase } from '../../../controller/listen-database.ts'
import { createRandom } from '../../faults/support/random.ts'
import { createLink } from '../../faults/support/tcp-proxy.ts'
import { type Caller, callOf, createCaller } from '../../support/accepted.ts'
import { createTestDatabase } from '../../support/postgres.ts'
import { until } from '../../support/until.ts'

const Name = rowType(Type.Object({ name: Type.String() }))
const Payload = rowType(Type.Object({ payload: TryOnJobSchema }))
const LANE = { queue: 'try-on.warp', engines: ['warp'] }

describe('the outbox', () => {
  let database: Database
  let url: string
  const undo: (() => Promise<void>)[] = []

  beforeEach(async () => {
    const made = await createTestDatabase()
    url = made.url
    database = createDatabase(made.url, { poolSize: 10 })
    const current = database
    undo.unshift(() => current.end(), made.drop)
  })
  afterAll(async () => {
    for (const step of undo) await step()
  })

  async function accept(count: number): Promise<string> {
    const caller = await createCaller(database, count)
    for (let i = 0; i < count; i++) await acceptGeneration(database, callOf(caller))
    return caller.accountId
  }

  /** Jobs that a relay takes for a queue without a limit, as workers get them. */
  async function claim(limit: number): Promise<TryOnJob[]> {
    const { jobs } = await createOutbox(database).claim({ ...LANE, limit, depth: 1000 })
    return Promise.all(jobs.map(readPayload))
  }

  const readPayload = ({ generationId }: { generationId: string }) =>
    database.oneFirst(sql.type(Payload)`select payload from outbox where generation_id = ${generationId}`)

  it('hands out every job once, even to concurrent relays', async () => {
    await accept(30)
    const claims = await Promise.all(Array.from({ length: 6 }, () => claim(10)))
    const rest = await claim(100)
    const ids = [...claims.flat(), ...rest].map((job) => job.generationId)
    expect(ids).toHaveLength(30)
    expect(new Set(ids).size).toBe(30)
  })

  it('has no column that statements could confuse with a column of generations', async () => {
    const shared = await database.anyFirst(sql.type(Name)`
      select column_name as name from information_schema.columns where table_name in ('outbox', 'generations')
      group by column_name having count(*) > 1 order by column_name`)
    expect(shared).toEqual(['account_id', 'created_at'])
  })

  it('alternates between accounts', async () => {
    const busy = await accept(40)
    const quiet = await accept(2)
    const first = await claim(4)
    expect(first.map((job) => job.accountId)).toEqual([busy, quiet, busy, quiet])
  })

  it('counts the queued jobs of an account', async () => {
    const busy = await accept(40)
    await claim(10)
    const quiet = await accept(3)
    const next = await claim(3)
    expect(next.map((job) => job.accountId)).toEqual([quiet, quiet, quiet])
    expect(busy).not.toBe(quiet)
  })

  describe('with batch work', () => {
    const label = ({ accountId }: { accountId: string }, jobs: readonly TryOnJob[], batch: ReadonlySet<string>) =>
      jobs.map(
        (job) =>
          (batch.has(job.generationId) ? 'batch' : 'interactive') + (job.accountId === accountId ? '' : ' of another'),
      )

    async function acceptBatch(caller: Caller, count: number): Promise<Set<string>> {
      const calls = Array.from({ length: count }, () => callOf(caller, { isBatch: true }))
      for (const call of calls) await acceptGeneration(database, call)
      return new Set(calls.map(({ generationId }) => generationId))
    }

    it('takes interactive jobs of an account first, in any order of arrival', async () => {
      const caller = await createCaller(database, 40)
      const batch = await acceptBatch(caller, 20)
      for (let i = 0; i < 3; i++) await acceptGeneration(database, callOf(caller))
      const first = ['interactive', 'interactive', 'interactive', 'batch', 'batch']
      expect(label(caller, await claim(5), batch)).toEqual(first)
      await acceptGeneration(database, callOf(caller))
      expect(label(caller, await claim(2), batch)).toEqual(['interactive', 'batch'])
    })

    it('lets no shopper wait behind batch jobs in the lane or of another account, and keeps the shares', async () => {
      const [caller, other] = [await createCaller(database, 40), await createCaller(database, 40)]
      const batch = await acceptBatch(caller, 10)
      await claim(4)
      for (const id of await acceptBatch(other, 10)) batch.add(id)
      await acceptGeneration(database, callOf(caller))
      expect(label(caller, await claim(1), batch)).toEqual(['interactive'])
      // 5 jobs of the first account are in the lane, so the other account has the next turns.
      expect(label(caller, await claim(5), batch)).toEqual(Array(5).fill('batch of another'))
      for (let i = 0; i < 6; i++) await acceptGeneration(database, callOf(other))
      const turns = (await claim(4)).map(({ accountId }) => accountId)
      expect(turns.filter((accountId) => accountId === other.accountId)).toHaveLength(4)
    })

    it('continues with one batch job at a time while interactive jobs keep arriving', async () => {
      const caller = await createCaller(database, 60)
      const batch = await acceptBatch(caller, 3)
      const takeOne = async () => {
        await acceptGeneration(database, callOf(caller))
        return claim(1)
      }
      expect(label(caller, await takeOne(), batch)).toEqual(['interactive'])
      await database.query(sql.unsafe`
        update outbox set created_at = created_at - make_interval(secs => ${MAX_STEP_BACK_SECONDS}) where is_batch`)
      const taken: TryOnJob[] = []
      for (let i = 0; i < 6; i++) taken.push(...(await takeOne()))
      const [first] = taken.filter(({ generationId }) => batch.has(generationId))
      expect(label(caller, taken, batch).filter((name) => name === 'batch')).toHaveLength(1)
      await database.query(sql.unsafe`delete from outbox where generation_id = ${first.generationId}`)
      for (let i = 0; i < 6; i++) taken.push(...(await takeOne()))
      expect(label(caller, taken, batch).filter((name) => name === 'batch')).toHaveLength(2)
    })
  })

  it('takes only jobs for the engines of the lane, and alternates between these engines', async () => {
    const caller = await createCaller(database, 60)
    for (let i = 0; i < 30; i++) await acceptGeneration(database, callOf(caller))
    for (const engine of ['mock', 'mock', 'studio'] as const)
      await acceptGeneration(database, callOf(caller, { engine, cost: 0 }))
    const outbox = createOutbox(database)
    const lane = { queue: 'try-on.mock,warp', engines: ['mock', 'warp'], depth: 1000 }
    const enginesOf = async (limit: number) => (await outbox.claim({ ...lane, limit })).jobs.map(({ engine }) => engine)
    expect((await enginesOf(2)).sort()).toEqual(['mock', 'warp'])
    expect((await enginesOf(3)).sort()).toEqual(['mock', 'warp', 'warp'])
    expect(await enginesOf(1000)).toEqual(Array(27).fill('warp'))
    const other = { queue: 'try-on.studio', engines: ['studio'], limit: 10, depth: 1 }
    expect((await outbox.claim(other)).jobs).toHaveLength(1)
  })

  it('never queues more than the limit, even with several relays and repeated calls', async () => {
    await accept(20)
    const outbox = createOutbox(database)
    expect(await outbox.claim({ ...LANE, limit: 500, depth: 4 })).toMatchObject({ jobs: { length: 4 }, room: 0 })
    expect(await outbox.claim({ ...LANE, limit: 500, depth: 4 })).toEqual({ jobs: [], problems: [], room: 0 })
    const [first] = (await outbox.claim({ ...LANE, limit: 1, depth: 6 })).jobs
    await createGenerations(database).start({ id: first.generationId, attempt: 1, worker: 'w' })
    expect(await outbox.claim({ ...LANE, limit: 500, depth: 6 })).toMatchObject({ jobs: { length: 2 }, room: 0 })
  })

  it('contains the minimum quality of the account', async () => {
    const caller = await createCaller(database, 2)
    for (const minQualityPercent of [100, 29]) {
      await createAccounts(database).update(caller.accountId, { settings: { minQualityPercent } })
      await acceptGeneration(database, callOf(caller))
    }
    expect((await claim(10)).map(({ minQuality }) => minQuality)).toEqual([1, 0.29])
  })

  it('reports an invalid job, and continues with the others', async () => {
    await accept(1)
    await database.query(sql.unsafe`update outbox set payload = payload || '{"attempt": "first"}'`)
    const other = await accept(1)
    const { jobs, problems } = await createOutbox(database).claim({ ...LANE, limit: 10, depth: 1000 })
    expect(await Promise.all(jobs.map(readPayload))).toMatchObject([{ accountId: other }])
    expect(problems).toEqual([expect.stringContaining('attempt must be a whole number')])
  })

  it('hands out what the queue holds, and nothing about persons', async () => {
    await accept(1)
    await database.query(sql.unsafe`
      update outbox set payload = payload || '{"attempt": 2, "failedOn": ["w"], "traceparent": "00-1-2-01"}'`)
    const { jobs } = await createOutbox(database).claim({ ...LANE, limit: 1, depth: 1 })
    const generationId = expect.stringMatching(/^gen_/)
    expect(jobs).toEqual([{ generationId, attempt: 2, engine: 'warp', failedOn: ['w'], traceparent: '00-1-2-01' }])
  })

  it('holds jobs until they are due, and returns released jobs', async () => {
    await accept(3)
    const outbox = createOutbox(database)
    await database.query(sql.unsafe`
      update outbox set available_at = now() + interval '1 hour'
      where generation_id = (select min(generation_id) from outbox)`)
    const jobs = await claim(10)
    expect(jobs).toHaveLength(2)
    await outbox.release([jobs[0].generationId])
    expect((await claim(10)).map((job) => job.generationId)).toEqual([jobs[0].generationId])
  })

  it('finds jobs that were handed over long ago and never started, oldest first', async () => {
    await accept(5)
    const outbox = createOutbox(database)
    const [oldest, older, recent, started] = (await claim(4)).map(({ generationId }) => generationId)
    const age = (id: string, seconds: number) =>
      database.query(sql.unsafe`
        update outbox set dispatched_at = now() - make_interval(secs => ${seconds}) where generation_id = ${id}`)
    for (const [id, seconds] of [
      [oldest, 90],
      [older, 60],
      [recent, 5],
      [started, 90],
    ] as const)
      await age(id, seconds)
    await createGenerations(database).start({ id: started, attempt: 1, worker: 'w' })
    const find = async (limit: number) =>
      (await outbox.findUnstarted(30, limit)).map(({ generationId, attempt, queue }) => [generationId, attempt, queue])
    expect(await find(10)).toEqual([oldest, older].map((id) => [id, 1, LANE.queue]))
    expect(await find(1)).toEqual([[oldest, 1, LANE.queue]])
  })

  it('notifies the controller', async () => {
    const listening = Promise.withResolvers<void>()
    let notified = 0
    const listener = listenDatabase(url, DEMAND_CHANNEL, {
      onNotify: () => {
        notified += 1
        listening.resolve()
      },
      onFault: listening.reject,
    })
    // It is also called when it starts to listen.
    await listening.promise
    await createOutbox(database).notifyDemand()
    await until(() => notified === 2)
    expect(listener.isListening()).toBe(true)
    await listener.stop()
  })

  it('lets the controller poll while no notification arrives, and listen again', async () => {
    const link = await createLink(Number(new URL(url).port), createRandom(1))
    const lined = Object.assign(new URL(url), { port: String(link.port) }).href
    const faults: unknown[] = []
    let notified = 0
    const listener = listenDatabase(lined, DEMAND_CHANNEL, {
      onNotify: () => {
        notified += 1
      },
      onFault: (error) => faults.push(error),
    })
    await until(() => listener.isListening())
    link.injectFaults({ partitioned: true })
    await until(() => !listener.isListening())
    expect(faults).toEqual([expect.objectContaining({ message: 'Postgres delivers no notifications' })])
    const before = notified
    await until(() => notified > before)
    link.injectFaults()
    await until(() => listener.isListening())
    await listener.stop()
    await link.close()
  })
})
