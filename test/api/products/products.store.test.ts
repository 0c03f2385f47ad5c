import { v7 as uuidv7 } from 'uuid'
import { describe, expect, it } from 'vitest'
import { acceptGeneration } from '../../../api/generations/acceptance.store.ts'
import { createProducts } from '../../../api/products/products.store.ts'
import { Type } from '../../../api/shared/contract/schema.ts'
import { rowType, sql } from '../../../api/shared/database/database.ts'
import type { ProductInput } from '../../../api/shared/database/product-merge.store.ts'
import { createRetention } from '../../../api/shared/retention/retention.store.ts'
import { createObjects } from '../../../api/shared/storage/objects.store.ts'
import { callOf, createCaller } from '../../support/accepted.ts'
import { openTestDatabase } from '../../support/postgres.ts'

const HOUR_MS = 3_600_000

const Stored = rowType(Type.Object({ name: Type.String(), ends: Type.Boolean() }))

describe('the stored images of products', async () => {
  const { database } = await openTestDatabase({ poolSize: 20 })

  const products = createProducts(database)

  const createAccount = async () => (await createCaller(database, 100)).accountId
  const keyOf = (accountId: string, name: string) => `products/${accountId}/${name}.jpg`
  const insertObject = async (accountId: string, key: string, expiresAt: Date | null) => {
    await createObjects(database).insert({ key, accountId, externalUserId: null, kind: 'product', bytes: 1, expiresAt })
  }
  /** A product with these images, as in a call that has just stored their bytes. */
  const withImages = async (accountId: string, externalId: string, names: readonly string[]): Promise<ProductInput> => {
    for (const name of names) await insertObject(accountId, keyOf(accountId, name), new Date(Date.now() + HOUR_MS))
    const images = names.map((name, order) => ({
      sourceUrl: `upload://${name}`,
      order,
      classifications: null,
      objectKey: keyOf(accountId, name),
    }))
    return { id: uuidv7(), externalId, anonymous: false, images }
  }
  const save = async (accountId: string, externalId: string, names: readonly string[]) =>
    products.upsert(accountId, await withImages(accountId, externalId, names))
  /** Names of the objects without expiry, and of those that a later sweep deletes. */
  const objectsOf = async (accountId: string) => {
    const rows = await database.any(sql.type(Stored)`
      select regexp_replace(key, '^products/[^/]+/|\.jpg$', '', 'g') as name, expires_at is not null as ends from objects
      where account_id = ${accountId} and kind = 'product' order by key`)
    return {
      kept: rows.filter(({ ends }) => !ends).map(({ name }) => name),
      ending: rows.filter(({ ends }) => ends).map(({ name }) => name),
    }
  }

  it('stay while a product refers to them', async () => {
    const account = await createAccount()
    const product = await withImages(account, 'shirt', ['a', 'b'])
    expect(await objectsOf(account)).toEqual({ kept: [], ending: ['a', 'b'] })
    await products.upsert(account, product)
    expect(await objectsOf(account)).toEqual({ kept: ['a', 'b'], ending: [] })
  })

  it('are deleted with the product, but not before the deadline of its generations', async () => {
    const account = await createAccount()
    await save(account, 'shirt', ['a'])
    expect(await products.delete({ accountId: account, externalId: 'shirt' })).toBe(account)
    expect(await objectsOf(account)).toEqual({ kept: [], ending: ['a'] })
    const end = await database.oneFirst(sql.unsafe`select expires_at from objects where key = ${keyOf(account, 'a')}`)
    expect((end as Date).getTime() - Date.now()).toBeGreaterThan(HOUR_MS - 10_000)
  })

  it('stay while another product of the account uses them', async () => {
    const account = await createAccount()
    await save(account, 'one', ['a', 'b'])
    await save(account, 'two', ['b', 'c'])
    await products.delete({ accountId: account, externalId: 'one' })
    expect(await objectsOf(account)).toEqual({ kept: ['b', 'c'], ending: ['a'] })
    await products.delete({ accountId: account, externalId: 'two' })
    expect(await objectsOf(account)).toEqual({ kept: [], ending: ['a', 'b', 'c'] })
  })

  it('are deleted when other images replace them, and stored again with them', async () => {
    const account = await createAccount()
    await save(account, 'shirt', ['a', 'b'])
    await save(account, 'shirt', ['b', 'c'])
    expect(await objectsOf(account)).toEqual({ kept: ['b', 'c'], ending: ['a'] })
    await products.upsert(account, { id: uuidv7(), externalId: 'shirt', anonymous: false, title: 'x' })
    await save(account, 'shirt', ['a'])
    expect(await objectsOf(account)).toEqual({ kept: ['a'], ending: ['b', 'c'] })
  })

  it('are deleted when a try-on replaces them, or finds the product expired', async () => {
    const caller = await createCaller(database, 9)
    const accept = async (names: readonly string[]) => {
      const product = await withImages(caller.accountId, 'shirt', names)
      await acceptGeneration(database, callOf(caller, { product }))
    }
    await accept(['a'])
    await accept(['b'])
    expect(await objectsOf(caller.accountId)).toEqual({ kept: ['b'], ending: ['a'] })
    await database.query(sql.unsafe`update products set expires_at = now() where account_id = ${caller.accountId}`)
    await accept(['c'])
    expect(await objectsOf(caller.accountId)).toEqual({ kept: ['c'], ending: ['a', 'b'] })
  })

  it('include images that were fetched for one product only', async () => {
    const account = await createAccount()
    const images = [{ sourceUrl: 'https://shop.example/a.jpg', order: 0, classifications: null }]
    const input = (externalId: string) => ({ id: uuidv7(), externalId, anonymous: false, images })
    const one = await products.upsert(account, input('one'))
    const two = await products.upsert(account, input('two'))
    for (const product of [one, two])
      await insertObject(account, `products/${account}/${product?.id}/fetched.bin`, null)
    await products.delete({ accountId: account, externalId: 'one' })
    expect(await objectsOf(account)).toEqual({ kept: [`${two?.id}/fetched.bin`], ending: [`${one?.id}/fetched.bin`] })
  })

  it('are deleted when all products that share them expire together', async () => {
    const account = await createAccount()
    for (const externalId of ['one', 'two']) await save(account, externalId, ['a', 'b'])
    await database.query(sql.unsafe`update products set expires_at = now() where account_id = ${account}`)
    await createRetention(database).deleteExpiredProducts(10)
    expect(await objectsOf(account)).toEqual({ kept: [], ending: ['a', 'b'] })
  })

  it('stay after a refused deletion', async () => {
    const [account, other] = [await createAccount(), await createAccount()]
    const product = await withImages(account, `_anon_${uuidv7()}`, ['a'])
    const { imageId } = await createCaller(database, 0)
    await database.query(sql.unsafe`update images set account_id = ${account} where id = ${imageId}`)
    const call = callOf({ accountId: account, imageId }, { product: { ...product, anonymous: true } })
    await acceptGeneration(database, call)
    expect(await products.delete({ accountId: other, externalId: product.externalId })).toBe(account)
    expect(await products.delete({ accountId: other, externalId: 'nothing' })).toBe(null)
    expect(await objectsOf(account)).toEqual({ kept: ['a'], ending: [] })
  })

  it('stay for a product that claims them during the deletion of another product', async () => {
    const account = await createAccount()
    for (let round = 0; round < 40; round++) {
      await save(account, 'old', ['shared'])
      const claim = await withImages(account, `new-${round}`, ['shared'])
      await Promise.all([products.delete({ accountId: account, externalId: 'old' }), products.upsert(account, claim)])
      expect(await objectsOf(account)).toEqual({ kept: ['shared'], ending: [] })
      await products.delete({ accountId: account, externalId: `new-${round}` })
    }
  })
})
