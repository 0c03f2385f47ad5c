import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createAccounts } from '../../api/accounts/accounts.store.ts'
import { createUsage } from '../../api/accounts/usage.store.ts'
import { createGenerationSearches } from '../../api/generations/generation-search.store.ts'
import { sql } from '../../api/shared/database/database.ts'
import { createStorage, type ObjectStorage } from '../../api/shared/storage/storage.ts'
import { createShops } from '../../api/shops/shops.store.ts'
import { createEventAnalytics } from '../../api/storefront/events/event-analytics.store.ts'
import { createWebhooks } from '../../api/webhooks/webhooks.store.ts'
import { sweepOnce } from '../commands/sweep.ts'
import { type Bench, LIMITS, type Stack, type Tenant } from './bench.ts'
import type { Benchmark } from './benchmark.ts'
import { measureThroughput } from './load.ts'
import { alternate } from './rounds.ts'
import { insertSample } from './sample-data.ts'
import { bySize } from './size.ts'
import { alignColumns } from './table.ts'
import { tryOnRequest } from './try-on-request.ts'

/** Of each of seven large tables, so that the full size has 21 million; the backlog of the outbox has one of 100. */
const ROWS = bySize({ smallest: 100, usual: 100_000, full: 3_000_000 })
/** Days over which the old rows are distributed. */
const DAYS = 30
/** Repetitions of an operation that is measured by calls one after another. */
const CALLS = bySize({ smallest: 1, usual: 20 })
/** Generations and events of the account whose figures are read, the same in both databases. */
const FEW = 200

export const oldRows: Benchmark = {
  id: 'P17',
  what: 'the slowest of the operations below in a database full of old rows, against an empty one',
  unit: 'ms',
  better: 'lower',
  goal: 1.3,
  measure: async (bench) => {
    const full = await openSide(bench)
    const empty = await openSide(bench)
    await fill(full)
    const measured = []
    for (const [what, run] of Object.entries(OPERATIONS))
      measured.push({
        what,
        ...(await alternate({ ours: () => run(full), anchor: () => run(empty), better: 'lower' })),
      })
    const slowest = measured.toSorted((a, b) => b.ours / b.anchor - a.ours / a.anchor)[0]
    const { ours, anchor } = slowest
    const lines = measured.map((one) => [
      one.what,
      one.ours.toFixed(2),
      one.anchor.toFixed(2),
      (one.ours / one.anchor).toFixed(2),
    ])
    return {
      ours,
      anchor,
      note: `${slowest.what}; ${ROWS.toLocaleString('en')} rows of each table`,
      details: alignColumns([['operation', 'full ms', 'empty ms', 'ratio'], ...lines]),
    }
  },
}

interface Side extends Stack {
  readonly imageId: string
  /** An account with few rows. */
  readonly few: Tenant
  readonly storage: ObjectStorage
}

async function openSide(bench: Bench): Promise<Side> {
  const stack = await bench.startStack()
  const folder = await mkdtemp(join(tmpdir(), 'drape-old-rows-'))
  bench.defer(() => rm(folder, { recursive: true, force: true }))
  const storage = await createStorage(`file:${folder}`, { publicUrl: '', signingSecret: '' })
  const account = { name: 'Few', email: null, credits: 1_000_000, settings: LIMITS }
  const { id: accountId, apiKey } = await createAccounts(stack.database).insert(account)
  const few = { ...stack, accountId, apiKey }
  await insertSample(few)
  const side = { ...stack, few, storage, ...(await insertSample(stack)) }
  await insertGenerations(few, FEW)
  await insertEvents(few, FEW)
  return side
}

/** Ms of each operation. */
const OPERATIONS: Readonly<Record<string, (side: Side) => Promise<number>>> = {
  accept: async (side) => 1000 / (await measureThroughput({ url: side.api.url, ...tryOnRequest(side, side) })),
  poll: async ({ api, database, few }) => {
    const id = await database.oneFirst(sql.unsafe`
      select id from generations where account_id = ${few.accountId} order by id desc limit 1`)
    const path = `/tryon/v1/generations/${id}`
    return 1000 / (await measureThroughput({ url: api.url, method: 'GET', path, headers: { 'x-api-key': few.apiKey } }))
  },
  'list of generations': ({ database }) =>
    timed(() => createGenerationSearches(database).listing.list({}, { limit: 50, before: null })),
  'list of an account': ({ database, few }) =>
    timed(() => createGenerationSearches(database).listing.list({ only: { accountId: few.accountId } }, { limit: 50 })),
  'list of webhooks': ({ database }) => timed(() => createWebhooks(database).listing.list({}, { limit: 50 })),
  'usage of an account': ({ database, few: { accountId } }) =>
    timed(async () => {
      const usage = createUsage(database)
      await usage.countSteps({ hours: 168, step: 'day', accountId })
      await usage.countFailures({ hours: 168, accountId })
    }),
  'analytics of an account': ({ database, few: { accountId } }) => {
    const day = (ago: number) => new Date(Date.now() - ago * 86_400_000).toISOString().slice(0, 10)
    return timed(() => createEventAnalytics(database).countDays({ accountId, from: day(7), to: day(0) }))
  },
  sweep: async ({ database, accountId, storage }) => {
    await database.query(sql.unsafe`
      insert into objects (key, account_id, kind, bytes, expires_at)
      select 'persons/' || ${accountId}::text || '/swept-' || n || '.jpg', ${accountId}, 'person', 1, now() - interval '1 hour'
      from generate_series(1, 100) as n`)
    return timed(() => sweepOnce(database, { storage, policies: undefined }), 1)
  },
  erasure: ({ database, api, few }) => {
    let customer = 0
    return timed(async () => {
      const name = `customer-${customer++}`
      await database.query(sql.unsafe`
        update generations set external_user_id = ${name} where id in (
          select id from generations where account_id = ${few.accountId} limit 5)`)
      const answer = await fetch(`${api.url}/tryon/v1/customers/${name}`, {
        method: 'DELETE',
        headers: { 'x-api-key': few.apiKey },
      })
      if (answer.status !== 204) throw new Error(`Erasure: ${answer.status} ${await answer.text()}`)
    })
  },
}

async function timed(work: () => Promise<unknown>, calls = CALLS): Promise<number> {
  const began = performance.now()
  for (let i = 0; i < calls; i++) await work()
  return (performance.now() - began) / calls
}

async function fill(side: Side): Promise<void> {
  await insertGenerations(side, ROWS)
  await insertEvents(side, ROWS)
  await insertBacklog(side, Math.ceil(ROWS / 100))
  await insertDeliveries(side, ROWS)
  await insertNonces(side, ROWS)
  await side.database.query(sql.unsafe`vacuum analyze`)
}

type Rows = Pick<Stack, 'database' | 'accountId'>

async function insertGenerations({ database, accountId }: Rows, count: number) {
  await database.query(sql.unsafe`
    with made as (
      insert into generations (id, account_id, product_id, product_external_id, image_id, external_user_id, status, cost, engine, options,
        snapshot, deadline_at, images_expire_at, result_key, timings, created_at, started_at, finished_at)
      select 'gen_' || gen_random_uuid(), account_id, products.id, external_id, 'img_' || n, 'user-' || n % 100000, 'COMPLETED', 1, 'warp',
        '{"seed": 42, "mode": "balanced", "format": "jpeg"}', jsonb_build_object('images', images), at, at + interval '30 days',
        'results/old.jpg', '{"decode": 40, "engine": 600, "composite": 30, "encode": 20}', at, at, at + interval '2 seconds'
      from products, generate_series(1, ${count}) as n,
        lateral (select now() - n * interval '1 day' * ${DAYS} / ${count} as at) as moment
      where account_id = ${accountId}
      returning id, account_id)
    insert into ledger (account_id, amount, kind, generation_id) select account_id, -1, 'reserve', id from made`)
}

async function insertEvents({ database, accountId }: Rows, count: number) {
  await database.query(sql.unsafe`
    select make_event_partitions((now() - interval '1 day' * ${DAYS})::date, now()::date)`)
  await database.query(sql.unsafe`
    with moment as (
      select n, at, (at at time zone 'UTC')::date as received_on, hashtextextended(${accountId} || n, 0) as id
      from generate_series(1, ${count}) as n,
        lateral (select now() - n * interval '1 day' * (${DAYS} - 1) / ${count} as at) as moment
    ), batch as (
      insert into event_batches (received_on, id, account_id, anonymous_id, customer_signed, context, received_at)
      select received_on, id, ${accountId}, 'anon_' || n % 5000, false, '{"page": {"path": "/products/shirt"}}', at from moment
    ), event as (
      insert into events (received_on, batch_id, name, insert_id, properties, happened_at)
      select received_on, id, 'widget:result_view', n::text, '{"position": 1, "source": "gallery"}', at from moment)
    insert into event_keys (key, received_on) select event_key(${accountId}, n::text), received_on from moment`)
}

/** Jobs of an engine without workers, of another account. */
async function insertBacklog({ database }: Rows, count: number) {
  const account = { name: 'Backlog', email: null, credits: 1_000_000_000, settings: LIMITS }
  const { id: accountId } = await createAccounts(database).insert(account)
  await database.query(sql.unsafe`
    with made as (
      insert into generations (id, account_id, product_id, product_external_id, snapshot, status, cost, engine, options, deadline_at,
        images_expire_at)
      select 'gen_' || gen_random_uuid(), ${accountId}, '', 'shirt', '{}', 'PENDING', 1, 'absent', '{}', now() + interval '1 day',
        now() + interval '30 days'
      from generate_series(1, ${count})
      returning id, account_id, engine)
    insert into outbox (generation_id, account_id, queue, payload, engine_name) select id, account_id, '', '{}', engine from made`)
}

async function insertDeliveries({ database, accountId }: Rows, count: number) {
  const types = ['generation.completed' as const]
  const endpoint = { accountId, url: 'https://shop.example/hook', eventTypes: types, secret: 'a secret of the hook' }
  const { id } = await createWebhooks(database).insert(endpoint)
  await database.query(sql.unsafe`
    insert into webhook_deliveries (endpoint_id, event_id, type, happened_at, status, attempts, ended_at, created_at)
    select ${id}, 'evt_' || gen_random_uuid(), 'generation.completed', at, 'delivered', 1, at, at
    from generate_series(1, ${count}) as n, lateral (select now() - n * interval '13 days' / ${count} as at) as moment`)
}

async function insertNonces({ database, accountId }: Rows, count: number) {
  const shop = { accountId, platform: 'plugin' as const, domain: 'shop.example', secret: 'a secret of the shop' }
  const { id } = await createShops(database).insert(shop)
  await database.query(sql.unsafe`
    insert into proxy_nonces (shop_id, nonce, expires_at)
    select ${id}, gen_random_uuid()::text, now() + interval '1 hour' from generate_series(1, ${count})`)
}
