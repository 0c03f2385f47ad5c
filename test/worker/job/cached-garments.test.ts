import { v7 as uuidv7 } from 'uuid'
import { beforeEach, describe, expect, it } from 'vitest'
import { createWorkerOperations } from '../../../api/generations/worker-operations.ts'
import { createProducts } from '../../../api/products/products.store.ts'
import { compileCheck } from '../../../api/shared/contract/schema.ts'
import { createDatabase, type Database, sql } from '../../../api/shared/database/database.ts'
import { createGenerations } from '../../../api/shared/generations/generations.store.ts'
import { MAX_PRODUCTS, WORKER_OPERATIONS } from '../../../api/shared/generations/worker-calls.ts'
import { createLog } from '../../../api/shared/telemetry/log.ts'
import { type CachedGarments, createCachedGarments } from '../../../worker/job/cached-garments.ts'
import { type Caller, createCaller } from '../../support/accepted.ts'
import { openTestDatabase } from '../../support/postgres.ts'

const callsOf = (database: Database) => createWorkerOperations(database, createGenerations(database))

describe('garments cached by engines', async () => {
  const { database } = await openTestDatabase({ poolSize: 2 })
  let caller: Caller
  let forgotten: string[]
  let kept: CachedGarments

  const products = createProducts(database)
  beforeEach(async () => {
    caller = await createCaller(database, 10)
    forgotten = []
    const evict = (hashes: readonly string[]) => forgotten.push(...hashes)
    kept = createCachedGarments({
      calls: callsOf(database),
      evict,
      log: createLog({ process: 'test', level: 'silent' }),
    })
  })

  const save = async (externalId: string, sourceUrl = 'https://shop.example/a.jpg') => {
    const images = [{ sourceUrl, order: 0, classifications: null }]
    const product = { id: uuidv7(), externalId, anonymous: false, images }
    const saved = await products.upsert(caller.accountId, product)
    if (!saved) throw new Error('the product is not there')
    return saved
  }
  const remove = (externalId: string) => products.delete({ accountId: caller.accountId, externalId })

  it('stay cached while the product exists', async () => {
    kept.note(await save('shirt'), 'a1')
    await kept.sweep()
    expect(forgotten).toEqual([])
  })

  it('are evicted however many products have the same image', async () => {
    const checkCall = compileCheck(WORKER_OPERATIONS.findChangedProducts)
    const { findChangedProducts } = callsOf(database)
    const many = createCachedGarments({
      // As an API checks what arrives.
      calls: { findChangedProducts: async (args) => (checkCall(args).ok ? findChangedProducts(args) : []) },
      evict: (hashes) => forgotten.push(...hashes),
      log: createLog({ process: 'test', level: 'silent' }),
    })
    for (let i = 0; i <= MAX_PRODUCTS; i++) many.note({ id: uuidv7(), imagesEdition: '1' }, 'a1')
    await many.sweep()
    expect(forgotten).toEqual(['a1'])
  })

  it('are evicted when their product is deleted, and no others', async () => {
    kept.note(await save('shirt'), 'a1')
    kept.note(await save('jeans'), 'b2')
    await remove('shirt')
    await kept.sweep()
    expect(forgotten).toEqual(['a1'])
    await kept.sweep()
    expect(forgotten).toEqual(['a1'])
  })

  it('are evicted when the first of several products with the same image is deleted', async () => {
    kept.note(await save('shirt'), 'a1')
    kept.note(await save('same shirt'), 'a1')
    await remove('same shirt')
    await kept.sweep()
    expect(forgotten).toEqual(['a1'])
  })

  it('are evicted when the product changes its images or expires', async () => {
    kept.note(await save('shirt'), 'a1')
    await save('shirt', 'https://shop.example/other.jpg')
    kept.note(await save('jeans'), 'b2')
    await database.query(
      sql.unsafe`update products set expires_at = now() - interval '1 s' where external_id = 'jeans'`,
    )
    await kept.sweep()
    expect(forgotten.toSorted()).toEqual(['a1', 'b2'])
  })

  it('are evicted when a job reports a garment after its product was deleted', async () => {
    const shirt = await save('shirt')
    kept.note(shirt, 'a1')
    await remove('shirt')
    await kept.sweep()
    kept.note(shirt, 'a1')
    await kept.sweep()
    expect(forgotten).toEqual(['a1', 'a1'])
  })

  it('are evicted oldest first when more than 128 are tracked', async () => {
    const shirt = await save('shirt')
    for (let i = 0; i <= 128; i++) kept.note(shirt, `h${i}`)
    expect(forgotten).toEqual(['h0'])
  })

  it('are checked again after a database error', async () => {
    const away = createDatabase('postgres://nobody@127.0.0.1:1/none', { poolSize: 1 })
    const options = { evict: (hashes: readonly string[]) => forgotten.push(...hashes) }
    const log = createLog({ process: 'test', level: 'silent' })
    const lost = createCachedGarments({ calls: callsOf(away), ...options, log })
    lost.note(await save('shirt'), 'a1')
    await lost.sweep()
    expect(forgotten).toEqual([])
    await away.end()
  })
})
