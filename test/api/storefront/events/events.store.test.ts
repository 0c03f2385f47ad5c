import { randomBytes } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { sql } from '../../../../api/shared/database/database.ts'
import { createEvents, type EventOrigin, type NewEvent } from '../../../../api/storefront/events/events.store.ts'
import { recordServerEvents } from '../../../../api/storefront/events/server-events.ts'
import { openTestDatabase } from '../../../support/postgres.ts'

const NOON = new Date('2026-11-21T12:00:00.000Z')

const origin: EventOrigin = {
  accountId: 'acc_1',
  shopId: 'shop_1',
  anonymousId: 'anon_1',
  sessionId: 'sess_1',
  customerId: null,
  customerEmail: null,
  customerSigned: false,
  productId: 'gid://shop/Product/1',
  variantId: null,
  context: { $host: 'shop.test' },
}
const event = (insertId: string, more: Partial<NewEvent> = {}): NewEvent => ({
  name: 'widget:button_click',
  insertId,
  happenedAt: NOON,
  properties: '{}',
  productId: null,
  generationId: null,
  ...more,
})

describe('events', async () => {
  const { database } = await openTestDatabase({ poolSize: 4 })

  const insert = (events: readonly NewEvent[], receivedAt = NOON) =>
    createEvents(database).insert({ origin, events, receivedAt })
  /** Of the rows and of all that Postgres stores for them beside the tables. */
  const bytesOf = async () =>
    (await database.oneFirst(sql.unsafe`
      select sum(pg_total_relation_size(relid))::float8 from (
        select relid from pg_partition_tree('events') union all select relid from pg_partition_tree('event_batches')
        union all select 'event_keys'::regclass) as stored`)) as number
  const rowsOf = (insertId: string) =>
    database.any(sql.unsafe`
      select event_details.*, (
        select tableoid::regclass::text from events
        where events.insert_id = event_details.insert_id and events.received_on = event_details.received_on limit 1) as partition
      from event_details where insert_id = ${insertId}`)

  it('are stored with all fields in the partition of their day', async () => {
    const properties = '{"__proto__": {"a": 1}, "constructor": "b"}'
    expect(await insert([event('whole', { properties, generationId: 'gen_1' })])).toBe(1)
    expect(await rowsOf('whole')).toEqual([
      {
        key: expect.stringMatching(/^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/),
        received_on: expect.anything(),
        account_id: 'acc_1',
        shop_id: 'shop_1',
        name: 'widget:button_click',
        insert_id: 'whole',
        anonymous_id: 'anon_1',
        session_id: 'sess_1',
        customer_id: null,
        customer_email: null,
        customer_signed: false,
        product_id: 'gid://shop/Product/1',
        variant_id: null,
        generation_id: 'gen_1',
        properties: JSON.parse(properties),
        context: { $host: 'shop.test' },
        happened_at: NOON,
        received_at: NOON,
        partition: 'events_20261121',
      },
    ])
  })

  it('store the shared context of a batch once', async () => {
    const context = { $current_url: randomBytes(8000).toString('base64') }
    const batches = Array.from({ length: 20 }, (_, b) =>
      Array.from({ length: 50 }, (_, i) => event(`shared-${b * 50 + i}`)),
    )
    const before = await bytesOf()
    for (const events of batches) {
      await createEvents(database).insert({ origin: { ...origin, context }, events, receivedAt: NOON })
    }
    const sent = batches.reduce((bytes, batch) => bytes + JSON.stringify({ context, batch }).length, 0)
    expect((await bytesOf()) - before).toBeLessThan(2 * sent)
    const stored = await database.any(sql.unsafe`
      select anonymous_id, context from event_details where insert_id in ('shared-0', 'shared-999')`)
    expect(stored).toEqual(Array(2).fill({ anonymous_id: 'anon_1', context }))
  })

  it('store no batch for events that came before', async () => {
    const count = () => database.oneFirst(sql.unsafe`select count(*)::int from event_batches`)
    await insert([event('again')])
    const before = await count()
    expect(await insert([event('again')])).toBe(0)
    expect(await count()).toBe(before)
  })

  it('count once: within a batch, across batches, and for each account', async () => {
    expect(await insert([event('once'), event('once'), event('other')])).toBe(2)
    expect(await insert([event('once', { name: 'widget:result_view' }), event('third')])).toBe(1)
    expect(await rowsOf('once')).toMatchObject([{ name: 'widget:button_click' }])
    const twice = ['widget:share_clicked', 'widget:result_view'].map((name) => event('the first one', { name }))
    expect(await insert(twice)).toBe(1)
    expect(await rowsOf('the first one')).toMatchObject([{ name: 'widget:share_clicked' }])
    const foreign = { ...origin, accountId: 'acc_2' }
    expect(await createEvents(database).insert({ origin: foreign, events: [event('once')], receivedAt: NOON })).toBe(1)
  })

  it('are received by the clock of the database', async () => {
    await createEvents(database).insert({ origin, events: [event('now')] })
    const [{ age, day }] = (await database.any(sql.unsafe`
      select abs(extract(epoch from clock_timestamp() - received_at))::float as age,
        received_on = (received_at at time zone 'UTC')::date as day
      from event_details where insert_id = 'now'`)) as { age: number; day: boolean }[]
    expect(day).toBe(true)
    expect(age).toBeLessThan(60)
  })

  it('have plausible times', async () => {
    const times = [
      '0000-01-01T00:00:00Z',
      '0001-01-01T00:00:00+23:59',
      '9999-12-31T23:59:59-23:59',
      '2026-11-21T11:59:00Z',
    ]
    await insert(times.map((time, i) => event(`time-${i}`, { happenedAt: new Date(time) })))
    const happened = await database.anyFirst(sql.unsafe`
      select happened_at from events where insert_id like 'time-%' order by insert_id`)
    expect(happened.map((time) => (time as Date).toISOString())).toEqual([
      '2026-08-23T12:00:00.000Z',
      '2026-08-23T12:00:00.000Z',
      '2026-11-22T12:00:00.000Z',
      '2026-11-21T11:59:00.000Z',
    ])
  })

  it('count once when a batch is resent on another day, with other times', async () => {
    const late = new Date('2026-11-21T23:59:59.999Z')
    const early = new Date('2026-11-22T00:00:00.000Z')
    const batch = ['m1', 'm2'].map((id) => event(id, { happenedAt: late }))
    expect(await insert(batch, late)).toBe(2)
    expect(
      await insert(
        [...batch, event('m3')].map((one) => ({ ...one, happenedAt: early })),
        early,
      ),
    ).toBe(1)
    expect((await rowsOf('m1'))[0]).toMatchObject({ partition: 'events_20261121', happened_at: late })
    expect((await rowsOf('m3'))[0]).toMatchObject({ partition: 'events_20261122', received_at: early })
  })

  it('count once in concurrent identical batches, in any order', async () => {
    const batch = Array.from({ length: 50 }, (_, i) => event(`together-${i}`))
    const batches = Array.from({ length: 20 }, (_, i) => [...batch.slice(i), ...batch.slice(0, i)])
    const stored = await Promise.all(batches.map((one) => insert(one)))
    expect(stored.reduce((sum, count) => sum + count)).toBe(50)
  })

  it('sent by servers are marked as signed', async () => {
    const events = createEvents(database)
    const order = {
      name: 'order:created' as const,
      insertId: 'order-1',
      happenedAt: new Date(),
      customerId: '77',
      properties: { total: '12.50' },
    }
    const shop = { accountId: 'acc_1', shopId: 'shop_1' }
    expect(await recordServerEvents(events, shop, [order])).toBe(1)
    expect(await recordServerEvents(events, shop, [order])).toBe(0)
    expect((await rowsOf('order-1'))[0]).toMatchObject({
      name: 'order:created',
      shop_id: 'shop_1',
      customer_id: '77',
      customer_signed: true,
      properties: { total: '12.50' },
    })
  })
})
