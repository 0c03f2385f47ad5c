import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { sql } from '../../../../api/shared/database/database.ts'
import { APP_CONTEXT, appHeaders, eventOf } from '../../../support/analytics-events.ts'
import { type AnalyticsServer, startAnalyticsServer } from '../../../support/analytics-server.ts'
import { type Drape, startDrape } from '../../../support/drape.ts'
import { startProgram, type TestProgram } from '../../../support/process.ts'
import { until } from '../../../support/until.ts'

describe('event forwarding', () => {
  let analytics: AnalyticsServer
  let drape: Drape
  let headers: Record<string, string>

  beforeAll(async () => {
    analytics = await startAnalyticsServer()
    drape = await startDrape({ env: { ANALYTICS_URL: analytics.url, ANALYTICS_KEY: 'phc_test' } })
    headers = await appHeaders(drape)
  })
  afterAll(async () => {
    await drape.stop()
    await analytics.stop()
  })
  afterEach(() => {
    expect(analytics.moods).toEqual([])
    analytics.requests.length = 0
  })

  const send = (...events: object[]) =>
    drape.call('POST', '/storefront/v1/events', { key: null, headers, body: { events, context: APP_CONTEXT } })
  const taken = (insertId: string) =>
    [...analytics.taken.values()].filter(({ properties }) => properties.$insert_id === insertId)
  const waiting = () =>
    drape.database.oneFirst(sql.unsafe`select count(*)::int from event_outbox where dead_at is null`) as Promise<number>
  const isDone = () => until(async () => (await waiting()) === 0)
  const count = async (outcome: string) => {
    const lines = await (await fetch(`${drape.api.probeUrl}/metrics`)).text()
    return Number(
      new RegExp(`^drape_events_forwarded_total\\{outcome="${outcome}"\\} (\\d+)`, 'm').exec(lines)?.[1] ?? 0,
    )
  }

  it('sends all fields of an event to the provider', async () => {
    const timestamp = new Date(Date.now() - 60_000).toISOString()
    const properties = { size: 'M', $insert_id: 'mine', account_id: 'mine', __proto__: 1 }
    await send(eventOf('told', { event: 'widget:result_view', timestamp, properties }))
    await isDone()
    expect(taken('told')).toEqual([
      {
        event: 'widget:result_view',
        distinct_id: 'anon_1f',
        timestamp,
        uuid: expect.any(String),
        properties: {
          ...APP_CONTEXT,
          size: 'M',
          $insert_id: 'told',
          $session_id: 'sess_1f',
          account_id: drape.accountId,
          shop_id: null,
          customer_id: null,
        },
      },
    ])
    const key = await drape.database.oneFirst(sql.unsafe`select key from event_details where insert_id = 'told'`)
    expect(taken('told')[0].uuid).toBe(key)
  })

  it('forwards an event once, even if it is received twice', async () => {
    await send(eventOf('twice'), eventOf('twice'))
    await send(eventOf('twice'))
    await isDone()
    expect(analytics.requests.flatMap(({ events }) => events)).toHaveLength(1)
  })

  it.each([
    ['is busy', { status: 503 }],
    ['takes too long over it', { status: 408 }],
    ['asks to wait', { status: 429 }],
    ['refuses the key', { status: 401 }],
    ['sends us elsewhere', { status: 301, headers: { location: '/other' } }],
    ['hangs up', 'hang up' as const],
  ])('again when the provider %s', async (name, mood) => {
    const retried = await count('retried')
    analytics.moods.push(mood)
    await send(eventOf(name))
    await isDone()
    expect(taken(name)).toHaveLength(1)
    expect(await count('retried')).toBe(retried + 1)
  })

  it.each([
    ['in seconds', () => '3'],
    // Seconds are cut off.
    ['as a date', () => new Date(Date.now() + 5000).toUTCString()],
  ])('again not before the provider asks for it, %s', async (how, retryAfter) => {
    analytics.moods.push({ status: 429, headers: { 'retry-after': retryAfter() } })
    await send(eventOf(`patient ${how}`))
    await until(() => analytics.requests.length === 1)
    await send(eventOf(`later ${how}`))
    await isDone()
    const [first, second] = analytics.requests
    // The date was made when the test began, the request came a little later.
    expect(second.at - first.at).toBeGreaterThanOrEqual(how === 'in seconds' ? 2990 : 2000)
    expect([...taken(`patient ${how}`), ...taken(`later ${how}`)]).toHaveLength(2)
  })

  it.each([400, 413, 422])(
    'not again when the provider refuses them with %i, which is counted and kept',
    async (status) => {
      const dead = await count('dead')
      analytics.moods.push({ status })
      await send(eventOf(`refused ${status}`))
      await isDone()
      await send(eventOf(`after ${status}`))
      await until(() => taken(`after ${status}`).length === 1)
      expect(taken(`refused ${status}`)).toEqual([])
      expect(await count('dead')).toBe(dead + 1)
      expect(
        await drape.database.oneFirst(
          sql.unsafe`select reason from event_outbox where insert_id = ${`refused ${status}`} and dead_at is not null`,
        ),
      ).toBe(`the provider returned ${status}`)
    },
  )

  it('parks and counts only the events that the provider refuses', async () => {
    const dead = await count('dead')
    analytics.refuses = ({ properties }) => String(properties.$insert_id).startsWith('poison')
    await send(
      eventOf('before poison'),
      eventOf('poison 1'),
      ...Array.from({ length: 20 }, (_, i) => eventOf(`good ${i}`)),
    )
    await send(eventOf('poison 2'), eventOf('after poison'))
    await isDone()
    analytics.refuses = () => false
    for (const id of ['before poison', 'after poison', 'good 0', 'good 19']) expect(taken(id)).toHaveLength(1)
    expect([...taken('poison 1'), ...taken('poison 2')]).toEqual([])
    const parked = await drape.database.anyFirst(
      sql.unsafe`select insert_id from event_outbox where dead_at is not null and insert_id like 'poison%' order by 1`,
    )
    expect(parked).toEqual(['poison 1', 'poison 2'])
    expect(await count('dead')).toBe(dead + 2)
  })

  it('forwards each event by one of many replicas', async () => {
    const replicas = await Promise.all([1, 2].map(() => startProgram('api', drape.env)))
    for (let part = 0; part < 8; part++) {
      await send(...Array.from({ length: 50 }, (_, i) => eventOf(`many ${part} ${i}`)))
    }
    await isDone()
    const delivered = analytics.requests.flatMap(({ events }) => events.map(({ uuid }) => uuid))
    expect(delivered).toHaveLength(400)
    expect(new Set(delivered).size).toBe(400)
    await Promise.all(replicas.map((replica) => replica.end()))
  })

  describe('in a process', () => {
    let other: Drape
    beforeAll(async () => {
      other = await startDrape({ env: { ANALYTICS_URL: analytics.url, ANALYTICS_KEY: 'phc_test' } })
    })
    afterAll(() => other.stop())
    const sendOther = async (insertId: string) =>
      other.call('POST', '/storefront/v1/events', {
        key: null,
        headers: await appHeaders(other),
        body: { events: [eventOf(insertId)], context: APP_CONTEXT },
      })

    it('stops without waiting, and another process continues', async () => {
      analytics.moods.push('silent')
      await sendOther('broken off')
      await until(() => analytics.requests.length === 1)
      expect(await other.api.end('SIGTERM')).toBe(0)
      const next: TestProgram = await startProgram('api', other.env)
      await until(() => taken('broken off').length === 1)
      await next.end()
    })
  })
})

describe('event forwarding without a provider', () => {
  it('queues no events', async () => {
    const drape = await startDrape()
    const body = { events: [eventOf('kept')], context: APP_CONTEXT }
    await drape.call('POST', '/storefront/v1/events', { key: null, headers: await appHeaders(drape), body })
    expect(await drape.database.oneFirst(sql.unsafe`select count(*)::int from event_details`)).toBe(1)
    expect(await drape.database.oneFirst(sql.unsafe`select count(*)::int from event_outbox`)).toBe(0)
    await drape.stop()
  })

  it('refuses to start the API with an incomplete provider configuration', async () => {
    const drape = await startDrape()
    await expect(
      startProgram('api', { ...drape.env, ANALYTICS_URL: 'http://127.0.0.1:9' }, { separate: true }),
    ).rejects.toThrow('ANALYTICS_URL and ANALYTICS_KEY must be set together')
    await drape.stop()
  })
})
