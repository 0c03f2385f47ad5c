import { afterAll, beforeEach, describe, expect, it } from 'vitest'
import { createOutbox } from '../../../api/relay/outbox.ts'
import { createDatabase, type Database, sql } from '../../../api/shared/database.ts'
import { createGenerations } from '../../../api/shared/stores/generations.ts'
import { acceptGeneration } from '../../../api/stores/acceptance.ts'
import { callOf, createCaller } from '../../support/accepted.ts'
import { createTestDatabase } from '../../support/postgres.ts'

describe('the outbox', () => {
  let database: Database
  const undo: (() => Promise<void>)[] = []

  beforeEach(async () => {
    const made = await createTestDatabase()
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

  /** What a relay takes for a queue that may be of any depth. */
  async function claim(limit: number) {
    const { jobs } = await createOutbox(database).claim({ limit, depth: 1000 })
    return jobs
  }

  it('hands every job out once, also to relays that ask at the same time', async () => {
    await accept(30)
    const claims = await Promise.all(Array.from({ length: 6 }, () => claim(10)))
    const rest = await claim(100)
    const ids = [...claims.flat(), ...rest].map((job) => job.generationId)
    expect(ids).toHaveLength(30)
    expect(new Set(ids).size).toBe(30)
  })

  it('lets accounts take turns', async () => {
    const busy = await accept(40)
    const quiet = await accept(2)
    const first = await claim(4)
    expect(first.filter((job) => job.accountId === quiet)).toHaveLength(2)
    expect(first.filter((job) => job.accountId === busy)).toHaveLength(2)
  })

  it('counts what an account has in the queue already', async () => {
    const busy = await accept(40)
    await claim(10)
    const quiet = await accept(3)
    const next = await claim(3)
    expect(next.map((job) => job.accountId)).toEqual([quiet, quiet, quiet])
    expect(busy).not.toBe(quiet)
  })

  it('leaves no more in the queue than was asked, whoever asks and however often', async () => {
    await accept(20)
    const outbox = createOutbox(database)
    expect(await outbox.claim({ limit: 500, depth: 4 })).toMatchObject({ jobs: { length: 4 }, room: 0 })
    expect(await outbox.claim({ limit: 500, depth: 4 })).toEqual({ jobs: [], room: 0 })
    const [first] = (await outbox.claim({ limit: 1, depth: 6 })).jobs
    await createGenerations(database).start({ id: first.generationId, attempt: 1, worker: 'w' })
    expect(await outbox.claim({ limit: 500, depth: 6 })).toMatchObject({ jobs: { length: 2 }, room: 0 })
  })

  it('keeps back what is not due yet and gives back what was released', async () => {
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
})
