import { v7 as uuidv7 } from 'uuid'
import { describe, expect, it } from 'vitest'
import { type AccountChanges, createAccounts } from '../../../api/accounts/accounts.store.ts'
import { acceptGeneration, acceptGenerations } from '../../../api/generations/acceptance.store.ts'
import { Type } from '../../../api/shared/contract/schema.ts'
import { Json, rowType, sql } from '../../../api/shared/database/database.ts'
import { createGenerations } from '../../../api/shared/generations/generations.store.ts'
import { createImages } from '../../../api/shared/image/person-photos.store.ts'
import { createRetention } from '../../../api/shared/retention/retention.store.ts'
import { customerShopperId } from '../../../api/shops/shopper.ts'
import { createShops, type ShopSettings } from '../../../api/shops/shops.store.ts'
import { createVisitorAddresses } from '../../../api/shops/visitor-addresses.store.ts'
import { callOf, createCaller } from '../../support/accepted.ts'
import { openTestDatabase } from '../../support/postgres.ts'

const WEEKLY = 10

interface Shopper {
  readonly accountId: string
  readonly shopId: string
  readonly externalUserId: string
  readonly imageId: string
}

describe('limits of a shop', async () => {
  const { database } = await openTestDatabase({ poolSize: 20 })

  async function createShop({ credits = 100, monthly = null as number | null, accountId = '' } = {}) {
    const owner = accountId || (await createCaller(database, credits)).accountId
    const domain = `${uuidv7()}.shop.test`
    const { id } = await createShops(database).insert({ accountId: owner, platform: 'development', domain })
    await database.query(sql.unsafe`update shops set monthly_generations = ${monthly} where id = ${id}`)
    return { accountId: owner, shopId: id }
  }
  async function createShopper(shop: { accountId: string; shopId: string }, customer = '1'): Promise<Shopper> {
    const externalUserId = customerShopperId(shop.shopId, customer)
    const imageId = `img_${uuidv7()}`
    await createImages(database).insert({
      id: imageId,
      accountId: shop.accountId,
      objectKey: `persons/${shop.accountId}/${imageId}.jpg`,
      externalUserId,
      bytes: 1,
      width: 800,
      height: 1000,
      cropMode: 'auto',
      expiresAt: new Date(Date.now() + 3_600_000),
    })
    return { ...shop, externalUserId, imageId }
  }
  const policyOf = (generationId: string) =>
    database.oneFirst(sql.type(rowType(Type.Object({ safety: Json })))`
      select payload->'safety' as safety from outbox where generation_id = ${generationId}`)
  const callOfShopper = ({ shopId, externalUserId, ...caller }: Shopper) =>
    callOf(caller, {
      externalUserId,
      shopperHash: `hash of ${externalUserId}`,
      photoOwners: [externalUserId],
      shop: { id: shopId, weeklyGenerations: WEEKLY },
    })
  const accept = async (shopper: Shopper) => {
    const call = callOfShopper(shopper)
    await acceptGeneration(database, call)
    return call.generationId
  }
  /** The accepted IDs, and the count of each error code. */
  async function acceptMany(shopper: Shopper, count: number) {
    const results = await Promise.allSettled(Array.from({ length: count }, () => accept(shopper)))
    const refusals: Record<string, number> = {}
    for (const result of results) {
      if (result.status === 'rejected') refusals[result.reason.code] = (refusals[result.reason.code] ?? 0) + 1
    }
    return { ids: results.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : [])), refusals }
  }
  const balanceOf = async ({ accountId }: Shopper) => (await createAccounts(database).find(accountId))?.balance

  it('allow a shopper exactly 10 try-ons per week, for any number of concurrent calls', async () => {
    const shopper = await createShopper(await createShop())
    const { ids, refusals } = await acceptMany(shopper, 60)
    expect(ids).toHaveLength(10)
    expect(refusals).toEqual({ RATE_LIMIT_EXCEEDED: 50 })
    expect(await balanceOf(shopper)).toBe(90)
    expect(await createAccounts(database).findLedgerGaps()).toEqual([])
  })

  it('accept, in one statement, photos of the owners of each call and of nobody', async () => {
    const shop = await createShop()
    const [mine, other, nobody] = await Promise.all(['1', '2', '3'].map((customer) => createShopper(shop, customer)))
    await database.query(sql.unsafe`update images set external_user_id = null where id = ${nobody.imageId}`)
    const calls = [mine, other, nobody].map(({ imageId }) => callOfShopper({ ...mine, imageId }))
    const refused = expect.objectContaining({ code: 'IMAGE_NOT_FOUND' })
    expect(await acceptGenerations(database, [...calls, callOfShopper(other)])).toEqual([true, refused, true, true])
  })

  it('apply to calls that are accepted in one statement', async () => {
    const shop = await createShop({ monthly: 18 })
    const shoppers = await Promise.all(['1', '2', '3'].map((customer) => createShopper(shop, customer)))
    const calls = Array.from({ length: 36 }, (_, i) => callOfShopper(shoppers[i < 12 ? 0 : 1 + (i % 2)]))
    const outcomes = await acceptGenerations(database, calls)
    expect(outcomes.map((outcome) => outcome === true)).toEqual(calls.map((_, i) => i < 10 || (i >= 12 && i < 20)))
    for (const outcome of outcomes) if (outcome !== true) expect(outcome).toMatchObject({ code: 'QUOTA_EXCEEDED' })
    expect(await balanceOf(shoppers[0])).toBe(82)
    const unlimited = await createShopper(await createShop(), '4')
    const codes = await acceptGenerations(
      database,
      Array.from({ length: 12 }, () => callOfShopper(unlimited)),
    )
    expect(codes.slice(10)).toMatchObject([{ code: 'RATE_LIMIT_EXCEEDED' }, { code: 'RATE_LIMIT_EXCEEDED' }])
    expect(await createAccounts(database).findLedgerGaps()).toEqual([])
  })

  it('are separate for each shopper and shop', async () => {
    const shop = await createShop()
    const first = await createShopper(shop, '1')
    expect((await acceptMany(first, 11)).ids).toHaveLength(10)
    expect((await acceptMany(await createShopper(shop, '2'), 11)).ids).toHaveLength(10)
    const sister = await createShop({ accountId: shop.accountId })
    expect((await acceptMany(await createShopper(sister, '1'), 11)).ids).toHaveLength(10)
  })

  it('do not count failed generations', async () => {
    const shopper = await createShopper(await createShop())
    const { ids } = await acceptMany(shopper, 10)
    const cancel = { id: ids[0], attempt: null, code: 'GENERATION_CANCELLED', message: '' } as const
    await createGenerations(database).fail(cancel)
    expect(await acceptMany(shopper, 3)).toMatchObject({ ids: { length: 1 }, refusals: { RATE_LIMIT_EXCEEDED: 2 } })
  })

  it('count failed generations that a worker started as attempts, 3 per result', async () => {
    const shopper = await createShopper(await createShop())
    const fail = async (ids: readonly string[], started: boolean) => {
      const generations = createGenerations(database)
      for (const id of ids) {
        if (started) await generations.start({ id, attempt: 1, worker: 'w' })
        await generations.fail({ id, attempt: null, code: 'PRODUCT_IMAGE_FETCH_FAILED', message: '' })
      }
    }
    for (let round = 0; round < 3; round++) {
      const { ids } = await acceptMany(shopper, 10)
      expect(ids).toHaveLength(10)
      // A generation that no worker has started cost nothing.
      const { ids: waiting } = await acceptMany(await createShopper(shopper, `idle-${round}`), 1)
      await fail(waiting, false)
      await fail(ids, true)
    }
    expect(await acceptMany(shopper, 5)).toEqual({ ids: [], refusals: { RATE_LIMIT_EXCEEDED: 5 } })
    expect(await balanceOf(shopper)).toBe(100)
    expect((await acceptMany(await createShopper(shopper, 'idle-0'), 11)).ids).toHaveLength(10)
  })

  it.each([
    ['an address', { addressGenerations: 2, visitorGenerations: 100 }],
    ['all visitors', { addressGenerations: 100, visitorGenerations: 2 }],
  ])('count the attempts of %s in calls that are accepted in one statement', async (_, limits) => {
    const shop = await createShop()
    const shoppers = await Promise.all(['1', '2', '3', '4'].map((customer) => createShopper(shop, customer)))
    const calls = shoppers.flatMap((shopper) => {
      const call = () => ({ ...callOfShopper(shopper), visitorAddress: 'hash' })
      const attempts = { ...limits, id: shop.shopId, weeklyGenerations: WEEKLY }
      return [call(), call()].map((one) => ({ ...one, shop: attempts }))
    })
    const generations = createGenerations(database)
    for (const accepted of [2, 2, 2, 0]) {
      const again = calls.map((call) => ({ ...call, generationId: `gen_${uuidv7()}` }))
      const outcomes = await acceptGenerations(database, again)
      expect(outcomes.filter((outcome) => outcome === true)).toHaveLength(accepted)
      for (const [i, { generationId: id }] of again.entries()) {
        if (outcomes[i] !== true) expect(outcomes[i]).toMatchObject({ code: 'RATE_LIMIT_EXCEEDED' })
        await generations.start({ id, attempt: 1, worker: 'w' })
        await generations.fail({ id, attempt: null, code: 'NO_PERSON_DETECTED', message: '' })
      }
    }
  })

  it('restart on Monday at midnight, UTC', async () => {
    const shopper = await createShopper(await createShop())
    const { ids } = await acceptMany(shopper, 10)
    const move = (id: string, before: string) =>
      database.query(sql.unsafe`
        update generations set created_at = date_trunc('week', now(), 'UTC') - ${before}::interval where id = ${id}`)
    await move(ids[0], '0')
    expect((await acceptMany(shopper, 1)).ids).toHaveLength(0)
    await move(ids[0], '1 millisecond')
    expect((await acceptMany(shopper, 2)).ids).toHaveLength(1)
  })

  it('outlive an erasure of the shopper until the week ends', async () => {
    const shopper = await createShopper(await createShop())
    const { ids } = await acceptMany(shopper, 10)
    await database.query(sql.unsafe`
      update generations set status = 'COMPLETED', finished_at = now() where id = any(${sql.array(ids, 'text')})`)
    expect(await createRetention(database).unlinkGenerations(shopper, 100)).toBe(10)
    expect(await acceptMany(shopper, 3)).toMatchObject({ ids: [], refusals: { RATE_LIMIT_EXCEEDED: 3 } })
    const { forget } = createVisitorAddresses(database)
    const countHashes = () =>
      database.oneFirst(sql.unsafe`
        select count(shopper_hash)::int from generations where shop_id = ${shopper.shopId}`)
    await forget(1000)
    expect(await countHashes()).toBe(10)
    await database.query(sql.unsafe`
      update generations set created_at = date_trunc('week', now(), 'UTC') - interval '1 millisecond'
      where shop_id = ${shopper.shopId}`)
    expect((await acceptMany(shopper, 11)).ids).toHaveLength(10)
    await forget(1000)
    expect(await countHashes()).toBe(10)
  })

  it('include a monthly limit of the whole shop', async () => {
    const shop = await createShop({ monthly: 7 })
    const [one, other] = [await createShopper(shop, '1'), await createShopper(shop, '2')]
    const [ofOne, ofOther] = await Promise.all([acceptMany(one, 20), acceptMany(other, 20)])
    const ids = [...ofOne.ids, ...ofOther.ids]
    expect(ids).toHaveLength(7)
    expect(ofOther.refusals).toMatchObject({ QUOTA_EXCEEDED: expect.any(Number) })
    await database.query(sql.unsafe`
      update generations set created_at = date_trunc('month', now(), 'UTC') - interval '1 millisecond' where id = ${ids[0]}`)
    expect(await acceptMany(other, 3)).toMatchObject({ ids: { length: 1 }, refusals: { QUOTA_EXCEEDED: 2 } })
    const sister = await createShopper(await createShop({ accountId: shop.accountId }))
    expect((await acceptMany(sister, 1)).ids).toHaveLength(1)
  })

  it('do not apply to calls of the server API', async () => {
    const shopper = await createShopper(await createShop({ monthly: 0 }))
    const { shop: _, ...call } = callOfShopper(shopper)
    expect(await acceptGeneration(database, call)).toBe(true)
    await expect(accept(shopper)).rejects.toMatchObject({ code: 'QUOTA_EXCEEDED' })
  })

  it.each([
    ['whose billing is stopped', sql.fragment`billing_allowed = false`],
    ['whose plan has ended', sql.fragment`plan_ends_at = now() - interval '1 second'`],
  ])('apply after the plan: a shop %s is refused', async (_, change) => {
    const shopper = await createShopper(await createShop({ monthly: 0 }))
    await database.query(sql.unsafe`update shops set ${change} where id = ${shopper.shopId}`)
    await expect(accept(shopper)).rejects.toMatchObject({ code: 'BILLING_NOT_ALLOWED' })
    expect(await balanceOf(shopper)).toBe(100)
  })

  it('accept a plan that ends later', async () => {
    const shopper = await createShopper(await createShop())
    await database.query(sql.unsafe`
      update shops set plan_ends_at = now() + interval '1 hour' where id = ${shopper.shopId}`)
    await accept(shopper)
  })

  it('accept only photos of the shopper', async () => {
    const shop = await createShop()
    const shopper = await createShopper(shop)
    const sister = await createShopper(await createShop({ accountId: shop.accountId }))
    const stranger = await createShopper(await createShop())
    const caller = await createCaller(database, 1)
    const other = await createShopper(shop, '2')
    for (const { imageId } of [other, sister, stranger, caller, { imageId: 'img_nothing' }]) {
      await expect(accept({ ...shopper, imageId })).rejects.toMatchObject({ code: 'IMAGE_NOT_FOUND' })
    }
    await accept(shopper)
  })

  it('store the shop of each generation', async () => {
    const shopper = await createShopper(await createShop())
    const id = await accept(shopper)
    expect(await database.one(sql.unsafe`select shop_id as "shopId" from generations where id = ${id}`)).toEqual({
      shopId: shopper.shopId,
    })
  })

  it('overrides the safety policy of its account, in parts or not at all', async () => {
    const shop = await createShop()
    const shopper = await createShopper(shop)
    const safetyOf = async (
      account: AccountChanges['settings'],
      settings: Pick<ShopSettings, 'safetyLevel' | 'allowsSwimwear'>,
    ) => {
      await createAccounts(database).update(shop.accountId, { settings: account })
      await createShops(database).update(shop.shopId, settings)
      const call = callOfShopper(shopper)
      await acceptGeneration(database, call)
      return policyOf(call.generationId)
    }
    const account = { safetyLevel: 'strict', allowsSwimwear: false } as const
    const none = { safetyLevel: null, allowsSwimwear: null }
    expect(await safetyOf(account, none)).toEqual({ level: 'strict', allowsSwimwear: false })
    expect(await safetyOf(account, { ...none, allowsSwimwear: true })).toEqual({
      level: 'strict',
      allowsSwimwear: true,
    })
    expect(await safetyOf(account, { ...none, safetyLevel: 'standard' })).toMatchObject({ level: 'standard' })
    expect(await safetyOf(account, { ...none, safetyLevel: 'off' })).toBeNull()
    const open = { safetyLevel: null, allowsSwimwear: true }
    expect(await safetyOf(open, { safetyLevel: 'strict', allowsSwimwear: false })).toEqual({
      level: 'strict',
      allowsSwimwear: false,
    })
    const own = await createCaller(database, 10)
    await createAccounts(database).update(own.accountId, { settings: account })
    const call = callOf(own)
    await acceptGeneration(database, call)
    expect(await policyOf(call.generationId)).toMatchObject({ level: 'strict' })
  })
})
