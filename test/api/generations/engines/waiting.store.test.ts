import { beforeAll, describe, expect, it } from 'vitest'
import { acceptGeneration } from '../../../../api/generations/acceptance.store.ts'
import { createWaitEstimate, type Wait } from '../../../../api/generations/engines/wait-estimate.ts'
import { createWaiting } from '../../../../api/generations/engines/waiting.store.ts'
import { createOutbox } from '../../../../api/generations/outbox.store.ts'
import { sql } from '../../../../api/shared/database/database.ts'
import { createGenerations } from '../../../../api/shared/generations/generations.store.ts'
import { callOf, createCaller } from '../../../support/accepted.ts'
import { openTestDatabase } from '../../../support/postgres.ts'

const LANE = { queue: 'try-on.warp', engines: ['warp'] }

describe('the queue position', async () => {
  const { database } = await openTestDatabase({ poolSize: 5 })
  let estimate: (id: string) => Promise<Wait | null>
  let slots = 1

  beforeAll(async () => {
    // Every estimate reads the current state.
    estimate = (id) => estimator().ofGeneration(id)
  })

  async function accept(count: number, batchCount = 0): Promise<string[]> {
    const caller = await createCaller(database, count)
    const calls = Array.from({ length: count }, (_, i) => callOf(caller, { isBatch: i < batchCount }))
    for (const call of calls) await acceptGeneration(database, call)
    return calls.map(({ generationId }) => generationId)
  }
  const published = {
    name: 'warp',
    license: 'Apache-2.0',
    maxSlots: 1,
    startSeconds: 30,
    warmupSeconds: null,
    garmentTypes: null,
  }
  const estimator = () =>
    createWaitEstimate({
      waiting: createWaiting(database),
      listEngines: async () => [{ name: 'warp', slots, published }],
    })
  const positionOf = async (id: string) => (await estimate(id))?.queuePosition ?? 0
  const clear = () => database.query(sql.unsafe`delete from outbox`)

  it('follows the order in which the relay claims generations, across accounts', async () => {
    const ids = [...(await accept(9, 5)), ...(await accept(4, 4)), ...(await accept(1)), ...(await accept(6, 2))]
    const predicted = new Map<string, number>()
    for (const id of ids) predicted.set(id, await positionOf(id))
    const outbox = createOutbox(database)
    const order: string[] = []
    while (order.length < ids.length) {
      const { jobs } = await outbox.claim({ ...LANE, limit: 1, depth: 100 })
      order.push(...jobs.map(({ generationId }) => generationId))
    }
    expect(order.map((id) => predicted.get(id))).toEqual(ids.map((_, i) => i + 1))
    // In the queue they keep the order in which they were claimed.
    for (const [i, id] of order.entries()) expect(await positionOf(id)).toBe(i + 1)
    await clear()
  })

  it('counts queued generations, but not running ones', async () => {
    const [first, second, third] = await accept(3)
    await createOutbox(database).claim({ ...LANE, limit: 2, depth: 100 })
    const late = (await accept(1))[0]
    expect(await Promise.all([first, second, late, third].map(positionOf))).toEqual([1, 2, 3, 4])
    await createGenerations(database).start({ id: first, attempt: 1, worker: 'w' })
    expect(await estimate(first)).toBeNull()
    expect(await Promise.all([second, late, third].map(positionOf))).toEqual([1, 2, 3])
    await clear()
  })

  it('comes with the estimated seconds for the current workers', async () => {
    const ids = await accept(5)
    await database.query(sql.unsafe`
      update generations set status = 'COMPLETED', started_at = now() - interval '4 seconds', finished_at = now()
      where id = ${ids[0]}`)
    await database.query(sql.unsafe`delete from outbox where generation_id = ${ids[0]}`)
    expect((await estimate(ids[1]))?.estimatedSeconds).toBe(4)
    expect((await estimate(ids[4]))?.estimatedSeconds).toBe(16)
    slots = 2
    expect(await estimate(ids[1])).toMatchObject({ estimatedStartSeconds: 0, estimatedSeconds: 4 })
    const fourth = { estimatedStartSeconds: 4, estimatedStartRange: { min: 0, max: 13 }, estimatedSeconds: 8 }
    expect(await estimate(ids[4])).toMatchObject(fourth)
    // A pool at zero has to start first.
    slots = 0
    const fromZero = { estimatedStartSeconds: 42, estimatedStartRange: { min: 25, max: 66 }, estimatedSeconds: 46 }
    expect(await estimate(ids[4])).toMatchObject(fromZero)
    slots = 1
    await clear()
  })

  it('comes with seconds for each layer of an outfit', async () => {
    const [ended, outfit] = await accept(2)
    await database.query(sql.unsafe`
      update generations set layers = '[{}, {}]', status = 'COMPLETED', started_at = now() - interval '8 seconds', finished_at = now()
      where id = ${ended}`)
    await database.query(sql.unsafe`delete from outbox where generation_id = ${ended}`)
    await database.query(sql.unsafe`update generations set layers = '[{}, {}, {}]' where id = ${outfit}`)
    const { mean, layerMean } = await createWaiting(database).measureSeconds('warp')
    // The try-on of 4 seconds of the test before, and two layers of 4 seconds.
    expect({ mean, layerMean }).toEqual({ mean: 6, layerMean: 4 })
    expect(await estimate(outfit)).toMatchObject({ estimatedStartSeconds: 0, estimatedSeconds: 12 })
    const { accountId } = await createCaller(database, 1)
    expect(await estimator().ofCall({ accountId, engine: 'warp', isBatch: false, layers: 2 })).toMatchObject({
      estimatedStartSeconds: 6,
      estimatedSeconds: 14,
    })
    await clear()
  })

  it('counts running generations without a free slot, equally for a call and its generation', async () => {
    const callers = [await createCaller(database, 20), await createCaller(database, 20)]
    const outbox = createOutbox(database)
    for (let i = 0; i < 12; i++) {
      const [caller, isBatch] = [callers[i % 2], i % 3 === 0]
      const expected = await estimator().ofCall({ accountId: caller.accountId, engine: 'warp', isBatch })
      const call = callOf(caller, { isBatch })
      await acceptGeneration(database, call)
      expect(await estimate(call.generationId)).toMatchObject(expected)
      if (i !== 5) continue
      const [{ generationId }] = (await outbox.claim({ ...LANE, limit: 1, depth: 1 })).jobs
      await createGenerations(database).start({ id: generationId, attempt: 1, worker: 'w' })
      const seconds = (await createWaiting(database).measureSeconds('warp')).mean ?? 0
      const { accountId } = await createCaller(database, 1)
      expect(await estimator().ofCall({ accountId, engine: 'warp', isBatch: false })).toMatchObject({
        // Behind the job that runs, and the first job of the account that has none in the lane.
        estimatedStartSeconds: Math.ceil(2 * seconds),
      })
    }
    await clear()
  })

  it('is computed once for concurrent calls', async () => {
    let looks = 0
    const waiting = createWaiting(database)
    const counted = {
      ...waiting,
      findLines: (engine: string) => {
        looks += 1
        return waiting.findLines(engine)
      },
    }
    const together = createWaitEstimate({ waiting: counted, listEngines: async () => [] })
    const call = { accountId: 'acc_1', engine: 'warp', isBatch: false }
    await Promise.all(Array.from({ length: 50 }, () => together.ofCall(call)))
    expect(looks).toBe(1)
  })
})
