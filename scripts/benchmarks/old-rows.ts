import { sql } from '../../api/shared/database/database.ts'
import type { Stack } from './bench.ts'
import type { Benchmark } from './benchmark.ts'
import { measureThroughput } from './load.ts'
import { alternate } from './rounds.ts'
import { insertSample } from './sample-data.ts'
import { bySize } from './size.ts'
import { tryOnRequest } from './try-on-request.ts'

const ROWS = bySize({
  smallest: { generations: 100, events: 1000 },
  usual: { generations: 100_000, events: 1_000_000 },
  full: { generations: 1_000_000, events: 10_000_000 },
})
/** Days over which the old rows are distributed. */
const DAYS = 30

type Rows = Pick<Stack, 'database' | 'accountId'>

export const oldRows: Benchmark = {
  id: 'P17',
  what: 'POST /try-on by reference in a database full of old generations and events, against an empty one',
  unit: 'answers/s',
  better: 'higher',
  goal: 0.85,
  measure: async (bench) => {
    const full = await bench.startStack()
    const empty = await bench.startStack()
    const sample = await insertSample(full)
    await insertGenerations(full, sample, ROWS.generations)
    await insertEvents(full, ROWS.events)
    await full.database.query(sql.unsafe`analyze`)
    const ours = { url: full.api.url, ...tryOnRequest(full, sample) }
    const anchor = { url: empty.api.url, ...tryOnRequest(empty, await insertSample(empty)) }
    const measured = await alternate({
      ours: () => measureThroughput(ours),
      anchor: () => measureThroughput(anchor),
      best: 'lower',
    })
    const [generations, events] = [ROWS.generations, ROWS.events].map((count) => count.toLocaleString('en'))
    return { ...measured, note: `${generations} generations, ${events} events` }
  },
}

async function insertGenerations({ database, accountId }: Rows, { imageId }: { imageId: string }, count: number) {
  await database.query(sql.unsafe`
    with made as (
      insert into generations (id, account_id, product_id, product_external_id, image_id, status, cost, engine, options, snapshot,
        deadline_at, images_expire_at, result_key, timings, created_at, started_at, finished_at)
      select 'gen_' || gen_random_uuid(), account_id, products.id, external_id, ${imageId}, 'COMPLETED', 1, 'warp',
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
      select n, at, (at at time zone 'UTC')::date as received_on from generate_series(1, ${count}) as n,
        lateral (select now() - n * interval '1 day' * (${DAYS} - 1) / ${count} as at) as moment
    ), batch as (
      insert into event_batches (received_on, id, account_id, anonymous_id, customer_signed, context, received_at)
      select received_on, n, ${accountId}, 'anon_' || n % 5000, false, '{"page": {"path": "/products/shirt"}}', at from moment
    ), event as (
      insert into events (received_on, batch_id, name, insert_id, properties, happened_at)
      select received_on, n, 'widget:result_view', n::text, '{"position": 1, "source": "gallery"}', at from moment)
    insert into event_keys (key, received_on) select event_key(${accountId}, n::text), received_on from moment`)
}
