import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, afterEach, describe, expect, it } from 'vitest'
import { createApiKeys } from '../../../api/accounts/api-keys.store.ts'
import { acceptGeneration } from '../../../api/generations/acceptance.store.ts'
import { compileCheck } from '../../../api/shared/contract/schema.ts'
import { type Database, sql, withinTransaction } from '../../../api/shared/database/database.ts'
import { createRetention } from '../../../api/shared/retention/retention.store.ts'
import { generateWebhookSecret } from '../../../api/shared/signing/webhook-signature.ts'
import { WEBHOOK_MESSAGES, type WebhookMessageType } from '../../../api/webhooks/messages.schema.ts'
import { createWebhookListeners } from '../../../api/webhooks/webhook-listeners.store.ts'
import { createWebhooks, WEBHOOK_EVENTS } from '../../../api/webhooks/webhooks.store.ts'
import { callOf } from '../../support/accepted.ts'
import { formOf, readSample, startDrape } from '../../support/drape.ts'
import { startProgram } from '../../support/process.ts'
import { until } from '../../support/until.ts'
import { isGenuine, startWebhookReceiver } from '../../support/webhook-receiver.ts'

const SECRET = generateWebhookSecret()

describe('listeners and events', async () => {
  let made: string[] = []

  const receiver = await startWebhookReceiver()
  const drape = await startDrape({ env: { FETCH_ALLOW_PORTS: String(receiver.port) } })
  const other = await drape.createAccount(5)
  const form = formOf({}, { file: await readSample('persons/down-half-teal.jpg') })
  form.set('crop', 'false')
  const imageId = (await drape.call('POST', '/tryon/v1/images/upload', { body: form })).body.imageId
  afterAll(async () => {
    await drape.stop()
    await receiver.stop()
  })
  afterEach(async () => {
    for (const id of made) await drape.call('DELETE', `/tryon/v1/webhooks/listeners/${id}`)
    made = []
    receiver.received.length = 0
  })

  const listen = async (events?: readonly string[], key = drape.apiKey) => {
    const { status, body } = await drape.call('POST', '/tryon/v1/webhooks/listeners', { body: { events }, key })
    expect(status).toBe(201)
    if (key === drape.apiKey) made.push(body.listenerId)
    return body.listenerId as string
  }
  const poll = (id: string, body: object = {}, key = drape.apiKey) =>
    drape.call('POST', `/tryon/v1/webhooks/listeners/${id}/poll`, { body, key })
  const eventsOf = async (id: string, body: object = { waitSeconds: 0 }) => (await poll(id, body)).body.events
  const trigger = async (type: string, more: object = {}) =>
    (await drape.call('POST', '/tryon/v1/webhooks/events', { body: { type, ...more } })).body
  const resend = (id: string | number, key = drape.apiKey) =>
    drape.call('POST', `/tryon/v1/webhooks/events/${id}/resend`, { key })
  const endGeneration = async () => {
    const call = callOf({ accountId: drape.accountId, imageId }, { engine: 'mock', cost: 0, deadlineSeconds: 3600 })
    await acceptGeneration(drape.database, call)
    await drape.call('POST', `/tryon/v1/generations/${call.generationId}/cancel`)
    return call.generationId
  }
  const createEndpoint = () =>
    createWebhooks(drape.database).insert({
      accountId: drape.accountId,
      url: receiver.url,
      eventTypes: WEBHOOK_EVENTS,
      secret: SECRET,
    })

  it('a polling listener gets an event within a second', async () => {
    const id = await listen()
    const polled = eventsOf(id, {})
    await sleep(300)
    const generationId = await endGeneration()
    const ended = performance.now()
    const [event] = await polled
    expect(performance.now() - ended).toBeLessThan(2000)
    expect(event).toEqual({
      deliveryId: expect.any(Number),
      eventId: `evt_${generationId.slice(4)}`,
      type: 'generation.failed',
      timestamp: expect.any(String),
      data: {
        accountId: drape.accountId,
        generationId,
        status: 'FAILED',
        errorCode: 'GENERATION_CANCELLED',
        productExternalId: expect.any(String),
      },
    })
    expect(await eventsOf(id)).toEqual([])
  })

  it('a listener gets only its types, and never events of another account', async () => {
    const failed = await listen(['generation.failed'])
    const completed = await listen(['generation.completed'])
    const foreign = await listen(undefined, other.apiKey)
    await endGeneration()
    expect(await eventsOf(failed)).toHaveLength(1)
    expect(await eventsOf(completed)).toEqual([])
    expect((await poll(foreign, { waitSeconds: 0 }, other.apiKey)).body.events).toEqual([])
    expect((await poll(failed, { waitSeconds: 0 }, other.apiKey)).body.code).toBe('LISTENER_NOT_FOUND')
    await drape.call('DELETE', `/tryon/v1/webhooks/listeners/${failed}`, { key: other.apiKey })
    expect((await poll(failed, { waitSeconds: 0 })).status).toBe(200)
    await drape.call('DELETE', `/tryon/v1/webhooks/listeners/${foreign}`, { key: other.apiKey })
  })

  it('an event is repeated until it has an outcome', async () => {
    const id = await listen()
    await trigger('credits.low')
    const [first] = await eventsOf(id)
    await drape.database.query(sql.unsafe`
      update webhook_deliveries set next_attempt_at = now() where endpoint_id = ${id} and status = 'waiting'`)
    const [again] = await eventsOf(id)
    expect(again).toEqual(first)
    const outcomes = [{ deliveryId: first.deliveryId, status: 500 }]
    expect(await eventsOf(id, { outcomes, waitSeconds: 0 })).toEqual([])
    const row = await drape.database.one(
      sql.unsafe`select status, last_status from webhook_deliveries where id = ${first.deliveryId}`,
    )
    expect(row).toEqual({ status: 'failed', last_status: 500 })
  })

  it('outcomes change only deliveries of their listener', async () => {
    const [mine, theirs] = [await listen(), await listen()]
    await trigger('credits.low')
    const [event] = await eventsOf(theirs)
    await eventsOf(mine, { outcomes: [{ deliveryId: event.deliveryId, status: 500 }], waitSeconds: 0 })
    const status = sql.unsafe`select status from webhook_deliveries where id = ${event.deliveryId}`
    expect(await drape.database.oneFirst(status)).toBe('waiting')
  })

  it('an account has at most 5 listeners, even with concurrent requests', async () => {
    const { id: accountId } = await drape.createAccount(1)
    const insert = (database: Database, i: number) =>
      createWebhookListeners(database).insert({ id: `listener_race_${i}`, accountId, eventTypes: ['credits.low'] })
    let sixth: Promise<unknown> = Promise.resolve()
    await drape.database.transaction(async (transaction) => {
      for (let i = 0; i < 5; i++) await insert(withinTransaction(drape.database, transaction), i)
      sixth = insert(drape.database, 5)
      await sleep(200)
    })
    expect(await sixth).toBeNull()
  })

  it('an account has at most 5 listeners, not counting ended ones, which get nothing', async () => {
    const [first] = await Promise.all([1, 2, 3].map(() => listen()))
    await listen()
    await listen()
    const refused = await drape.call('POST', '/tryon/v1/webhooks/listeners', { body: {} })
    expect([refused.status, refused.body.code]).toEqual([402, 'QUOTA_EXCEEDED'])
    await drape.call('DELETE', `/tryon/v1/webhooks/listeners/${first}`)
    expect((await poll(first, { waitSeconds: 0 })).body.code).toBe('LISTENER_NOT_FOUND')
    await endGeneration()
    const count = sql.unsafe`select count(*)::int from webhook_deliveries where endpoint_id = ${first}`
    expect(await drape.database.oneFirst(count)).toBe(0)
    await listen()
  })

  it('a sweep deletes undelivered events of ended listeners, then the listeners', async () => {
    const id = await listen()
    await trigger('customer.erased')
    const { deleteEndedListeners } = createRetention(drape.database)
    const mine = sql.unsafe`select count(*)::int from webhook_deliveries where endpoint_id = ${id}`
    await deleteEndedListeners(100)
    expect(await drape.database.oneFirst(mine)).toBe(1)
    await drape.call('DELETE', `/tryon/v1/webhooks/listeners/${id}`)
    await deleteEndedListeners(100)
    expect(await drape.database.oneFirst(mine)).toBe(0)
    const exists = sql.unsafe`select count(*)::int from webhook_listeners where id = ${id}`
    expect(await drape.database.oneFirst(exists)).toBe(1)
    await drape.database.query(
      sql.unsafe`update webhook_listeners set expires_at = now() - interval '15 days' where id = ${id}`,
    )
    await deleteEndedListeners(100)
    expect(await drape.database.oneFirst(exists)).toBe(0)
  })

  it('a key that is revoked during a poll gets no events', async () => {
    const { key } = await createApiKeys(drape.database).insert(drape.accountId, 'secret', {
      scopes: ['webhooks'],
      expiresAt: null,
      allowedCidrs: null,
    })
    const id = await listen()
    const polled = poll(id, { waitSeconds: 10 }, key)
    await sleep(300)
    await drape.database.query(sql.unsafe`update api_keys set revoked_at = now() where scopes ? 'webhooks'`)
    await sleep(3500)
    await endGeneration()
    expect((await polled).body.code).toBe('INVALID_API_KEY')
    expect(await eventsOf(id)).toHaveLength(1)
  })

  it('polls have a separate rate limit', async () => {
    const id = await listen()
    const answer = await poll(id, { waitSeconds: 0 })
    expect(answer.headers.get('ratelimit-limit')).toBe('300')
  })

  it('an API that stops responds to waiting listeners', async () => {
    const id = await listen()
    const second = await startProgram('api', drape.env)
    const headers = { 'x-api-key': drape.apiKey, 'content-type': 'application/json' }
    const url = `${second.url}/tryon/v1/webhooks/listeners/${id}/poll`
    const polled = fetch(url, { method: 'POST', headers, body: '{}' })
    await sleep(500)
    const stopped = second.end()
    expect(await (await polled).json()).toMatchObject({ events: [] })
    await stopped
  })

  describe('test events', () => {
    it.each(Object.keys(WEBHOOK_MESSAGES) as WebhookMessageType[])(
      'of the type %s are like real events, but marked',
      async (type) => {
        const id = await listen()
        const queued = await trigger(type)
        expect(queued).toEqual({ eventId: expect.stringMatching(/^evt_test_/), deliveries: 1 })
        const [{ eventId, timestamp, data }] = await eventsOf(id)
        expect(eventId).toBe(queued.eventId)
        expect(data).toMatchObject({ accountId: drape.accountId, test: true })
        const check = compileCheck(WEBHOOK_MESSAGES[type].schema)
        expect(check({ type, timestamp, data })).toMatchObject({ ok: true })
      },
    )

    it('reach an endpoint only if it is named, signed and delivered like all events', async () => {
      const endpoint = await createEndpoint()
      expect(await trigger('generation.completed')).toMatchObject({ deliveries: 0 })
      const { eventId } = await trigger('generation.completed', { endpointId: endpoint.id })
      await until(() => receiver.received.length === 1)
      const [webhook] = receiver.received
      expect(webhook.id).toBe(eventId)
      expect(webhook.message.data).toMatchObject({ test: true, status: 'COMPLETED' })
      expect(isGenuine(webhook, SECRET)).toBe(true)
      const body = { type: 'generation.completed', endpointId: endpoint.id }
      const foreign = await drape.call('POST', '/tryon/v1/webhooks/events', { body, key: other.apiKey })
      expect(foreign.body).toMatchObject({ deliveries: 0 })
      await createWebhooks(drape.database).delete(endpoint.id)
    })
  })

  describe('a resent event', () => {
    it('reaches its previous receivers under the same ID, and new listeners', async () => {
      const endpoint = await createEndpoint()
      const before = await listen()
      const eventId = `evt_${(await endGeneration()).slice(4)}`
      await until(() => receiver.received.length === 1)
      const [event] = await eventsOf(before)
      await eventsOf(before, { outcomes: [{ deliveryId: event.deliveryId, status: 204 }], waitSeconds: 0 })
      const since = await listen()
      await until(async () => {
        const [delivery] = await createWebhooks(drape.database).listDeliveries({
          endpointId: endpoint.id,
          failed: false,
          limit: 1,
        })
        return delivery.status === 'delivered'
      })
      expect((await resend(eventId)).body).toEqual({ eventId, deliveries: 3 })
      await until(() => receiver.received.length === 2)
      expect(receiver.received[1].body).toBe(receiver.received[0].body)
      expect(receiver.received[1].id).toBe(eventId)
      expect(await eventsOf(before)).toEqual([event])
      expect(await eventsOf(since)).toEqual([{ ...event, deliveryId: expect.any(Number) }])
      await createWebhooks(drape.database).delete(endpoint.id)
    })

    it('is one delivery if the delivery is named, even after the end of its listener', async () => {
      const ended = await listen()
      const { eventId } = await trigger('credits.low')
      const [{ deliveryId }] = await eventsOf(ended)
      await eventsOf(ended, { outcomes: [{ deliveryId }], waitSeconds: 0 })
      expect((await resend(deliveryId)).body).toEqual({ eventId, deliveries: 1 })
      await drape.call('DELETE', `/tryon/v1/webhooks/listeners/${ended}`)
      expect((await resend(deliveryId)).body).toEqual({ eventId, deliveries: 0 })
      const next = await listen()
      expect((await resend(eventId)).body).toEqual({ eventId, deliveries: 1 })
      expect(await eventsOf(next)).toMatchObject([{ eventId, data: { test: true } }])
    })

    it('cannot be an event of another account', async () => {
      const id = await listen()
      const { eventId } = await trigger('credits.low')
      const [{ deliveryId }] = await eventsOf(id)
      for (const named of [eventId, deliveryId, 'evt_none', 'nonsense', '9'.repeat(15)]) {
        const { status, body } = await resend(named, other.apiKey)
        expect([status, body.code]).toEqual([404, 'EVENT_NOT_FOUND'])
      }
    })

    it('is refused after the erasure of its customer', async () => {
      const id = await listen()
      const { eventId } = await trigger('customer.erased')
      const [{ deliveryId }] = await eventsOf(id)
      await eventsOf(id, { outcomes: [{ deliveryId, status: 200 }], waitSeconds: 0 })
      expect((await resend(eventId)).body).toEqual({ eventId, deliveries: 0 })
    })
  })
})
