import { describe, expect, it } from 'vitest'
import type { AccountSettings } from '../../../api/accounts/account-settings.ts'
import { createAccounts } from '../../../api/accounts/accounts.store.ts'
import { acceptGeneration } from '../../../api/generations/acceptance.store.ts'
import { sql } from '../../../api/shared/database/database.ts'
import { createGenerations } from '../../../api/shared/generations/generations.store.ts'
import { type Caller, callOf, createCaller } from '../../support/accepted.ts'
import { openTestDatabase } from '../../support/postgres.ts'

describe('quotas', async () => {
  const { database } = await openTestDatabase({ poolSize: 20 })

  async function createLimited(settings: AccountSettings): Promise<Caller> {
    const caller = await createCaller(database, 100)
    await database.query(sql.unsafe`
      update accounts set settings = ${sql.jsonb({ ...settings })} where id = ${caller.accountId}`)
    return caller
  }
  async function acceptMany(caller: Caller, count: number): Promise<string[]> {
    const calls = Array.from({ length: count }, () => callOf(caller))
    const results = await Promise.allSettled(calls.map((call) => acceptGeneration(database, call)))
    for (const result of results) {
      if (result.status === 'rejected') expect(result.reason.code).toBe('QUOTA_EXCEEDED')
    }
    return calls.filter((_, i) => results[i].status === 'fulfilled').map(({ generationId }) => generationId)
  }
  const cancel = (id: string) =>
    createGenerations(database).fail({ id, attempt: null, code: 'GENERATION_CANCELLED', message: '' })

  it('allow exactly as many unfinished generations as configured', async () => {
    const caller = await createLimited({ concurrentGenerations: 5 })
    const accepted = await acceptMany(caller, 60)
    expect(accepted).toHaveLength(5)
    expect(await acceptMany(caller, 10)).toHaveLength(0)
    await createGenerations(database).start({ id: accepted[0], attempt: 1, worker: 'w' })
    expect(await acceptMany(caller, 10)).toHaveLength(0)
    await cancel(accepted[0])
    await cancel(accepted[1])
    expect(await acceptMany(caller, 10)).toHaveLength(2)
    expect((await createAccounts(database).find(caller.accountId))?.balance).toBe(95)
  })

  it('count generations of a month that did not fail', async () => {
    const caller = await createLimited({ monthlyGenerations: 8 })
    const accepted = await acceptMany(caller, 40)
    expect(accepted).toHaveLength(8)
    await cancel(accepted[0])
    expect(await acceptMany(caller, 5)).toHaveLength(1)
    await database.query(sql.unsafe`
      update generations set created_at = created_at - interval '32 days' where id = ${accepted[1]}`)
    expect(await acceptMany(caller, 5)).toHaveLength(1)
    expect(await createAccounts(database).findLedgerGaps()).toEqual([])
  })

  it('limit failed generations per hour relative to completed ones, before the charge', async () => {
    const caller = await createLimited({ failedGenerationsPerHour: 3 })
    const end = async (status: 'FAILED' | 'COMPLETED', count: number, { isStarted = true, minutesAgo = 0 } = {}) => {
      const ids = await acceptMany(caller, count)
      expect(ids).toHaveLength(count)
      const inTime = sql.array(ids, 'text')
      await database.query(sql.unsafe`delete from outbox where generation_id = any(${inTime})`)
      await database.query(sql.unsafe`
        update generations set status = ${status}, started_at = case when ${isStarted} then now() end,
          finished_at = now() - make_interval(mins => ${minutesAgo})
        where id = any(${inTime})`)
    }
    const refusal = { code: 'RATE_LIMITED', retryAfterSeconds: 60, retryable: true }
    await end('COMPLETED', 2)
    // Those that no worker had started do not count, nor do older ones.
    await end('FAILED', 3, { minutesAgo: 61 })
    await end('FAILED', 3, { isStarted: false })
    await end('FAILED', 4)
    await end('FAILED', 1)
    const { balance } = (await createAccounts(database).find(caller.accountId)) ?? {}
    await expect(acceptGeneration(database, callOf(caller))).rejects.toMatchObject(refusal)
    expect((await createAccounts(database).find(caller.accountId))?.balance).toBe(balance)
  })

  it('apply both: the smaller one limits', async () => {
    expect(await acceptMany(await createLimited({ monthlyGenerations: 3, concurrentGenerations: 9 }), 20)).toHaveLength(
      3,
    )
    expect(await acceptMany(await createLimited({ monthlyGenerations: 9, concurrentGenerations: 2 }), 20)).toHaveLength(
      2,
    )
  })

  it('apply after the balance, which is reported first', async () => {
    const caller = await createLimited({ concurrentGenerations: 1 })
    await database.query(sql.unsafe`update accounts set balance = 0 where id = ${caller.accountId}`)
    await expect(acceptGeneration(database, callOf(caller))).rejects.toMatchObject({ code: 'INSUFFICIENT_CREDITS' })
  })
})
