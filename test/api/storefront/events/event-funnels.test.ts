import { beforeAll, describe, expect, it } from 'vitest'
import { sql } from '../../../../api/shared/database/database.ts'
import { createEvents } from '../../../../api/storefront/events/events.store.ts'
import { recordServerEvents } from '../../../../api/storefront/events/server-events.ts'
import { openTestDatabase } from '../../../support/postgres.ts'

const DAY = '2026-11-20'
const MINUTE_MS = 60_000

/** What visitors did, a minute between two events. */
const VISITS: Readonly<Record<string, readonly string[]>> = {
  looks: ['product_page:page_view'],
  'buys without us': ['product_page:page_view', 'product_page:cart_add'],
  engages: ['product_page:page_view', 'widget:button_click', 'widget:image_upload'],
  generates: ['product_page:page_view', 'widget:button_click', 'widget:generation_start'],
  'sees a result': [
    'product_page:page_view',
    'widget:button_click',
    'widget:generation_start',
    'widget:result_view',
    'widget:email_prompt_view',
  ],
  'goes all the way': [
    'product_page:page_view',
    'widget:button_click',
    'widget:image_upload',
    'widget:generation_start',
    'widget:generation_start',
    'widget:result_view',
    'widget:email_prompt_view',
    'widget:email_collected',
    'widget:add_to_cart_success',
  ],
  'goes all the way in an app': [
    'widget:image_upload',
    'widget:generation_start',
    'widget:result_view',
    'widget:add_to_cart',
    'widget:add_to_cart',
  ],
  'has everything in the wrong order': [
    'product_page:cart_add',
    'widget:result_view',
    'widget:generation_start',
    'widget:button_click',
  ],
}

describe('funnels', async () => {
  const { database } = await openTestDatabase({ poolSize: 2 })
  const noon = new Date(`${DAY}T12:00:00Z`)

  beforeAll(async () => {
    for (const [visitor, names] of Object.entries(VISITS)) await visit('acc_1', 'shop_1', visitor, names)
    await visit('acc_1', 'shop_2', 'goes all the way', VISITS['goes all the way'])
    await visit('acc_1', null, 'goes all the way', VISITS['goes all the way in an app'])
    await visit('acc_2', 'shop_3', 'looks', VISITS.looks)
    const order = { name: 'order:created' as const, happenedAt: noon, properties: {}, customerId: null }
    const received = [
      { ...order, insertId: 'o1', customerId: 'goes all the way' },
      { ...order, insertId: 'o2', anonymousId: 'sees a result' },
      { ...order, insertId: 'o3', customerId: 'engages' },
      { ...order, insertId: 'o4' },
    ]
    await recordServerEvents(
      { ...createEvents(database), insert: (batch) => createEvents(database).insert({ ...batch, receivedAt: noon }) },
      { accountId: 'acc_1', shopId: 'shop_1' },
      received,
    )
    await visit('acc_1', 'shop_1', 'engages', ['product_page:page_view', 'order:created'])
  })

  async function visit(accountId: string, shopId: string | null, visitor: string, names: readonly string[]) {
    await createEvents(database).insert({
      origin: {
        accountId,
        shopId,
        anonymousId: visitor,
        sessionId: 's',
        customerId: visitor,
        customerEmail: null,
        customerSigned: true,
        productId: null,
        variantId: null,
        context: {},
      },
      // Received in the wrong order, as after a retry of a browser.
      events: names
        .map((name, i) => ({
          name,
          insertId: `${shopId} ${visitor} ${name} ${i}`,
          happenedAt: new Date(noon.getTime() - (names.length - i) * MINUTE_MS),
          properties: '{}',
          productId: null,
          generationId: null,
        }))
        .reverse(),
      receivedAt: noon,
    })
  }
  const ask = (view: string, ...columns: string[]) =>
    database.any(sql.unsafe`
      select account_id || ' ' || coalesce(shop_id, 'app') as of, ${sql.join(
        columns.map((column) => sql.identifier([column])),
        sql.fragment`, `,
      )}
      from ${sql.identifier([view])} where day = ${DAY} order by account_id, shop_id`)

  it('count visitors per step, each step after the step before', async () => {
    expect(await ask('event_funnel', ...['engaged', 'generation_started', 'result_viewed', 'carted'])).toEqual([
      { of: 'acc_1 shop_1', engaged: 6, generation_started: 4, result_viewed: 3, carted: 2 },
      { of: 'acc_1 shop_2', engaged: 1, generation_started: 1, result_viewed: 1, carted: 1 },
      { of: 'acc_1 app', engaged: 1, generation_started: 1, result_viewed: 1, carted: 1 },
      { of: 'acc_2 shop_3', engaged: 0, generation_started: 0, result_viewed: 0, carted: 0 },
    ])
  })

  it('count buyers with and without a try-on', async () => {
    const columns = ['visitors', 'carted', 'try_on_visitors', 'try_on_carted', 'orders', 'try_on_orders']
    expect((await ask('event_conversion', ...columns))[0]).toEqual({
      of: 'acc_1 shop_1',
      visitors: 6,
      carted: 2,
      try_on_visitors: 3,
      try_on_carted: 2,
      orders: 4,
      try_on_orders: 2,
    })
  })

  it('count visitors who left an e-mail address', async () => {
    expect((await ask('event_email_collection', 'prompted', 'collected', 'collected_after_result'))[0]).toEqual({
      of: 'acc_1 shop_1',
      prompted: 2,
      collected: 1,
      collected_after_result: 1,
    })
  })

  it('read only the partitions of the requested days', async () => {
    await createEvents(database).makePartitions(noon, 3)
    for (const view of ['event_funnel', 'event_email_collection']) {
      const plan = await database.anyFirst(sql.unsafe`
        explain select * from ${sql.identifier([view])} where account_id = 'acc_1' and day = '2026-11-20'`)
      const tables = new Set(plan.join('\n').match(/events_2\d{7}(?!_)/g))
      expect([...tables]).toEqual(['events_20261120'])
    }
  })

  it('read of the events of other accounts none', async () => {
    await createEvents(database).makePartitions(noon, 3)
    await database.query(sql.unsafe`
      with made as (
        insert into event_batches (received_on, id, account_id, anonymous_id, customer_signed, context, received_at)
        select date '2026-11-20' + n % 3, n, case when n % 334 = 0 then 'acc_few' else 'acc_crowd' end, 'anon_' || n, false, '{}', now()
        from generate_series(1, 30000) as n returning received_on, id)
      insert into events (received_on, batch_id, name, insert_id, properties, happened_at)
      select received_on, id, 'widget:result_view', id::text, '{}', now() from made`)
    await database.query(sql.unsafe`analyze events`)
    await database.query(sql.unsafe`analyze event_batches`)
    const plan = await database.anyFirst(sql.unsafe`
      explain select * from event_funnel where account_id = 'acc_few' and day between '2026-11-20' and '2026-11-22'`)
    expect(plan.join('\n')).toMatch(/Index Scan using events_20261121/)
    expect(plan.join('\n')).not.toMatch(/Seq Scan on events_/)
  })
})
