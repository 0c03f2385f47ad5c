import { beforeEach, describe, expect, it } from 'vitest'
import { createAccounts } from '../../../../api/accounts/accounts.store.ts'
import { acceptGeneration } from '../../../../api/generations/acceptance.store.ts'
import { sql } from '../../../../api/shared/database/database.ts'
import { MAX_DEVICE_FAILURES } from '../../../../api/shared/generations/generation.ts'
import { createGenerations } from '../../../../api/shared/generations/generations.store.ts'
import { createObjects } from '../../../../api/shared/storage/objects.store.ts'
import { type Caller, callOf, createCaller } from '../../../support/accepted.ts'
import { openTestDatabase } from '../../../support/postgres.ts'

describe('the life of a generation', async () => {
  const { database } = await openTestDatabase({ poolSize: 10 })
  let caller: Caller
  let id: string

  const generations = createGenerations(database)
  beforeEach(async () => {
    caller = await createCaller(database, 5)
    const call = callOf(caller)
    id = call.generationId
    await acceptGeneration(database, call)
  })

  const start = (attempt: number) => generations.start({ id, attempt, worker: 'w' })
  const loseWorker = () =>
    database.query(sql.unsafe`update generations set lease_until = now() - interval '1 second' where id = ${id}`)
  const balance = async () => (await createAccounts(database).find(caller.accountId))?.balance
  const outcome = {
    resultKey: 'results/a.jpg',
    warnings: ['OLD_GARMENT_LONGER'],
    timings: { engine: 12 },
    engineInfo: { name: 'warp', version: '1', license: 'Apache-2.0', kind: 'preview' },
    category: 'tops',
  }

  it('is started once per attempt', async () => {
    expect(await start(2)).toBeNull()
    const starts = await Promise.all([start(1), start(1), start(1)])
    expect(starts.filter(Boolean)).toHaveLength(1)
    expect(await generations.find(id)).toMatchObject({ status: 'PROCESSING', attempt: 1, progress: 0 })
  })

  it('is returned at most 3 times within one attempt when devices fail', async () => {
    expect(await generations.spare({ id, attempt: 1, worker: 'w' })).toBe(false)
    for (let fault = 1; fault <= MAX_DEVICE_FAILURES; fault++) {
      const worker = `w${fault}`
      await generations.start({ id, attempt: 1, worker })
      expect(await generations.spare({ id, attempt: 1, worker })).toBe(true)
      expect(await generations.find(id)).toMatchObject({ status: 'PENDING', attempt: 1, progress: null })
    }
    expect(
      await database.oneFirst(sql.unsafe`
        select payload->'failedOn' from outbox where generation_id = ${id} and dispatched_at is null and available_at > now()`),
    ).toEqual(['w1', 'w2', 'w3'])
    await start(1)
    expect(await generations.spare({ id, attempt: 1, worker: 'w' })).toBe(false)
    expect(await generations.retry({ id, attempt: 1, delaySeconds: 0 })).toBe(true)
    expect(await generations.find(id)).toMatchObject({ status: 'PENDING', attempt: 2 })
  })

  it('has the same start, return and end when a call is repeated because its reply was lost', async () => {
    const isRepeat = true
    const first = await start(1)
    const again = await generations.start({ id, attempt: 1, worker: 'w' }, { isRepeat })
    expect(again).toMatchObject({ job: first?.job, isFirst: true })
    expect(await generations.start({ id, attempt: 1, worker: 'other' }, { isRepeat })).toBeNull()
    expect(await generations.spare({ id, attempt: 1, worker: 'w' })).toBe(true)
    await generations.start({ id, attempt: 1, worker: 'other' })
    expect(await generations.spare({ id, attempt: 1, worker: 'w' })).toBe(false)
    expect(await generations.spare({ id, attempt: 1, worker: 'w' }, { isRepeat })).toBe(true)
    // Neither took the attempt from the worker that runs it now.
    expect(await generations.find(id)).toMatchObject({ status: 'PROCESSING' })
    expect(await generations.complete({ id, attempt: 1, outcome })).toBe(true)
    expect(await generations.complete({ id, attempt: 1, outcome })).toBe(true)
    expect(await generations.complete({ id, attempt: 1, outcome: { ...outcome, resultKey: 'results/b.jpg' } })).toBe(
      false,
    )
    expect(await balance()).toBe(4)
  })

  it('ends COMPLETED, keeps the credit and leaves the outbox', async () => {
    await start(1)
    await createObjects(database).insertResult({ key: outcome.resultKey, bytes: 1, id, attempt: 1 })
    expect(await generations.complete({ id, attempt: 1, outcome })).toBe(true)
    expect(await generations.find(id)).toMatchObject({ status: 'COMPLETED', ...outcome })
    expect(await balance()).toBe(4)
    expect(await database.exists(sql.unsafe`select from outbox where generation_id = ${id}`)).toBe(false)
  })

  it('refunds the credit once on failure, however often the failure is reported', async () => {
    await start(1)
    const failure = { id, attempt: 1, code: 'NO_PERSON_DETECTED', message: 'The photo shows no person.' } as const
    expect(await Promise.all([generations.fail(failure), generations.fail(failure)])).toContain(true)
    expect(await generations.fail(failure)).toBe(false)
    expect(await balance()).toBe(5)
    expect(await createAccounts(database).findLedgerGaps()).toEqual([])
    expect(await generations.find(id)).toMatchObject({ status: 'FAILED', errorCode: 'NO_PERSON_DETECTED' })
  })

  it('never leaves a terminal state', async () => {
    await start(1)
    await generations.complete({ id, attempt: 1, outcome })
    expect(await generations.fail({ id, attempt: null, code: 'GENERATION_FAILED', message: '' })).toBe(false)
    expect(await generations.retry({ id, attempt: 1, delaySeconds: 0 })).toBe(false)
    expect(await start(1)).toBeNull()
    expect((await generations.find(id))?.status).toBe('COMPLETED')
    expect(await balance()).toBe(4)
  })

  it('discards reports of a lost worker after the end of its attempt', async () => {
    await start(1)
    await loseWorker()
    expect(await generations.recoverLost(10)).toBe(1)
    expect(await generations.find(id)).toMatchObject({ status: 'PENDING', attempt: 2 })
    expect(await generations.renew({ id, attempt: 1, progress: 0.5 })).toBe(false)
    expect(await generations.complete({ id, attempt: 1, outcome })).toBe(false)
    expect(await generations.fail({ id, attempt: 1, code: 'GENERATION_FAILED', message: '' })).toBe(false)
    expect(await start(2)).toMatchObject({ secondsLeft: expect.any(Number) })
    expect(await generations.complete({ id, attempt: 2, outcome })).toBe(true)
  })

  it('fails after three attempts, with a refund', async () => {
    for (const attempt of [1, 2, 3]) {
      expect(await start(attempt)).not.toBeNull()
      await loseWorker()
      await generations.recoverLost(10)
    }
    expect(await generations.find(id)).toMatchObject({ status: 'FAILED', errorCode: 'GENERATION_FAILED', attempt: 3 })
    expect(await balance()).toBe(5)
  })

  it('is retried in a new attempt after a retryable error', async () => {
    await start(1)
    await generations.retry({ id, attempt: 1, delaySeconds: 30 })
    const waiting = await database.one(sql.unsafe`
      select dispatched_at, payload ->> 'attempt' as attempt, available_at > now() + interval '20 seconds' as later
      from outbox where generation_id = ${id}`)
    expect(waiting).toEqual({ dispatched_at: null, attempt: '2', later: true })
  })

  it('fails at its deadline, waiting or running, with a refund', async () => {
    await database.query(sql.unsafe`update generations set deadline_at = now() where id = ${id}`)
    expect(await start(1)).toBeNull()
    expect(await generations.failOverdue(10)).toBe(1)
    expect(await generations.find(id)).toMatchObject({ status: 'FAILED', errorCode: 'GENERATION_TIMEOUT' })
    expect(await balance()).toBe(5)
  })

  it('has an updatedAt that increases with each status, but not with progress', async () => {
    const times = [(await generations.find(id))?.updatedAt]
    await start(1)
    times.push((await generations.find(id))?.updatedAt)
    for (const progress of [0.1, 0.2, 0.3]) {
      await generations.renew({ id, attempt: 1, progress })
      expect(await generations.find(id)).toMatchObject({ progress, updatedAt: times.at(-1) })
    }
    await generations.complete({ id, attempt: 1, outcome })
    times.push((await generations.find(id))?.updatedAt)
    const millis = times.map((time) => time?.getTime() ?? 0)
    expect(millis).toEqual([...new Set(millis)].sort((a, b) => a - b))
  })
})
