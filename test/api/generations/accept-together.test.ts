import { v7 as uuidv7 } from 'uuid'
import { describe, expect, it } from 'vitest'
import { createAccounts } from '../../../api/accounts/accounts.store.ts'
import { acceptTogether } from '../../../api/generations/accept-together.ts'
import { type Acceptance, acceptGenerations } from '../../../api/generations/acceptance.store.ts'
import { createProducts } from '../../../api/products/products.store.ts'
import { DrapeError } from '../../../api/shared/contract/errors.ts'
import { Type } from '../../../api/shared/contract/schema.ts'
import { createDatabase, rowType, sql } from '../../../api/shared/database/database.ts'
import { type Caller, callOf, createCaller } from '../../support/accepted.ts'
import { openTestDatabase } from '../../support/postgres.ts'

const Count = rowType(Type.Object({ n: Type.Integer() }))

describe('batched acceptance', async () => {
  const { database, url } = await openTestDatabase({ poolSize: 10 })

  /** Acceptance as in an API process, and the calls of each statement. */
  function createReplica(of = database) {
    const statements: (readonly Acceptance[])[] = []
    const accept = acceptTogether((calls) => {
      statements.push(calls)
      return acceptGenerations(of, calls)
    })
    return { accept, statements }
  }
  const reference = (externalId = 'shirt') => ({ id: uuidv7(), externalId, anonymous: false })
  async function createShopkeeper(credits: number, externalIds = ['shirt']): Promise<Caller> {
    const caller = await createCaller(database, credits)
    const { images } = callOf(caller).product
    for (const externalId of externalIds)
      await createProducts(database).upsert(caller.accountId, { ...reference(externalId), images })
    return caller
  }
  const count = (table: string, { accountId }: Caller) =>
    database.oneFirst(sql.type(Count)`
      select count(*) as n from ${sql.identifier([table])} where account_id = ${accountId}`)
  const balanceOf = async ({ accountId }: Caller) => (await createAccounts(database).find(accountId))?.balance
  const codeOf = (result: PromiseSettledResult<boolean>) =>
    result.status === 'fulfilled' ? result.value : (result.reason as DrapeError).code

  it('accepts a single call at once, and calls during a statement with the next statement', async () => {
    const caller = await createShopkeeper(100, ['shirt', 'skirt'])
    const { accept, statements } = createReplica()
    const products = [reference(), reference(), reference('skirt'), reference()]
    const accepting = products.map((product) => accept(callOf(caller, { product })))
    expect(statements.map(({ length }) => length)).toEqual([1])
    expect(await Promise.all(accepting)).toEqual([true, true, true, true])
    expect(statements.map(({ length }) => length)).toEqual([1, 3])
    await accept(callOf(caller, { product: reference() }))
    expect(statements.map(({ length }) => length)).toEqual([1, 3, 1])
    for (const table of ['generations', 'outbox']) expect(await count(table, caller)).toBe(5)
  })

  it('does not batch different accounts, engines or inline products', async () => {
    const [one, other] = [await createShopkeeper(9), await createShopkeeper(9)]
    const { accept, statements } = createReplica()
    const { product } = callOf(one)
    const calls = [one, other].flatMap((caller) => [
      callOf(caller, { product: reference() }),
      callOf(caller, { product: reference(), engine: 'mock', cost: 0 }),
      callOf(caller, { product: { ...product, title: 'First' } }),
      callOf(caller, { product: { ...product, title: 'Second' } }),
    ])
    await Promise.all(calls.map(accept))
    expect(statements.map(({ length }) => length)).toEqual(calls.map(() => 1))
    expect(await createAccounts(database).findLedgerGaps()).toEqual([])
  })

  it('accepts exactly as many calls as there are credits, across replicas', async () => {
    const caller = await createShopkeeper(100)
    const others = createDatabase(url, { poolSize: 10 })
    const replicas = [createReplica(), createReplica(others), createReplica(others)]
    const calls = Array.from({ length: 1000 }, (_, i) =>
      replicas[i % 3].accept(callOf(caller, { product: reference() })),
    )
    const outcomes = (await Promise.allSettled(calls)).map(codeOf)
    expect(outcomes.filter((outcome) => outcome === true)).toHaveLength(100)
    expect(outcomes.filter((outcome) => outcome === 'INSUFFICIENT_CREDITS')).toHaveLength(900)
    expect(await balanceOf(caller)).toBe(0)
    expect(await count('generations', caller)).toBe(100)
    expect(await createAccounts(database).findLedgerGaps()).toEqual([])
    expect(replicas.flatMap(({ statements }) => statements).length).toBeLessThan(500)
    await others.end()
  })

  it('stores one product for many calls with the same product', async () => {
    const caller = await createCaller(database, 200)
    const { accept } = createReplica()
    await Promise.all(Array.from({ length: 200 }, () => accept(callOf(caller))))
    expect(await count('products', caller)).toBe(1)
    expect(await balanceOf(caller)).toBe(0)
  })

  it('rejects each call with its own error', async () => {
    const caller = await createShopkeeper(100)
    const stranger = await createCaller(database, 1)
    const { accept, statements } = createReplica()
    const earlier = callOf(caller, { product: reference() })
    await accept(earlier)
    const changes: Partial<Acceptance>[] = [
      {},
      {},
      { imageId: 'img_nobody' },
      { imageId: stranger.imageId },
      { product: reference('unheard of') },
      { generationId: earlier.generationId },
      { externalUserId: 'no text \u0000' },
      {},
    ]
    const calls = changes.map((change) => callOf(caller, { product: reference(), ...change }))
    const outcomes = (await Promise.allSettled(calls.map(accept))).map(codeOf)
    expect(Math.max(...statements.map(({ length }) => length))).toBeGreaterThanOrEqual(7)
    expect(outcomes.slice(0, 6)).toEqual([true, true, 'VALIDATION_FAILED', 'FORBIDDEN', 'PRODUCT_NOT_FOUND', false])
    expect(outcomes[6]).not.toBe(true)
    expect(outcomes[7]).toBe(true)
    expect(await balanceOf(caller)).toBe(96)
    expect(await createAccounts(database).findLedgerGaps()).toEqual([])
  })

  it('continues after a failed statement, which rejects only its own calls', async () => {
    const caller = await createShopkeeper(9)
    let statements = 0
    const accept = acceptTogether(async (calls) => {
      if (statements++ === 0) throw new DrapeError('SERVICE_UNAVAILABLE', 'away', { retryable: true })
      return acceptGenerations(database, calls)
    })
    const call = () => callOf(caller, { product: reference() })
    const outcomes = (await Promise.allSettled([call(), call(), call()].map(accept))).map(codeOf)
    expect(outcomes).toEqual(['SERVICE_UNAVAILABLE', true, true])
    expect(await accept(call())).toBe(true)
  })

  it('has the outcome of sequential acceptance in order of arrival', async () => {
    const settings = { concurrentGenerations: 7 }
    for (const credits of [0, 3, 7, 20]) {
      const [together, alone] = [await createShopkeeper(credits), await createShopkeeper(credits)]
      for (const { accountId } of [together, alone])
        await database.query(sql.unsafe`update accounts set settings = ${sql.jsonb(settings)} where id = ${accountId}`)
      const callsOf = (caller: Caller) =>
        Array.from({ length: 24 }, (_, i) =>
          callOf(caller, {
            product: reference(i % 5 === 3 ? 'unheard of' : 'shirt'),
            ...(i % 7 === 4 && { imageId: 'img_nobody' }),
          }),
        )
      const coded = (outcome: boolean | Error) => (outcome instanceof DrapeError ? outcome.code : outcome)
      const expected: unknown[] = []
      for (const call of callsOf(alone)) expected.push(...(await acceptGenerations(database, [call])).map(coded))
      expect((await acceptGenerations(database, callsOf(together))).map(coded)).toEqual(expected)
      expect(await balanceOf(together)).toBe(await balanceOf(alone))
    }
  })
})
