import { v7 as uuidv7 } from 'uuid'
import { describe, expect, it } from 'vitest'
import { createAccounts } from '../../../api/accounts/accounts.store.ts'
import { acceptGeneration, acceptGenerations, acceptOutfit } from '../../../api/generations/acceptance.store.ts'
import { presentGeneration } from '../../../api/generations/generations.view.ts'
import { sql } from '../../../api/shared/database/database.ts'
import { createGenerations } from '../../../api/shared/generations/generations.store.ts'
import { generateWebhookSecret } from '../../../api/shared/signing/webhook-signature.ts'
import { createSafetyReviews } from '../../../api/trust/appeals/safety-reviews.store.ts'
import { createWebhooks, WEBHOOK_EVENTS, type WebhookEvent } from '../../../api/webhooks/webhooks.store.ts'
import { type Caller, callOf, createCaller } from '../../support/accepted.ts'
import { openTestDatabase } from '../../support/postgres.ts'
import { refuseGeneration } from '../../support/refused.ts'

const OUTCOME = {
  warnings: [],
  timings: {},
  engineInfo: { name: 'warp', version: '1', license: 'Apache-2.0', kind: 'preview' },
  category: 'tops',
}

describe('the webhook outbox', async () => {
  const { database } = await openTestDatabase({ poolSize: 10 })

  const listen = ({ accountId }: Caller, eventTypes: readonly WebhookEvent[] = WEBHOOK_EVENTS) =>
    createWebhooks(database).insert({
      accountId,
      url: 'https://shop.example/hook',
      eventTypes,
      secret: generateWebhookSecret(),
    })
  const waiting = (endpointId: string) =>
    createWebhooks(database).listDeliveries({ endpointId, failed: false, limit: 100 })
  const accept = async (caller: Caller, changes = {}) => {
    const call = callOf(caller, changes)
    await acceptGeneration(database, call)
    return call.generationId
  }
  const start = async (id: string) => {
    await createGenerations(database).start({ id, attempt: 1, worker: 'w' })
    return { id, attempt: 1 }
  }
  const complete = async (id: string) =>
    createGenerations(database).complete({
      ...(await start(id)),
      outcome: { ...OUTCOME, resultKey: `results/${id}.jpg` },
    })
  const fault = { code: 'NO_PERSON_DETECTED', message: 'The photo shows no person.' } as const

  it('gets an event of a completed generation, with IDs and status only', async () => {
    const caller = await createCaller(database, 5)
    const endpoint = await listen(caller)
    const id = await accept(caller, { externalUserId: 'somebody' })
    expect(await waiting(endpoint.id)).toEqual([])
    await complete(id)
    expect(await waiting(endpoint.id)).toEqual([
      expect.objectContaining({
        type: 'generation.completed',
        eventId: id.replace('gen_', 'evt_'),
        data: { generationId: id, status: 'COMPLETED', productExternalId: 'shirt' },
        status: 'waiting',
        attempts: 0,
      }),
    ])
  })

  it('names all products of an outfit, as the generation does, and the first one that its image shows', async () => {
    const caller = await createCaller(database, 5)
    const endpoint = await listen(caller)
    const { product, ...call } = callOf(caller)
    const layers = (['bottoms', 'tops', 'outerwear'] as const).map((layer) => ({
      layer,
      product: { ...product, id: uuidv7(), externalId: layer },
    }))
    await acceptOutfit(database, { ...call, layers, layerCost: 1 })
    const { generationId: id } = call
    const applied = { applied: true, warnings: ['LOW_QUALITY'], errorCode: null, errorMessage: null }
    await createGenerations(database).complete({
      ...(await start(id)),
      outcome: {
        ...OUTCOME,
        resultKey: `results/${id}.jpg`,
        layers: [
          { applied: false, warnings: [], quality: null, errorCode: 'RESULT_REJECTED', errorMessage: 'Too bad.' },
          { ...applied, quality: null, warnings: ['PRODUCT_HIDDEN'] },
          { ...applied, quality: 0.5 },
        ],
      },
    })
    const record = await createGenerations(database).find(id)
    const shown =
      record && presentGeneration(record, { resultImageUrl: null, resultUrls: [], wait: null, appealUrl: null })
    expect(shown?.layers).toHaveLength(3)
    const [{ data }] = await waiting(endpoint.id)
    expect(data).toEqual({
      generationId: id,
      status: 'COMPLETED',
      productExternalId: 'outerwear',
      layers: shown?.layers,
    })
  })

  it.each([
    [
      'by its worker',
      'NO_PERSON_DETECTED',
      async (id: string) => {
        await createGenerations(database).fail({ ...(await start(id)), ...fault })
      },
    ],
    [
      'by its caller, before it started',
      'GENERATION_CANCELLED',
      async (id: string) => {
        await createGenerations(database).fail({
          id,
          attempt: null,
          code: 'GENERATION_CANCELLED',
          message: 'Cancelled.',
        })
      },
    ],
    [
      'past its deadline',
      'GENERATION_TIMEOUT',
      async (id: string) => {
        await database.query(sql.unsafe`update generations set deadline_at = now() where id = ${id}`)
        await createGenerations(database).failOverdue(10)
      },
    ],
    [
      'with its last attempt',
      'GENERATION_FAILED',
      async (id: string) => {
        await database.query(sql.unsafe`update generations set attempt = 3 where id = ${id}`)
        await createGenerations(database).start({ id, attempt: 3, worker: 'w' })
        await createGenerations(database).retry({ id, attempt: 3, delaySeconds: 0 })
      },
    ],
    [
      'with the worker of its last attempt',
      'GENERATION_FAILED',
      async (id: string) => {
        await database.query(sql.unsafe`update generations set attempt = 3 where id = ${id}`)
        await createGenerations(database).start({ id, attempt: 3, worker: 'w' })
        await database.query(sql.unsafe`update generations set lease_until = now() - interval '1 s' where id = ${id}`)
        await createGenerations(database).recoverLost(10)
      },
    ],
    [
      'with its customer',
      'GENERATION_CANCELLED',
      async (_: string, accountId: string) => {
        await createGenerations(database).failOfCustomer({ accountId, externalUserId: 'somebody' }, 10)
      },
    ],
  ])('gets an event of a generation that was ended %s', async (_, errorCode, end) => {
    const caller = await createCaller(database, 5)
    const endpoint = await listen(caller)
    const id = await accept(caller, { externalUserId: 'somebody' })
    await end(id, caller.accountId)
    expect(await waiting(endpoint.id)).toEqual([
      expect.objectContaining({
        type: 'generation.failed',
        data: { generationId: id, status: 'FAILED', errorCode, productExternalId: 'shirt' },
      }),
    ])
  })

  it('gets one event per generation, and none for a retried attempt', async () => {
    const caller = await createCaller(database, 5)
    const endpoint = await listen(caller)
    const attempt = await start(await accept(caller))
    await createGenerations(database).retry({ ...attempt, delaySeconds: 0 })
    expect(await waiting(endpoint.id)).toEqual([])
    await Promise.all(
      Array.from({ length: 6 }, () => createGenerations(database).fail({ ...fault, id: attempt.id, attempt: null })),
    )
    await complete(attempt.id)
    expect(await waiting(endpoint.id)).toHaveLength(1)
  })

  it('gets one delivery per active endpoint of the account with the event type', async () => {
    const [mine, other] = [await createCaller(database, 5), await createCaller(database, 5)]
    const [first, second] = [await listen(mine), await listen(mine, ['generation.completed'])]
    const failures = await listen(mine, ['generation.failed'])
    const idle = await listen(mine)
    await createWebhooks(database).update(idle.id, { isActive: false })
    const foreign = await listen(other)
    await complete(await accept(mine))
    const [queued, alsoQueued] = [await waiting(first.id), await waiting(second.id)]
    expect(queued).toHaveLength(1)
    expect(alsoQueued[0].eventId).toBe(queued[0].eventId)
    for (const { id } of [failures, idle, foreign]) expect(await waiting(id)).toEqual([])
  })

  it('gets one event of a decided review, without the reason and the answer', async () => {
    const [caller, other] = [await createCaller(database, 5), await createCaller(database, 5)]
    const [endpoint, foreign] = [await listen(caller, ['review.decided']), await listen(other)]
    const generationId = await refuseGeneration(database, caller)
    const reviews = createSafetyReviews(database)
    await reviews.appeal(generationId, 'A reason.')
    const decide = (decision: 'ALLOWED' | 'BLOCKED', version = 1) =>
      reviews.decide(generationId, { version, decision, answer: 'An answer.' })
    expect(await decide('ALLOWED', 2)).toBe(false)
    expect(await waiting(endpoint.id)).toEqual([])
    expect(await decide('ALLOWED')).toBe(true)
    expect(await decide('BLOCKED')).toBe(false)
    expect(await waiting(endpoint.id)).toEqual([
      expect.objectContaining({
        type: 'review.decided',
        data: { generationId, state: 'ALLOWED', productExternalId: 'shirt' },
      }),
    ])
    expect(await waiting(foreign.id)).toEqual([])
  })

  it('gets an event of an erased customer', async () => {
    const caller = await createCaller(database, 0)
    const endpoint = await listen(caller)
    await createWebhooks(database).insertErased({ accountId: caller.accountId, externalUserId: 'user-1' }, 'era_1')
    expect(await waiting(endpoint.id)).toEqual([
      expect.objectContaining({ type: 'customer.erased', data: { externalUserId: 'user-1', erasureId: 'era_1' } }),
    ])
  })

  describe('for credits.low', () => {
    const low = async (credits: number, creditsLowAt?: number) => {
      const caller = await createCaller(database, credits)
      await createAccounts(database).update(caller.accountId, { settings: { creditsLowAt: creditsLowAt ?? null } })
      const endpoint = await listen(caller, ['credits.low'])
      const queued = async () => (await waiting(endpoint.id)).map(({ data }) => data).toReversed()
      const add = (credits: number) =>
        createAccounts(database).addCredits({ accountId: caller.accountId, credits, note: null })
      return { caller, queued, add }
    }

    it('gets one event, and another only after a top-up above the threshold', async () => {
      const { caller, queued, add } = await low(5, 3)
      await accept(caller)
      expect(await queued()).toEqual([])
      const id = await accept(caller)
      const first = { creditBalance: 3, creditsLowAt: 3 }
      expect(await queued()).toEqual([first])
      await createGenerations(database).fail({ id, attempt: null, ...fault })
      await accept(caller)
      await accept(caller)
      expect(await queued()).toEqual([first])
      await add(1)
      await accept(caller)
      expect(await queued()).toEqual([first])
      await add(2)
      await accept(caller)
      expect(await queued()).toEqual([first, { creditBalance: 3, creditsLowAt: 3 }])
    })

    it('gets one event for many concurrent calls', async () => {
      const { caller, queued } = await low(20, 10)
      await Promise.allSettled(Array.from({ length: 40 }, () => accept(caller)))
      expect(await queued()).toEqual([{ creditBalance: 10, creditsLowAt: 10 }])
    })

    it('gets one event if one statement crosses the threshold', async () => {
      const { caller, queued } = await low(20, 10)
      const product = { id: uuidv7(), externalId: 'shirt', anonymous: false }
      await accept(caller)
      await acceptGenerations(
        database,
        Array.from({ length: 12 }, () => callOf(caller, { product })),
      )
      expect(await queued()).toEqual([{ creditBalance: 7, creditsLowAt: 10 }])
    })

    it('gets no event without a threshold, and none for a free or refused call', async () => {
      const silent = await low(1)
      await accept(silent.caller)
      expect(await silent.queued()).toEqual([])
      const free = await low(2, 5)
      await accept(free.caller, { engine: 'mock', cost: 0 })
      await expect(accept(free.caller, { imageId: `img_${uuidv7()}` })).rejects.toThrow()
      expect(await free.queued()).toEqual([])
    })

    it('gets another event when the threshold is changed, not when it is stored again', async () => {
      const { caller, queued } = await low(6, 4)
      const set = (creditsLowAt: number) =>
        createAccounts(database).update(caller.accountId, { settings: { creditsLowAt } })
      await accept(caller)
      await accept(caller)
      await set(4)
      await accept(caller)
      await set(2)
      await accept(caller)
      expect(await queued()).toEqual([
        { creditBalance: 4, creditsLowAt: 4 },
        { creditBalance: 2, creditsLowAt: 2 },
      ])
    })
  })
})
