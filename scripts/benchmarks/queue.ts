import { setTimeout as sleep } from 'node:timers/promises'
import { createClient } from 'redis'
import { sql } from '../../api/shared/database/database.ts'
import { engineQueueName } from '../../api/shared/queue/engine-queues.ts'
import type { Bench, Stack } from './bench.ts'
import type { Benchmark } from './benchmark.ts'
import { measureThroughput } from './load.ts'
import { percentile } from './percentile.ts'
import { alternate } from './rounds.ts'
import { insertSample } from './sample-data.ts'
import { bySize } from './size.ts'
import { postTryOns, sendSample, type TryOnRequest, tryOnRequest } from './try-on-request.ts'

const BARE = 'scripts/benchmarks/queue-process.ts'
const ADDED = bySize({ smallest: 200, usual: 5000 })
const PICKED_UP = bySize({ smallest: 3, usual: 60 })

export const acceptedAgainstQueue: Benchmark = {
  id: 'P2',
  what: 'POST /try-on by reference against a bare BullMQ add, 50 in flight each',
  unit: 'jobs/s',
  better: 'higher',
  goal: 0.08,
  measure: (bench) =>
    withStack(bench, async (stack, ask) => {
      const request = tryOnRequest(stack, await insertSample(stack))
      return alternate({
        ours: () => measureThroughput({ url: stack.api.url, ...request }, { atOnce: 50 }),
        anchor: () => ask(`/add?jobs=${ADDED}`),
        better: 'higher',
      })
    }),
}

export const relayed: Benchmark = {
  id: 'P3',
  what: 'the relay, from the outbox to the queue, against a bare BullMQ add, 50 in flight',
  unit: 'jobs/s',
  better: 'higher',
  goal: 0.6,
  measure: (bench) =>
    withStack(bench, async (stack, ask) => {
      const request = tryOnRequest(stack, await insertSample(stack))
      return alternate({
        ours: () => measureRelay(stack, request),
        anchor: () => ask(`/add?jobs=${ADDED}`),
        better: 'higher',
      })
    }),
}

export const pickedUp: Benchmark = {
  id: 'P4',
  what: 'from the response of POST /try-on to the start by a worker, median, against a bare BullMQ pickup',
  unit: 'ms',
  better: 'lower',
  goal: 20,
  measure: (bench) =>
    withStack(bench, async (stack, ask) => {
      const request = tryOnRequest(stack, { ...(await sendSample(stack)), engine: 'mock' })
      await stack.startWorker()
      return alternate({
        ours: () => measurePickup(stack, request),
        anchor: () => ask(`/pickup?jobs=${PICKED_UP}`),
        better: 'lower',
      })
    }),
}

type Ask = (path: string) => Promise<number>

async function withStack<T>(bench: Bench, measure: (stack: Stack, ask: Ask) => Promise<T>): Promise<T> {
  const [stack, bare] = [await bench.startStack(), await bench.startBare(BARE)]
  return measure(stack, async (path) => Number(await (await fetch(bare.url + path)).json()))
}

const BACKLOG = bySize({ smallest: 600, usual: 5000 })
/** Jobs dispatched by the relay before the clock starts. */
const UNTIMED = 500

/** Creates a backlog without a worker, then registers a worker with enough slots for all jobs, which takes none. */
async function measureRelay(stack: Stack, request: TryOnRequest): Promise<number> {
  await insertBacklog(stack, request)
  const redis = await createClient({ url: stack.redisUrl }).connect()
  const engines = ['warp']
  const queued = () => redis.lLen(`bull:${engineQueueName(engines)}:wait`)
  try {
    const score = Date.now() + 60_000
    await redis.zAdd('drape:workers:try-on', { value: `${engines.join(',')} bench:${10 * BACKLOG}`, score })
    while ((await queued()) < UNTIMED) await sleep(1)
    const [started, before] = [performance.now(), await queued()]
    // Asking more often would take the processor of Postgres and Redis.
    while ((await queued()) < BACKLOG) await sleep(5)
    return ((BACKLOG - before) * 1000) / (performance.now() - started)
  } finally {
    // In this order the relay does not dispatch again.
    await redis.del('drape:workers:try-on')
    await stack.database.query(sql.unsafe`truncate outbox`)
    await redis.flushDb()
    redis.destroy()
  }
}

/** One call, and copies of its row for the rest of the backlog. */
async function insertBacklog({ api, database }: Stack, request: TryOnRequest): Promise<void> {
  await postTryOns(api.url, request, 1)
  await database.query(sql.unsafe`
    with first as (
      select generations.*, payload from outbox join generations on generations.id = generation_id limit 1
    ), made as (
      insert into generations (id, account_id, product_id, product_external_id, image_id, cost, engine, options, snapshot,
        deadline_at, images_expire_at)
      select 'gen_' || gen_random_uuid(), account_id, product_id, product_external_id, image_id, 0, engine, options, snapshot,
        deadline_at, images_expire_at
      from first, generate_series(2, ${BACKLOG})
      returning id, account_id)
    insert into outbox (generation_id, account_id, queue, engine_name, payload)
    select made.id, made.account_id, 'try-on', 'warp', payload || jsonb_build_object('generationId', made.id) from made, first`)
}

/** Sequential calls, each when the worker is idle. */
async function measurePickup(stack: Stack, request: TryOnRequest): Promise<number> {
  const redis = await createClient({ url: stack.redisUrl }).connect()
  const times: number[] = []
  let onStatus: (status: string) => void = () => {}
  await redis.pSubscribe('drape:generation:*', (message) => onStatus(JSON.parse(message).status))
  try {
    for (let i = 0; i < PICKED_UP; i++) {
      const [started, ended] = [Promise.withResolvers<number>(), Promise.withResolvers<void>()]
      onStatus = (status) => {
        if (status === 'PROCESSING') started.resolve(performance.now())
        else ended.resolve()
      }
      await postTryOns(stack.api.url, request, 1)
      const answered = performance.now()
      times.push((await started.promise) - answered)
      await ended.promise
      await sleep(10)
    }
    return percentile(times, 0.5)
  } finally {
    redis.destroy()
  }
}
