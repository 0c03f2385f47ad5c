import { v7 as uuidv7 } from 'uuid'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { createDatabase, type Database, sql } from '../../api/shared/database/database.ts'
import { createLog } from '../../api/shared/log.ts'
import { createProducts, type Products } from '../../api/stores/products.ts'
import { type CachedGarments, createCachedGarments } from '../../worker/cached-garments.ts'
import { type Caller, createCaller } from '../support/accepted.ts'
import { createTestDatabase } from '../support/postgres.ts'

describe('what engines keep of products', () => {
  let database: Database
  let products: Products
  let caller: Caller
  let forgotten: string[]
  let kept: CachedGarments
  let drop: () => Promise<void>

  beforeAll(async () => {
    const made = await createTestDatabase()
    drop = made.drop
    database = createDatabase(made.url, { poolSize: 2 })
    products = createProducts(database)
  })
  afterAll(async () => {
    await database.end()
    await drop()
  })
  beforeEach(async () => {
    caller = await createCaller(database, 10)
    forgotten = []
    const evict = (hashes: readonly string[]) => forgotten.push(...hashes)
    kept = createCachedGarments({ database, evict, log: createLog({ process: 'test', level: 'silent' }) })
  })

  const save = async (externalId: string, sourceUrl = 'https://shop.example/a.jpg') => {
    const images = [{ sourceUrl, order: 0, classifications: null }]
    const product = { id: uuidv7(), externalId, anonymous: false, images }
    const saved = await products.upsert(caller.accountId, product)
    if (!saved) throw new Error('the product is not there')
    return saved
  }
  const remove = (externalId: string) => products.delete({ accountId: caller.accountId, externalId })

  it('stays while the product is there', async () => {
    kept.note(await save('shirt'), 'a1')
    await kept.sweep()
    expect(forgotten).toEqual([])
  })

  it('goes with the product, and nothing else goes', async () => {
    kept.note(await save('shirt'), 'a1')
    kept.note(await save('jeans'), 'b2')
    await remove('shirt')
    await kept.sweep()
    expect(forgotten).toEqual(['a1'])
    await kept.sweep()
    expect(forgotten).toEqual(['a1'])
  })

  it('goes with the first of several products that have the same picture', async () => {
    kept.note(await save('shirt'), 'a1')
    kept.note(await save('same shirt'), 'a1')
    await remove('same shirt')
    await kept.sweep()
    expect(forgotten).toEqual(['a1'])
  })

  it('goes when the product gets other images, or is past its time', async () => {
    kept.note(await save('shirt'), 'a1')
    await save('shirt', 'https://shop.example/other.jpg')
    kept.note(await save('jeans'), 'b2')
    await database.query(
      sql.unsafe`update products set expires_at = now() - interval '1 s' where external_id = 'jeans'`,
    )
    await kept.sweep()
    expect(forgotten.toSorted()).toEqual(['a1', 'b2'])
  })

  it('goes also when a job that was at work on it ends after the product', async () => {
    const shirt = await save('shirt')
    kept.note(shirt, 'a1')
    await remove('shirt')
    await kept.sweep()
    kept.note(shirt, 'a1')
    await kept.sweep()
    expect(forgotten).toEqual(['a1', 'a1'])
  })

  it('goes when more is kept than can be watched', async () => {
    const shirt = await save('shirt')
    for (let i = 0; i <= 2048; i++) kept.note(shirt, `h${i}`)
    expect(forgotten).toEqual(['h0'])
  })

  it('is looked at again when the database could not be asked', async () => {
    const away = createDatabase('postgres://nobody@127.0.0.1:1/none', { poolSize: 1 })
    const options = { evict: (hashes: readonly string[]) => forgotten.push(...hashes) }
    const log = createLog({ process: 'test', level: 'silent' })
    const lost = createCachedGarments({ database: away, ...options, log })
    lost.note(await save('shirt'), 'a1')
    await lost.sweep()
    expect(forgotten).toEqual([])
    await away.end()
  })
})
