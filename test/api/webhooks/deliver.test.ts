import { afterEach, describe, expect, it } from 'vitest'
import { createAccounts } from '../../../api/accounts/accounts.store.ts'
import { sql } from '../../../api/shared/database/database.ts'
import { createHostLookup } from '../../../api/shared/network/host-lookup.ts'
import { generateWebhookSecret } from '../../../api/shared/signing/webhook-signature.ts'
import { createLog } from '../../../api/shared/telemetry/log.ts'
import { createMetrics } from '../../../api/shared/telemetry/metrics.ts'
import { createWebhookSender, type WebhookSenderSettings } from '../../../api/webhooks/attempt.ts'
import { type DeliverOptions, startWebhookDelivering } from '../../../api/webhooks/deliver.ts'
import { createWebhookDeliveries } from '../../../api/webhooks/webhook-deliveries.store.ts'
import { createWebhooks, WEBHOOK_EVENTS, type WebhookEndpoint } from '../../../api/webhooks/webhooks.store.ts'
import { openTestDatabase } from '../../support/postgres.ts'
import { until } from '../../support/until.ts'
import { isGenuine, type Mood, startWebhookReceiver, type WebhookReceiver } from '../../support/webhook-receiver.ts'

/** Hours in the field. */
const RETRY_SECONDS = [0.1, 0.2, 0.3]
const LOG = createLog({ process: 'test', level: 'silent' })

const lookup = createHostLookup({ servers: [] })

describe('a webhook', async () => {
  const { database } = await openTestDatabase({ poolSize: 8 })
  const undo: (() => Promise<unknown>)[] = []

  afterEach(async () => {
    for (const step of undo.splice(0).reverse()) await step()
    await database.query(sql.unsafe`delete from webhook_endpoints`)
    await database.query(sql.unsafe`delete from webhook_deliveries`)
  })

  const receive = async (...moods: Mood[]) => {
    const receiver = await startWebhookReceiver()
    receiver.moods.push(...moods)
    undo.push(receiver.stop)
    return receiver
  }
  const createAccount = async () =>
    (await createAccounts(database).insert({ name: 'Test', email: null, credits: 0 })).id
  const listen = async (url: string, accountId?: string) =>
    createWebhooks(database).insert({
      accountId: accountId ?? (await createAccount()),
      url,
      eventTypes: WEBHOOK_EVENTS,
      secret: generateWebhookSecret(),
    })
  const start = (
    receivers: readonly WebhookReceiver[],
    sender: Partial<WebhookSenderSettings> = {},
    options: Partial<DeliverOptions> = {},
  ) => {
    const metrics = createMetrics('test')
    const allowPorts = receivers.map(({ port }) => port)
    const delivering = startWebhookDelivering({
      deliveries: createWebhookDeliveries(database),
      send: createWebhookSender({
        allowCidrs: ['127.0.0.0/8'],
        allowPorts,
        lookup,
        openSecrets: createWebhookDeliveries(database).openSecrets,
        ...sender,
      }),
      log: LOG,
      metrics,
      retrySeconds: RETRY_SECONDS,
      firstBackoffSeconds: 0.01,
      ...options,
    })
    undo.push(delivering.stop)
    return { delivering, metrics }
  }
  const happen = ({ accountId }: WebhookEndpoint, externalUserId = 'user-1') =>
    createWebhooks(database).insertErased({ accountId, externalUserId }, `era_${externalUserId}`)
  const log = ({ id }: WebhookEndpoint) =>
    createWebhooks(database).listDeliveries({ endpointId: id, failed: false, limit: 1000 })
  const ended = (endpoint: WebhookEndpoint) =>
    until(async () => {
      const deliveries = await log(endpoint)
      return deliveries.length > 0 && deliveries.every(({ status }) => status !== 'waiting') && deliveries
    })
  const attempted = (endpoint: WebhookEndpoint, attempts = 1) =>
    until(async () => (await log(endpoint)).find((delivery) => delivery.attempts >= attempts))
  const find = ({ id }: WebhookEndpoint) => createWebhooks(database).get(id)

  it('is a signed message with the event and its time', async () => {
    const receiver = await receive()
    const endpoint = await listen(`${receiver.url}?token=1`)
    const before = Date.now()
    await happen(endpoint)
    const { metrics } = start([receiver])
    await ended(endpoint)
    const [webhook] = receiver.received
    expect(webhook.path).toBe('/hook?token=1')
    expect(webhook.headers).toMatchObject({ 'content-type': 'application/json', 'webhook-id': expect.any(String) })
    expect(webhook.message).toEqual({
      type: 'customer.erased',
      timestamp: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
      data: { accountId: endpoint.accountId, externalUserId: 'user-1', erasureId: 'era_user-1' },
    })
    expect(Math.abs(Date.parse(webhook.message.timestamp) - before)).toBeLessThan(60_000)
    expect(isGenuine(webhook, endpoint.secrets[0].secret)).toBe(true)
    expect(isGenuine(webhook, generateWebhookSecret())).toBe(false)
    expect(isGenuine({ ...webhook, body: webhook.body.replace('user-1', 'user-2') }, endpoint.secrets[0].secret)).toBe(
      false,
    )
    // Counted after the row is written.
    await until(async () =>
      (await metrics.scrape()).text.includes('drape_webhook_deliveries_total{outcome="delivered"} 1'),
    )
  })

  it('is signed with both secrets during a rotation', async () => {
    const receiver = await receive()
    const endpoint = await listen(receiver.url)
    const [old, young] = [endpoint.secrets[0].secret, generateWebhookSecret()]
    await createWebhooks(database).addSecret(endpoint.id, young)
    await happen(endpoint)
    start([receiver])
    await ended(endpoint)
    for (const secret of [old, young]) expect(isGenuine(receiver.received[0], secret)).toBe(true)
    await createWebhooks(database).removeSecret(endpoint.id, null)
    await happen(endpoint)
    await until(() => receiver.received.length === 2)
    expect(isGenuine(receiver.received[1], old)).toBe(false)
    expect(isGenuine(receiver.received[1], young)).toBe(true)
  })

  it('deletes the data of an erased customer once delivered', async () => {
    const receiver = await receive({ status: 500 })
    const endpoint = await listen(receiver.url)
    await happen(endpoint)
    start([receiver])
    await ended(endpoint)
    expect(receiver.received).toHaveLength(2)
    expect((await log(endpoint))[0]).toMatchObject({ type: 'customer.erased', status: 'delivered', data: null })
    await expect(createWebhooks(database).retry((await log(endpoint))[0].id)).rejects.toThrow('cannot be retried')
  })

  it.each([
    ['500', { status: 500 }, 500],
    ['404', { status: 404 }, 404],
    ['429', { status: 429 }, 429],
    ['a redirect', { status: 302, headers: { location: '/other' } }, 302],
    ['a broken connection', 'hang up' as const, null],
  ])('is redelivered after %s, with the same ID and a new signature', async (_, mood, lastStatus) => {
    const receiver = await receive(mood, mood)
    const endpoint = await listen(receiver.url)
    await happen(endpoint)
    start([receiver])
    expect(await attempted(endpoint)).toMatchObject({ status: 'waiting', lastStatus, lastError: expect.any(String) })
    expect(await ended(endpoint)).toMatchObject([
      { status: 'delivered', attempts: 3, lastStatus: 204, lastError: null },
    ])
    expect(receiver.received.map(({ path }) => path)).toEqual(['/hook', '/hook', '/hook'])
    expect(new Set(receiver.received.map(({ id }) => id)).size).toBe(1)
    expect(new Set(receiver.received.map(({ body }) => body)).size).toBe(1)
    for (const webhook of receiver.received) expect(isGenuine(webhook, endpoint.secrets[0].secret)).toBe(true)
    expect((await find(endpoint)).failingSince).toBeNull()
  })

  it('is retried with backoff and then abandoned, until an operator replays it', async () => {
    const receiver = await receive()
    receiver.mood = { status: 503 }
    const endpoint = await listen(receiver.url)
    await happen(endpoint)
    const { metrics } = start([receiver])
    expect(await ended(endpoint)).toMatchObject([
      {
        status: 'failed',
        attempts: 4,
        lastStatus: 503,
        lastError: 'the endpoint returned 503',
        endedAt: expect.any(Date),
      },
    ])
    const times = receiver.received.map(({ at }) => at)
    for (const [i, seconds] of RETRY_SECONDS.entries()) {
      expect(times[i + 1] - times[i]).toBeGreaterThanOrEqual(seconds * 1000 - 20)
    }
    const counted = async (line: string) => (await metrics.scrape()).text.includes(line)
    await until(() => counted('drape_webhook_deliveries_total{outcome="failed"} 1'))
    expect(await counted('drape_webhook_deliveries_total{outcome="retried"} 3')).toBe(true)
    expect(await find(endpoint)).toMatchObject({ isActive: true, failingSince: expect.any(Date) })
    const [failed] = await createWebhooks(database).listDeliveries({ endpointId: endpoint.id, failed: true, limit: 10 })

    receiver.mood = { status: 200, body: 'thank you' }
    await createWebhooks(database).retry(failed.id)
    expect(await ended(endpoint)).toMatchObject([{ status: 'delivered', attempts: 1 }])
    expect(new Set(receiver.received.map(({ id }) => id)).size).toBe(1)
  })

  it.each([
    ['in seconds', () => '2'],
    // Seconds are cut off.
    ['as a date', () => new Date(Date.now() + 3000).toUTCString()],
  ])('waits for the Retry-After of the receiver, %s, and so do all other deliveries to it', async (_, retryAfter) => {
    const receiver = await receive({ status: 429, headers: { 'retry-after': retryAfter() } })
    const endpoint = await listen(receiver.url)
    await happen(endpoint)
    start([receiver])
    await attempted(endpoint)
    await happen(endpoint, 'user-2')
    await ended(endpoint)
    const [first, second, third] = receiver.received.map(({ at }) => at)
    expect(Math.min(second, third) - first).toBeGreaterThanOrEqual(1500)
  })

  it('disables its endpoint after a 410 response', async () => {
    const receiver = await receive({ status: 410 })
    const endpoint = await listen(receiver.url)
    await happen(endpoint)
    start([receiver])
    expect(await ended(endpoint)).toMatchObject([{ status: 'failed', attempts: 1, lastStatus: 410 }])
    expect(await find(endpoint)).toMatchObject({ isActive: false, disabledReason: expect.stringContaining('410') })
    await happen(endpoint)
    expect(await log(endpoint)).toHaveLength(1)

    await createWebhooks(database).update(endpoint.id, { isActive: true })
    expect(await find(endpoint)).toMatchObject({ isActive: true, disabledReason: null })
    await createWebhooks(database).retry((await log(endpoint))[0].id)
    expect(await ended(endpoint)).toMatchObject([{ status: 'delivered' }])
  })

  it('disables its endpoint after days without a successful delivery', async () => {
    const receiver = await receive()
    receiver.mood = { status: 500 }
    const endpoint = await listen(receiver.url)
    await database.query(sql.unsafe`update webhook_endpoints set failing_since = now() - interval '6 days'`)
    await happen(endpoint)
    start([receiver])
    await until(async () => !(await find(endpoint)).isActive)
    expect((await find(endpoint)).disabledReason).toBe('No delivery has succeeded for 5 days.')
    expect(receiver.received).toHaveLength(1)
    expect(await log(endpoint)).toMatchObject([{ status: 'waiting', attempts: 1 }])
    // An endpoint that is active again receives the waiting events.
    receiver.mood = { status: 200 }
    await createWebhooks(database).update(endpoint.id, { isActive: true })
    expect(await ended(endpoint)).toMatchObject([{ status: 'delivered' }])
  })

  it('is delivered while other receivers hang', async () => {
    const [slow, quick] = [await receive(), await receive()]
    slow.mood = 'silent'
    const hanging = await Promise.all(Array.from({ length: 7 }, () => listen(slow.url)))
    for (const endpoint of hanging) for (let i = 0; i < 30; i++) await happen(endpoint)
    const endpoint = await listen(quick.url)
    start([slow, quick], { timeoutMs: 120_000 })
    await until(() => slow.open() === 56)
    for (let i = 0; i < 20; i++) await happen(endpoint)
    expect(await ended(endpoint)).toHaveLength(20)
    expect(slow.received).toHaveLength(56)
  })

  it('times out, and its endpoint then gets one delivery at a time', async () => {
    const receiver = await receive()
    receiver.mood = 'silent'
    const endpoint = await listen(receiver.url)
    for (let i = 0; i < 20; i++) await happen(endpoint)
    start([receiver], { timeoutMs: 300 }, { retrySeconds: [3600], firstBackoffSeconds: 60 })
    await until(async () => (await log(endpoint)).filter(({ attempts }) => attempts === 1).length === 8)
    expect((await log(endpoint)).find(({ attempts }) => attempts === 1)?.lastError).toBe('no response within 0.3 s')
    expect(receiver.open()).toBe(0)
    await database.query(sql.unsafe`update webhook_endpoints set paused_until = now()`)
    await until(async () => (await log(endpoint)).filter(({ attempts }) => attempts === 1).length === 9)
    // On a busy machine, the time limit may end an attempt before it reaches the receiver.
    expect(receiver.received.length).toBeLessThanOrEqual(9)
  })

  it.each([
    ['never ends', { status: 200, headers: { 'content-length': '1000000' }, body: 'x' }],
    ['is far too long', { status: 200, body: 'x'.repeat(5_000_000) }],
  ])('is delivered even if the body of the response %s', async (_, mood) => {
    const receiver = await receive(mood)
    const endpoint = await listen(receiver.url)
    await happen(endpoint)
    start([receiver], { timeoutMs: 500 })
    expect(await ended(endpoint)).toMatchObject([{ status: 'delivered', attempts: 1 }])
  })

  describe('is not sent', () => {
    const refused = async (url: string, receiver: WebhookReceiver, sender: Partial<WebhookSenderSettings> = {}) => {
      const endpoint = await listen(url)
      await happen(endpoint)
      start([receiver], { allowCidrs: [], ...sender }, { retrySeconds: [] })
      const [delivery] = await ended(endpoint)
      expect(delivery).toMatchObject({ status: 'failed', lastStatus: null })
      expect(receiver.received).toEqual([])
      return delivery.lastError
    }

    it('to a private address', async () => {
      const receiver = await receive()
      expect(await refused(receiver.url, receiver)).toBe('the connection failed or was closed early')
    })

    it('to a host name of a private address', async () => {
      const receiver = await receive()
      const lookup = async () => ['127.0.0.1']
      const url = `http://shop.example:${receiver.port}/hook`
      expect(await refused(url, receiver, { lookup })).toBe('the connection failed or was closed early')
    })

    it('to a host name with a private address among others', async () => {
      const receiver = await receive()
      const lookup = async () => ['93.184.216.34', '127.0.0.1']
      await refused(`http://shop.example:${receiver.port}/hook`, receiver, { lookup })
    })

    it('to the target of a redirect, private or not', async () => {
      const [inside, outside] = [await receive(), await receive()]
      outside.mood = { status: 307, headers: { location: inside.url } }
      const endpoint = await listen(outside.url)
      await happen(endpoint)
      start([inside, outside], {}, { retrySeconds: [] })
      expect(await ended(endpoint)).toMatchObject([{ status: 'failed', lastStatus: 307 }])
      expect(inside.received).toEqual([])
    })

    it('to a port that is not allowed', async () => {
      const receiver = await receive()
      const sender = { allowCidrs: ['127.0.0.0/8'], allowPorts: [80, 443] }
      expect(await refused(receiver.url, receiver, sender)).toBe('the port of the URL is not allowed')
    })
  })

  it('is delivered once by several replicas', async () => {
    const receiver = await receive()
    const endpoint = await listen(receiver.url)
    for (let i = 0; i < 200; i++) await happen(endpoint, `user-${i}`)
    for (let i = 0; i < 3; i++) start([receiver])
    expect((await ended(endpoint)).every(({ status }) => status === 'delivered')).toBe(true)
    expect(receiver.received).toHaveLength(200)
    expect(new Set(receiver.received.map(({ message }) => message.data.externalUserId)).size).toBe(200)
  })

  it('is sent to endpoints of its account only', async () => {
    const [mine, theirs] = [await receive(), await receive()]
    const [endpoint, other] = [await listen(mine.url), await listen(theirs.url)]
    await happen(endpoint)
    await happen(other, 'user-2')
    start([mine, theirs])
    await ended(endpoint)
    await ended(other)
    expect(mine.received.map(({ message }) => message.data)).toEqual([
      { accountId: endpoint.accountId, externalUserId: 'user-1', erasureId: 'era_user-1' },
    ])
    expect(theirs.received.map(({ message }) => message.data)).toEqual([
      { accountId: other.accountId, externalUserId: 'user-2', erasureId: 'era_user-2' },
    ])
  })

  it('is delivered by another process at once if its process stops', async () => {
    const receiver = await receive('silent')
    const endpoint = await listen(receiver.url)
    await happen(endpoint)
    const { delivering } = start([receiver], { timeoutMs: 120_000 })
    await until(() => receiver.open() === 1)
    await delivering.stop()
    expect(await log(endpoint)).toMatchObject([{ status: 'waiting', attempts: 0 }])
    start([receiver])
    expect(await ended(endpoint)).toMatchObject([{ status: 'delivered', attempts: 1 }])
    expect(receiver.received[1].id).toBe(receiver.received[0].id)
  })

  it('may belong to an endpoint that is deleted during the delivery', async () => {
    const receiver = await receive('silent')
    const endpoint = await listen(receiver.url)
    await happen(endpoint)
    start([receiver], { timeoutMs: 1000 })
    await until(() => receiver.open() === 1)
    await createWebhooks(database).delete(endpoint.id)
    await until(() => receiver.open() === 0)
    expect(await log(endpoint)).toEqual([])
    const next = await listen(receiver.url)
    await happen(next)
    expect(await ended(next)).toMatchObject([{ status: 'delivered' }])
  })

  it('can be sent as a test by an operator', async () => {
    const receiver = await receive()
    const endpoint = await listen(receiver.url)
    await createWebhooks(database).update(endpoint.id, { eventTypes: ['credits.low'] })
    const id = await createWebhooks(database).insertTest(endpoint.id)
    start([receiver])
    expect(await ended(endpoint)).toMatchObject([{ id, type: 'webhook.test', status: 'delivered' }])
    expect(receiver.received[0].message.data).toEqual({ accountId: endpoint.accountId, endpointId: endpoint.id })
  })
})
