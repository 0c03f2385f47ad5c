import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { v7 as uuidv7 } from 'uuid'
import { describe, expect, it } from 'vitest'
import { createAccounts } from '../../../api/accounts/accounts.store.ts'
import { acceptGeneration } from '../../../api/generations/acceptance.store.ts'
import { createProducts } from '../../../api/products/products.store.ts'
import { Type } from '../../../api/shared/contract/schema.ts'
import { Json, rowType, sql } from '../../../api/shared/database/database.ts'
import { GARMENT_TYPES, usableImages } from '../../../api/shared/generations/generation.ts'
import { callOf, createCaller } from '../../support/accepted.ts'
import { openTestDatabase } from '../../support/postgres.ts'

const SECONDS_A_DAY = 86_400
const ProductRow = rowType(
  Type.Object({
    title: Type.Union([Type.String(), Type.Null()]),
    metadata: Json,
    days: Type.Union([Type.Integer(), Type.Null()]),
    secondsLeft: Type.Union([Type.Number(), Type.Null()]),
    edition: Type.String(),
    anonymous: Type.Boolean(),
    used: Type.Boolean(),
  }),
)

describe('acceptance', async () => {
  const { database, url } = await openTestDatabase({ poolSize: 20 })

  const count = (table: string, accountId: string) =>
    database.oneFirst(sql.type(rowType(Type.Object({ n: Type.Integer() })))`
      select count(*) as n from ${sql.identifier([table])} where account_id = ${accountId}`)
  const balanceOf = async (accountId: string) => (await createAccounts(database).find(accountId))?.balance
  const productOf = (accountId: string, externalId: string) =>
    database.maybeOne(sql.type(ProductRow)`
      select title, metadata, valid_for_days as days, extract(epoch from expires_at - now())::float8 as "secondsLeft", images_edition as edition,
        anonymous, last_used_at is not null as used
      from products where account_id = ${accountId} and external_id = ${externalId}`)

  it('charges, inserts and enqueues in one transaction', async () => {
    const caller = await createCaller(database, 3)
    await acceptGeneration(database, callOf(caller))
    expect(await balanceOf(caller.accountId)).toBe(2)
    expect(await count('generations', caller.accountId)).toBe(1)
    expect(await count('outbox', caller.accountId)).toBe(1)
    expect(await count('ledger', caller.accountId)).toBe(2)
    expect(await createAccounts(database).findLedgerGaps()).toEqual([])
  })

  it('accepts exactly as many of 400 concurrent calls as the account has credits', async () => {
    const caller = await createCaller(database, 100)
    const results = await Promise.allSettled(
      Array.from({ length: 400 }, () => acceptGeneration(database, callOf(caller))),
    )
    expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(100)
    for (const result of results) {
      if (result.status === 'rejected') expect(result.reason.code).toBe('INSUFFICIENT_CREDITS')
    }
    expect(await balanceOf(caller.accountId)).toBe(0)
    expect(await count('generations', caller.accountId)).toBe(100)
    expect(await count('products', caller.accountId)).toBe(1)
    expect(await createAccounts(database).findLedgerGaps()).toEqual([])
  })

  it('writes nothing when it refuses', async () => {
    const caller = await createCaller(database, 0)
    await expect(acceptGeneration(database, callOf(caller))).rejects.toMatchObject({
      code: 'INSUFFICIENT_CREDITS',
      message: 'The account has too few credits.',
    })
    for (const table of ['products', 'generations', 'outbox', 'ledger']) {
      expect(await count(table, caller.accountId)).toBe(0)
    }
  })

  it('charges nothing for the mock engine', async () => {
    const caller = await createCaller(database, 0)
    await acceptGeneration(database, callOf(caller, { engine: 'mock', cost: 0 }))
    expect(await count('generations', caller.accountId)).toBe(1)
    expect(await count('ledger', caller.accountId)).toBe(0)
  })

  it('refuses a person image that is unknown, expired, or of another account', async () => {
    const caller = await createCaller(database, 1)
    const other = await createCaller(database, 1)
    await expect(acceptGeneration(database, callOf(caller, { imageId: 'img_x' }))).rejects.toMatchObject({
      code: 'VALIDATION_FAILED',
      details: [{ path: 'person.image.source.id' }],
    })
    await expect(acceptGeneration(database, callOf(caller, { imageId: other.imageId }))).rejects.toMatchObject({
      code: 'FORBIDDEN',
    })
    await database.query(sql.unsafe`update images set expires_at = now() where id = ${caller.imageId}`)
    await expect(acceptGeneration(database, callOf(caller))).rejects.toMatchObject({ code: 'VALIDATION_FAILED' })
    expect(await balanceOf(caller.accountId)).toBe(1)
  })

  it('refuses an inactive account', async () => {
    const caller = await createCaller(database, 1)
    await database.query(sql.unsafe`update accounts set is_active = false where id = ${caller.accountId}`)
    await expect(acceptGeneration(database, callOf(caller))).rejects.toMatchObject({ code: 'INVALID_API_KEY' })
  })

  it('distinguishes an unknown reference from a new product without images', async () => {
    const caller = await createCaller(database, 1)
    const product = { id: uuidv7(), externalId: 'unknown', anonymous: false }
    await expect(acceptGeneration(database, callOf(caller, { product }))).rejects.toMatchObject({
      code: 'PRODUCT_NOT_FOUND',
    })
    await expect(
      acceptGeneration(database, callOf(caller, { product: { ...product, title: 'New' } })),
    ).rejects.toMatchObject({ code: 'PRODUCT_IMAGES_REQUIRED' })
  })

  it('distinguishes a generated product of another account from an unknown product', async () => {
    const [caller, other] = [await createCaller(database, 1), await createCaller(database, 1)]
    const product = { ...callOf(other).product, externalId: '_anon_theirs', anonymous: true }
    await acceptGeneration(database, callOf(other, { product }))
    const reference = (externalId: string) =>
      acceptGeneration(database, callOf(caller, { product: { id: uuidv7(), externalId, anonymous: false } }))
    await expect(reference('_anon_theirs')).rejects.toMatchObject({ code: 'FORBIDDEN' })
    await expect(reference('_anon_nobody')).rejects.toMatchObject({ code: 'PRODUCT_NOT_FOUND' })
  })

  it.each([[['flat_lay', 'ghost_mannequin']], [['on_model']]])(
    'checks stored images like sent ones, for an engine that accepts %j',
    async (garmentTypes) => {
      const caller = await createCaller(database, 1000)
      const known = [
        null,
        ...GARMENT_TYPES.map((type) => ({ type })),
        ...GARMENT_TYPES.map((type) => ({ [type]: true })),
      ]
      const odd = [
        {},
        { type: 'unheard of' },
        { type: 'unheard of', on_model: true },
        { type: 'FLAT_LAY' },
        { type: 'On_Model', flat_lay: true },
        { type: 5, on_model: true },
        { type: null },
        { flat_lay: false },
        { on_model: 'true' },
        { type: 'on_model', flat_lay: true },
        { detail: true, flat_lay: true },
        { view: 'back' },
      ]
      const lists = [...known, ...odd].flatMap((first) => [[first], [{ type: 'on_model' }, first]])
      for (const [i, list] of lists.entries()) {
        const images = list.map((classifications, order) => ({ sourceUrl: 'https://a.b/c', order, classifications }))
        const product = { id: uuidv7(), externalId: `kind-${i}`, anonymous: false }
        await createProducts(database).upsert(caller.accountId, { ...product, images })
        const reference = acceptGeneration(database, callOf(caller, { product, garmentTypes }))
        if (usableImages(images, garmentTypes).length > 0) await reference
        else {
          await expect(reference, JSON.stringify(list)).rejects.toMatchObject({
            code: 'MISSING_REQUIRED_CLASSIFICATION',
            details: { key: garmentTypes[0] },
          })
        }
      }
    },
  )

  it('keeps inline products for 15 days and one-shot products for 7 days after each use', async () => {
    const caller = await createCaller(database, 9)
    const { product } = callOf(caller)
    await acceptGeneration(database, callOf(caller))
    await acceptGeneration(
      database,
      callOf(caller, { product: { ...product, externalId: '_anon_1', anonymous: true } }),
    )
    const inline = await productOf(caller.accountId, 'shirt')
    expect(Number(inline?.secondsLeft)).toBeGreaterThan(15 * SECONDS_A_DAY - 60)
    expect(inline).toMatchObject({ days: 15, anonymous: false, used: true })
    expect(Number((await productOf(caller.accountId, '_anon_1'))?.secondsLeft)).toBeLessThanOrEqual(7 * SECONDS_A_DAY)

    await database.query(sql.unsafe`
      update products set expires_at = now() + interval '1 hour' where account_id = ${caller.accountId}`)
    const reference = { id: uuidv7(), externalId: 'shirt', anonymous: false }
    await acceptGeneration(database, callOf(caller, { product: reference }))
    expect(Number((await productOf(caller.accountId, 'shirt'))?.secondsLeft)).toBeGreaterThan(15 * SECONDS_A_DAY - 60)
  })

  it('keeps omitted fields on update, and the product forever with null', async () => {
    const caller = await createCaller(database, 9)
    const { product } = callOf(caller)
    await acceptGeneration(
      database,
      callOf(caller, { product: { ...product, title: 'First', metadata: { size: 'M' }, validForDays: 30 } }),
    )
    const before = await productOf(caller.accountId, 'shirt')
    await acceptGeneration(
      database,
      callOf(caller, { product: { id: uuidv7(), externalId: 'shirt', anonymous: false, description: 'x' } }),
    )
    expect(await productOf(caller.accountId, 'shirt')).toMatchObject({
      title: 'First',
      metadata: { size: 'M' },
      days: 30,
      edition: before?.edition,
    })
    await acceptGeneration(database, callOf(caller, { product: { ...product, validForDays: null } }))
    expect(await productOf(caller.accountId, 'shirt')).toMatchObject({ days: null, secondsLeft: null })
  })

  it('refuses a reference to an expired product, and recreates the product on an inline call', async () => {
    const caller = await createCaller(database, 9)
    const { product } = callOf(caller)
    await acceptGeneration(database, callOf(caller, { product: { ...product, title: 'Old' } }))
    await database.query(sql.unsafe`update products set expires_at = now() where account_id = ${caller.accountId}`)
    await expect(
      acceptGeneration(database, callOf(caller, { product: { id: uuidv7(), externalId: 'shirt', anonymous: false } })),
    ).rejects.toMatchObject({ code: 'PRODUCT_NOT_FOUND' })
    await acceptGeneration(database, callOf(caller))
    expect(await productOf(caller.accountId, 'shirt')).toMatchObject({ title: null, days: 15 })
  })

  it('accepts a reference to an expired product that another call has just recreated', async () => {
    const caller = await createCaller(database, 2)
    await acceptGeneration(database, callOf(caller))
    await database.query(sql.unsafe`update products set expires_at = now() where account_id = ${caller.accountId}`)
    const product = { id: uuidv7(), externalId: 'shirt', anonymous: false }
    const other = new pg.Client({ connectionString: url })
    await other.connect()
    await other.query('begin')
    const renewal = "update products set id = $1, expires_at = now() + interval '1 day' where account_id = $2"
    await other.query(renewal, [product.id, caller.accountId])
    const call = callOf(caller, { product: { ...product, id: uuidv7() } })
    const accepting = acceptGeneration(database, call)
    await untilWaiting()
    await other.query('commit')
    await other.end()
    expect(await accepting).toBe(true)
    expect(
      await database.one(sql.unsafe`select product_id as product from generations where id = ${call.generationId}`),
    ).toEqual({ product: product.id })
    expect(await createAccounts(database).findLedgerGaps()).toEqual([])
  })

  /** Resolves when a statement waits for a lock. */
  async function untilWaiting(): Promise<void> {
    const isWaiting = () =>
      database.oneFirst(sql.type(rowType(Type.Object({ waits: Type.Boolean() })))`
        select exists (
          select from pg_stat_activity
          where datname = current_database() and cardinality(pg_blocking_pids(pid)) > 0) as waits`)
    while (!(await isWaiting())) await sleep(5)
  }

  it('stores keys like __proto__ in metadata as data', async () => {
    const caller = await createCaller(database, 1)
    const { product } = callOf(caller)
    const metadata = JSON.parse('{ "__proto__": { "polluted": true }, "constructor": 1 }')
    await acceptGeneration(database, callOf(caller, { product: { ...product, metadata } }))
    expect(JSON.stringify((await productOf(caller.accountId, 'shirt'))?.metadata)).toContain('"__proto__"')
    expect(({} as { polluted?: boolean }).polluted).toBeUndefined()
  })
})
