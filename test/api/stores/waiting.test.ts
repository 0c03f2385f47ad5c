import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createOutbox } from '../../../api/relay/outbox.ts'
import { createDatabase, type Database, sql } from '../../../api/shared/database.ts'
import { createGenerations } from '../../../api/shared/stores/generations.ts'
import { acceptGeneration } from '../../../api/stores/acceptance.ts'
import { createWaiting } from '../../../api/stores/waiting.ts'
import { createWaitEstimate, type EstimateWait } from '../../../api/wait-estimate.ts'
import { callOf, createCaller } from '../../support/accepted.ts'
import { createTestDatabase } from '../../support/postgres.ts'

describe('the place in line', () => {
  let database: Database
  let drop: () => Promise<void>
  let estimate: EstimateWait
  let slots = 1

  beforeAll(async () => {
    const made = await createTestDatabase()
    drop = made.drop
    database = createDatabase(made.url, { poolSize: 5 })
    // Every estimate is made from a look of its own.
    estimate = (id) => createWaitEstimate({ waiting: createWaiting(database), countSlots: async () => slots })(id)
  })
  afterAll(async () => {
    await database.end()
    await drop()
  })

  async function accept(count: number): Promise<string[]> {
    const caller = await createCaller(database, count)
    const calls = Array.from({ length: count }, () => callOf(caller))
    for (const call of calls) await acceptGeneration(database, call)
    return calls.map(({ generationId }) => generationId)
  }
  const positionOf = async (id: string) => (await estimate(id))?.queuePosition ?? 0
  const clear = () => database.query(sql.unsafe`delete from outbox`)

  it('is the order in which the relay takes them, whoever they belong to', async () => {
    const ids = [...(await accept(9)), ...(await accept(4)), ...(await accept(1)), ...(await accept(6))]
    const predicted = new Map<string, number>()
    for (const id of ids) predicted.set(id, await positionOf(id))
    const outbox = createOutbox(database)
    const order: string[] = []
    while (order.length < ids.length) {
      const { jobs } = await outbox.claim({ limit: 1, depth: 100 })
      order.push(...jobs.map(({ generationId }) => generationId))
    }
    expect(order.map((id) => predicted.get(id))).toEqual(ids.map((_, i) => i + 1))
    // In the queue they stand as they were taken.
    for (const [i, id] of order.entries()) expect(await positionOf(id)).toBe(i + 1)
    await clear()
  })

  it('counts what is in the queue, but not what runs', async () => {
    const [first, second, third] = await accept(3)
    await createOutbox(database).claim({ limit: 2, depth: 100 })
    const late = (await accept(1))[0]
    expect(await Promise.all([first, second, late, third].map(positionOf))).toEqual([1, 2, 3, 4])
    await createGenerations(database).start({ id: first, attempt: 1, worker: 'w' })
    expect(await estimate(first)).toBeNull()
    expect(await Promise.all([second, late, third].map(positionOf))).toEqual([1, 2, 3])
    await clear()
  })

  it('comes with the seconds that so many generations take the workers there are', async () => {
    const ids = await accept(5)
    await database.query(sql.unsafe`
      update generations set status = 'COMPLETED', started_at = now() - interval '4 seconds', finished_at = now()
      where id = ${ids[0]}`)
    await database.query(sql.unsafe`delete from outbox where generation_id = ${ids[0]}`)
    expect((await estimate(ids[1]))?.estimatedSeconds).toBe(4)
    expect((await estimate(ids[4]))?.estimatedSeconds).toBe(16)
    slots = 2
    expect((await estimate(ids[4]))?.estimatedSeconds).toBe(10)
    slots = 0
    expect((await estimate(ids[4]))?.estimatedSeconds).toBe(16)
    await clear()
  })
})
