import { afterAll, describe, expect, it } from 'vitest'
import { createAccounts } from '../../../../api/accounts/accounts.store.ts'
import { acceptGeneration } from '../../../../api/generations/acceptance.store.ts'
import { Type } from '../../../../api/shared/contract/schema.ts'
import { rowType, sql } from '../../../../api/shared/database/database.ts'
import { createOldReviews } from '../../../../api/shared/retention/old-reviews.store.ts'
import { createSafetyReviews } from '../../../../api/trust/appeals/safety-reviews.store.ts'
import { callOf, createCaller } from '../../../support/accepted.ts'
import { startDrape } from '../../../support/drape.ts'
import { refuseGeneration } from '../../../support/refused.ts'
import { until } from '../../../support/until.ts'

const Counts = rowType(Type.Object({ refusals: Type.Integer(), reviews: Type.Integer() }))

describe('an appeal', async () => {
  const drape = await startDrape()
  const caller = await createCaller(drape.database, 1000)
  const key = await createAccounts(drape.database).insertKey(caller.accountId, 'secret')
  afterAll(() => drape.stop())

  const appeal = (id: string, reason: unknown = 'It is a shirt.', by = key) =>
    drape.call('POST', `/tryon/v1/generations/${id}/appeal`, { key: by, body: { reason } })
  const balance = async () => (await createAccounts(drape.database).find(caller.accountId))?.balance
  const reviews = () => createSafetyReviews(drape.database)
  const count = () =>
    drape.database.one(sql.type(Counts)`
      select (select count(*) from safety_refusals) as refusals, (select count(*) from safety_reviews) as reviews`)

  it('is free, and the same call returns the decision, only to its account', async () => {
    const before = await balance()
    const id = await refuseGeneration(drape.database, caller)
    const { status, body } = await appeal(id)
    expect({ status, body }).toEqual({
      status: 200,
      body: {
        generationId: id,
        state: 'OPEN',
        reason: 'It is a shirt.',
        byShopper: false,
        answer: null,
        createdAt: expect.any(String),
        decidedAt: null,
      },
    })
    expect((await appeal(id, 'It is a beige shirt.')).body).toMatchObject({ reason: 'It is a beige shirt.' })
    // An operator who saw the first reason decides on nothing else.
    const decision = { decision: 'REFUSED', answer: 'It is not.' } as const
    expect(await reviews().decide(id, { version: 1, ...decision })).toBe(false)
    expect(await reviews().decide(id, { version: 2, ...decision })).toBe(true)
    expect(await reviews().decide(id, { version: 2, decision: 'ALLOWED', answer: 'Or is it?' })).toBe(false)
    const again = await appeal(id, 'Please!')
    expect(again.body).toMatchObject({ state: 'REFUSED', reason: 'It is a beige shirt.', answer: 'It is not.' })
    expect(await appeal(id, 'Please!', drape.apiKey)).toMatchObject({ status: 403 })
    expect(await balance()).toBe(before)
    expect(await createAccounts(drape.database).findLedgerGaps()).toEqual([])
  })

  it('can be fetched only by its account, even if a shopper wrote it', async () => {
    const get = (id: string, by = key) => drape.call('GET', `/tryon/v1/generations/${id}/appeal`, { key: by })
    const id = await refuseGeneration(drape.database, caller)
    expect(await get(id)).toMatchObject({ status: 404, body: { code: 'APPEAL_NOT_FOUND' } })
    await reviews().appeal(id, 'I wear a shirt.', { byShopper: true })
    expect((await get(id)).body).toMatchObject({ state: 'OPEN', reason: 'I wear a shirt.', byShopper: true })
    expect(await get(id, drape.apiKey)).toMatchObject({ status: 403 })
    expect(await get('gen_unknown')).toMatchObject({ status: 404, body: { code: 'GENERATION_NOT_FOUND' } })
  })

  it('requires a refusal by a safety check and a reason', async () => {
    const call = callOf(caller)
    await acceptGeneration(drape.database, call)
    expect(await appeal(call.generationId)).toMatchObject({ status: 400, body: { code: 'VALIDATION_FAILED' } })
    expect(await appeal('gen_unknown')).toMatchObject({ status: 404 })
    const id = await refuseGeneration(drape.database, caller)
    for (const reason of ['', 'no', 'x'.repeat(1001), null, 7]) expect((await appeal(id, reason)).status).toBe(400)
    expect(await reviews().find(id)).toBeNull()
  })

  it('is limited to 100 open appeals per account', async () => {
    const crowd = await createCaller(drape.database, 1000)
    const ids: string[] = []
    for (let i = 0; i < 101; i++) ids.push(await refuseGeneration(drape.database, crowd))
    for (const id of ids.slice(0, 100)) expect(await reviews().appeal(id, 'Same.')).toMatchObject({ state: 'OPEN' })
    const crowdKey = await createAccounts(drape.database).insertKey(crowd.accountId, 'secret')
    expect(await appeal(ids[100], 'One more.', crowdKey)).toMatchObject({
      status: 402,
      body: { code: 'QUOTA_EXCEEDED' },
    })
    expect(await appeal(ids[0], 'Changed.', crowdKey)).toMatchObject({ status: 200, body: { reason: 'Changed.' } })
    await reviews().decide(ids[1], { version: 1, decision: 'REFUSED', answer: 'No.' })
    expect((await appeal(ids[100], 'One more.', crowdKey)).status).toBe(200)
  })

  it('is measured by the age of the oldest open appeal, only of live accounts', async () => {
    const { database } = drape
    await database.query(sql.unsafe`update safety_reviews set state = 'REFUSED' where state = 'OPEN'`)
    expect(await reviews().measureOldest()).toBeNull()
    const scrape = async () => (await fetch(`${drape.api.probeUrl}/metrics`)).text()
    await until(async () => /^drape_reviews_oldest_seconds 0$/m.test(await scrape()))
    const id = await refuseGeneration(database, caller)
    await reviews().appeal(id, 'It is a shirt.')
    await database.query(sql.unsafe`
      update safety_reviews set created_at = now() - interval '3 days' where generation_id = ${id}`)
    expect(await reviews().measureOldest()).toBeGreaterThanOrEqual(3 * 86_400)
    await until(async () => /^drape_reviews_oldest_seconds \d{6}/m.test(await scrape()))
    await createAccounts(database).update(caller.accountId, { isActive: false })
    expect(await reviews().measureOldest()).toBeNull()
    await createAccounts(database).update(caller.accountId, { isActive: true })
  })

  it('is deleted with its customer, or 90 days after refusal and decision, unless it is open', async () => {
    await drape.database.query(sql.unsafe`delete from safety_refusals`)
    const [anna, old, open, unasked] = [
      await refuseGeneration(drape.database, caller, { externalUserId: 'anna' }),
      await refuseGeneration(drape.database, caller),
      await refuseGeneration(drape.database, caller),
      await refuseGeneration(drape.database, caller),
    ]
    for (const id of [anna, old, open]) await reviews().appeal(id, 'It is a shirt.')
    await reviews().decide(old, { version: 1, decision: 'ALLOWED', answer: 'Yes.' })
    expect(await count()).toEqual({ refusals: 4, reviews: 3 })
    expect((await drape.call('DELETE', '/tryon/v1/customers/anna', { key })).status).toBeLessThan(300)
    expect(await count()).toEqual({ refusals: 3, reviews: 2 })
    await drape.database.query(sql.unsafe`
      update safety_refusals set created_at = now() - interval '91 days' where generation_id <> ${unasked}`)
    // The account can still read the decision and use the allowance.
    expect(await createOldReviews(drape.database).deleteOldReviews(10)).toBe(0)
    expect(await reviews().find(old)).toMatchObject({ state: 'ALLOWED' })
    await drape.database.query(sql.unsafe`
      update safety_reviews set decided_at = now() - interval '91 days' where generation_id = ${old}`)
    expect(await createOldReviews(drape.database).deleteOldReviews(10)).toBe(1)
    expect(await reviews().find(old)).toBeNull()
    expect(await count()).toEqual({ refusals: 2, reviews: 1 })
  })
})
