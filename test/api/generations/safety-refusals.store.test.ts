import { randomUUID } from 'node:crypto'
import { beforeEach, describe, expect, it } from 'vitest'
import { acceptGeneration } from '../../../api/generations/acceptance.store.ts'
import { createSafetyRefusals } from '../../../api/generations/safety-refusals.store.ts'
import type { SafetyCheck, TryOnImage } from '../../../api/shared/contract/errors.ts'
import { sql } from '../../../api/shared/database/database.ts'
import { createGenerations } from '../../../api/shared/generations/generations.store.ts'
import type { HashedPair } from '../../../api/shared/generations/worker-calls.ts'
import { createOldReviews } from '../../../api/shared/retention/old-reviews.store.ts'
import { createSafetyBlocks } from '../../../api/trust/appeals/safety-blocks.store.ts'
import { createSafetyReviews } from '../../../api/trust/appeals/safety-reviews.store.ts'
import { type Caller, callOf, createCaller } from '../../support/accepted.ts'
import { openTestDatabase } from '../../support/postgres.ts'

/** A hash with this many bits that differ from `a…a`. */
function hashWith(differentBits: number) {
  const bits = BigInt(`0x${'a'.repeat(64)}`) ^ ((1n << BigInt(differentBits)) - 1n)
  const hash = bits.toString(16).padStart(64, '0')
  return { hash, mirrored: '3'.repeat(64) }
}
const SHIRT = { hash: '5'.repeat(64), mirrored: 'c'.repeat(64) }
const TROUSERS = { hash: '0f'.repeat(32), mirrored: 'e1'.repeat(32) }

function pairOf(differentBits: number, { product = SHIRT, bytes = '1' } = {}): HashedPair {
  return { person: [hashWith(differentBits)], product: [product], digests: [bytes.repeat(64), '2'.repeat(64)] }
}

describe('refusals by safety checks', async () => {
  const { database } = await openTestDatabase({ poolSize: 5 })
  let caller: Caller
  beforeEach(async () => {
    caller = await createCaller(database, 100)
    await database.query(sql.unsafe`delete from safety_blocks`)
  })

  const refusals = () => createSafetyRefusals(database)
  const reviews = () => createSafetyReviews(database)
  const refuse = async (pair: HashedPair, { check, image }: { check: SafetyCheck; image: TryOnImage | null }) => {
    const call = callOf(caller)
    const attempt = { id: call.generationId, attempt: 1 }
    await acceptGeneration(database, call)
    await createGenerations(database).start({ ...attempt, worker: 'w' })
    await refusals().insert({ ...attempt, check, image, pair })
    await createGenerations(database).fail({ ...attempt, code: 'RESULT_REJECTED', message: 'Refused.' })
    await reviews().appeal(attempt.id, 'A reason.')
    return attempt.id
  }
  const decide = async (id: string, decision: 'ALLOWED' | 'BLOCKED', blockDays: number | null = null) => {
    expect(await reviews().decide(id, { version: 1, decision, answer: 'An answer.', blockDays })).toBe(true)
  }
  const NUDE_PHOTO = { check: 'nudity', image: 'person' } as const
  const NUDE_RESULT = { check: 'result-nudity', image: null } as const

  it('of a result block the photo with this product, and not the photo alone', async () => {
    await decide(await refuse(pairOf(0), NUDE_RESULT), 'BLOCKED')
    expect(await refusals().findBlocked(pairOf(0))).toEqual([null])
    expect(await refusals().findBlocked(pairOf(31))).toEqual([null])
    expect(await refusals().findBlocked(pairOf(32))).toEqual([])
    expect(await refusals().findBlocked(pairOf(0, { product: TROUSERS }))).toEqual([])
    // A separate block of the photo alone exists.
    await decide(await refuse(pairOf(0), NUDE_PHOTO), 'BLOCKED')
    expect(await refusals().findBlocked(pairOf(0, { product: TROUSERS }))).toEqual(['person'])
    expect(await createSafetyBlocks(database).listing.list({}, { limit: 10 })).toMatchObject([
      { kind: 'person', accountId: caller.accountId, expiresAt: null },
      { kind: 'pair' },
    ])
  })

  it('block until the end that the operator chose, and a longer block replaces a shorter one', async () => {
    await decide(await refuse(pairOf(0), NUDE_PHOTO), 'BLOCKED', 2)
    expect(await refusals().findBlocked(pairOf(0))).toEqual(['person'])
    await decide(await refuse(pairOf(0), NUDE_PHOTO), 'BLOCKED', 1)
    const [{ expiresAt, id }, ...others] = await createSafetyBlocks(database).listing.list({}, { limit: 10 })
    expect(others).toEqual([])
    expect(Number(expiresAt) - Date.now()).toBeGreaterThan(47 * 3_600_000)
    await database.query(sql.unsafe`update safety_blocks set expires_at = now() - interval '1 second'`)
    expect(await refusals().findBlocked(pairOf(0))).toEqual([])
    expect(await createSafetyBlocks(database).listing.list({}, { limit: 10 })).toEqual([])
    expect(await createOldReviews(database).deleteEndedBlocks()).toBe(1)
    expect(await createSafetyBlocks(database).delete(id)).toBe(false)
    await decide(await refuse(pairOf(0), NUDE_PHOTO), 'BLOCKED')
    const [endless] = await createSafetyBlocks(database).listing.list({}, { limit: 10 })
    expect(endless.expiresAt).toBeNull()
    expect(await createSafetyBlocks(database).delete(endless.id)).toBe(true)
    expect(await refusals().findBlocked(pairOf(0))).toEqual([])
  })

  it('let other encodings of an allowed pair pass once, and no other image that looks similar', async () => {
    await decide(await refuse(pairOf(0), NUDE_PHOTO), 'ALLOWED')
    const take = (pair: HashedPair) => refusals().claimAllowances(`gen_${randomUUID()}`, caller.accountId, pair)
    expect(await take(pairOf(9, { bytes: '3' }))).toEqual([])
    expect(await take(pairOf(0, { product: TROUSERS }))).toEqual([])
    expect(await take(pairOf(8, { bytes: '3' }))).toEqual([NUDE_PHOTO])
    expect(await take(pairOf(0))).toEqual([])
  })

  it('spend the allowance for the same bytes before one for a copy', async () => {
    const copy = await refuse(pairOf(4, { bytes: '3' }), NUDE_PHOTO)
    const same = await refuse(pairOf(0), NUDE_PHOTO)
    await decide(copy, 'ALLOWED')
    await decide(same, 'ALLOWED')
    const used = `gen_${randomUUID()}`
    expect(await refusals().claimAllowances(used, caller.accountId, pairOf(0))).toEqual([NUDE_PHOTO])
    expect(await reviews().find(same)).toMatchObject({ usedBy: used })
    expect(await reviews().find(copy)).toMatchObject({ usedBy: null })
  })
})
