import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { acceptGeneration } from '../../../api/generations/acceptance.store.ts'
import { compileCheck } from '../../../api/shared/contract/schema.ts'
import { sql } from '../../../api/shared/database/database.ts'
import { createRetention } from '../../../api/shared/retention/retention.store.ts'
import { generateWebhookSecret } from '../../../api/shared/signing/webhook-signature.ts'
import { WEBHOOK_MESSAGES } from '../../../api/webhooks/messages.schema.ts'
import {
  createWebhooks,
  WEBHOOK_EVENTS,
  type WebhookEndpoint,
  type WebhookEvent,
} from '../../../api/webhooks/webhooks.store.ts'
import { callOf } from '../../support/accepted.ts'
import { type Drape, formOf, readSample, startDrape } from '../../support/drape.ts'
import { startProgram } from '../../support/process.ts'
import { until } from '../../support/until.ts'
import { isGenuine, startWebhookReceiver, type WebhookReceiver } from '../../support/webhook-receiver.ts'

const SECRET = generateWebhookSecret()

describe('webhooks', () => {
  let receiver: WebhookReceiver
  let drape: Drape
  let endpoint: WebhookEndpoint
  let imageId: string

  beforeAll(async () => {
    receiver = await startWebhookReceiver()
    drape = await startDrape({ env: { FETCH_ALLOW_PORTS: String(receiver.port), LOG_LEVEL: 'debug' } })
    endpoint = await createWebhooks(drape.database).insert({
      accountId: drape.accountId,
      url: `${receiver.url}?token=hush`,
      eventTypes: WEBHOOK_EVENTS,
      secret: SECRET,
    })
    imageId = await upload('user-1')
  })
  afterAll(async () => {
    await drape.stop()
    await receiver.stop()
  })
  afterEach(() => {
    for (const { message } of receiver.received) {
      expect(compileCheck(WEBHOOK_MESSAGES[message.type as WebhookEvent].schema)(message)).toMatchObject({ ok: true })
    }
    receiver.received.length = 0
    receiver.mood = { status: 204 }
  })

  const upload = async (externalUserId: string) => {
    const form = formOf({}, { file: await readSample('persons/down-half-teal.jpg') })
    form.set('externalUserId', externalUserId)
    form.set('crop', 'false')
    return (await drape.call('POST', '/tryon/v1/images/upload', { body: form })).body.imageId
  }
  const accept = async (externalUserId: string | null = null) => {
    const { accountId } = drape
    const call = callOf({ accountId, imageId }, { engine: 'mock', cost: 0, externalUserId, deadlineSeconds: 3600 })
    await acceptGeneration(drape.database, call)
    return call.generationId
  }
  const cancel = (id: string) => drape.call('POST', `/tryon/v1/generations/${id}/cancel`)
  const deliveries = () =>
    createWebhooks(drape.database).listDeliveries({ endpointId: endpoint.id, failed: false, limit: 1000 })
  const rowsThatHold = async (text: string) => {
    const rows = await drape.database.anyFirst(
      sql.unsafe`select row::text from webhook_deliveries as row where position(${text} in row::text) > 0`,
    )
    return rows as readonly string[]
  }

  it('report a completed generation', async () => {
    const worker = await drape.startWorker({ ENGINES: 'mock' })
    const id = await drape.tryOn(
      {
        products: [{ externalId: 'shirt', images: [{ source: { fileKey: 'shirt' } }] }],
        person: { image: { source: { id: imageId } } },
        externalUserId: 'user-1',
        output: { engine: 'mock' },
      },
      { shirt: await readSample('garments/tshirt-navy.jpg') },
    )
    await until(() => receiver.received.length === 1)
    await worker.end()
    const [webhook] = receiver.received
    expect(webhook.message).toEqual({
      type: 'generation.completed',
      timestamp: (await drape.call('GET', `/tryon/v1/generations/${id}`)).body.updatedAt,
      data: { accountId: drape.accountId, generationId: id, status: 'COMPLETED', productExternalId: 'shirt' },
    })
    expect(isGenuine(webhook, SECRET)).toBe(true)
  })

  it('report a cancelled generation', async () => {
    const id = await accept()
    await cancel(id)
    await until(() => receiver.received.length === 1)
    expect(receiver.received[0].message).toMatchObject({
      type: 'generation.failed',
      data: { generationId: id, status: 'FAILED', errorCode: 'GENERATION_CANCELLED' },
    })
  })

  it('contain no data of an erased customer while they wait, except the erasure event', async () => {
    receiver.mood = { status: 503, headers: { 'retry-after': '3600' } }
    await upload('user-9')
    const [cancelled, along] = [await accept('user-9'), await accept('user-9')]
    await cancel(cancelled)
    await until(() => receiver.received.length === 1)
    expect((await drape.call('DELETE', '/tryon/v1/customers/user-9')).status).toBe(204)
    const waiting = (await deliveries()).filter(({ status }) => status === 'waiting')
    expect(waiting.map(({ type, data }) => ({ type, ...(data as object) }))).toEqual([
      { type: 'customer.erased', externalUserId: 'user-9', erasureId: expect.any(String) },
      expect.objectContaining({ type: 'generation.failed', generationId: along }),
      expect.objectContaining({ type: 'generation.failed', generationId: cancelled }),
    ])
    expect(await rowsThatHold('user-9')).toHaveLength(1)
    for (const { data } of waiting) expect(JSON.stringify(data)).not.toMatch(/img_|https?:|persons\/|results\//)

    receiver.mood = { status: 204 }
    await drape.database.query(sql.unsafe`update webhook_endpoints set paused_until = null`)
    await drape.database.query(sql.unsafe`update webhook_deliveries set next_attempt_at = now()`)
    await until(async () => (await deliveries()).every(({ status }) => status === 'delivered'))
    expect(receiver.received.at(-1)?.message.data).not.toHaveProperty('imageId')
    expect(receiver.received.map(({ message }) => message.data)).toContainEqual({
      accountId: drape.accountId,
      externalUserId: 'user-9',
      erasureId: expect.any(String),
    })
    expect(await rowsThatHold('user-9')).toEqual([])
  })

  it('are counted, and leave no secret or URL in the log', async () => {
    const scrape = async () => (await fetch(`${drape.api.probeUrl}/metrics`)).text()
    const text = await until(async () => {
      const seen = await scrape()
      return seen.includes('drape_webhook_lag_seconds 0') && seen
    })
    expect(text).toMatch(/drape_webhook_deliveries_total\{outcome="delivered"\} [1-9]/)
    expect(text).toMatch(/drape_webhook_deliveries_total\{outcome="retried"\} [1-9]/)
    const log = drape.api.output()
    expect(log).toContain('webhook delivery failed')
    expect(log).toContain(endpoint.id)
    for (const hidden of ['token=hush', SECRET, SECRET.slice('whsec_'.length), '/hook'])
      expect(log).not.toContain(hidden)
  })

  it('are deleted after two weeks', async () => {
    const [{ id: old }] = await deliveries()
    await drape.database.query(sql.unsafe`
      update webhook_deliveries set created_at = now() - interval '15 days' where id = ${old}`)
    const before = (await deliveries()).length
    const retention = createRetention(drape.database)
    expect(await retention.deleteOld('webhookDeliveries', 500)).toBe(1)
    expect(await deliveries()).toHaveLength(before - 1)
    expect((await deliveries()).map(({ id }) => id)).not.toContain(old)
  })
})

describe('webhooks of several replicas', () => {
  it('are delivered by other replicas if one is killed, each event by one replica at a time', async () => {
    const receiver = await startWebhookReceiver()
    const drape = await startDrape({ env: { FETCH_ALLOW_PORTS: String(receiver.port) }, separate: true })
    const webhooks = createWebhooks(drape.database)
    const { accountId } = drape
    const { id: endpointId } = await webhooks.insert({
      accountId,
      url: receiver.url,
      eventTypes: WEBHOOK_EVENTS,
      secret: SECRET,
    })
    const deliveries = () => webhooks.listDeliveries({ endpointId, failed: false, limit: 1000 })
    const areDelivered = () => until(async () => (await deliveries()).every(({ status }) => status === 'delivered'))

    receiver.mood = 'silent'
    await webhooks.insertErased({ accountId, externalUserId: 'user-1' }, 'era_1')
    await until(() => receiver.open() === 1)
    await drape.api.end('SIGKILL')
    expect(await deliveries()).toMatchObject([{ status: 'waiting', attempts: 0 }])
    receiver.mood = { status: 204 }
    // Stands for the time after which the killed one counts as lost.
    await drape.database.query(sql.unsafe`update webhook_deliveries set next_attempt_at = now()`)
    const replicas = await Promise.all([1, 2].map(() => startProgram('api', drape.env)))
    await areDelivered()
    expect(receiver.received).toHaveLength(2)
    expect(new Set(receiver.received.map(({ id, body }) => id + body)).size).toBe(1)

    for (let i = 0; i < 60; i++)
      await webhooks.insertErased({ accountId, externalUserId: `customer-${i}` }, `era_c${i}`)
    await areDelivered()
    expect(receiver.received).toHaveLength(62)
    expect(new Set(receiver.received.map(({ id }) => id)).size).toBe(61)
    expect(await Promise.all(replicas.map((replica) => replica.end('SIGTERM')))).toEqual([0, 0])
    await drape.stop()
    await receiver.stop()
  })
})
