import { readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { createClient } from 'redis'
import { Type } from '../../api/shared/contract/schema.ts'
import { rowType, sql } from '../../api/shared/database/database.ts'
import type { Stack } from './bench.ts'
import type { Benchmark } from './benchmark.ts'
import { processorSeconds, proportionalBytes, residentBytes } from './memory.ts'
import type { Program } from './program.ts'
import { bySize } from './size.ts'
import { alignColumns } from './table.ts'
import { countUnfinished, postTryOns, sendPhoto, sendSample, tryOnRequest } from './try-on-request.ts'

/** Numbers of workers with the engine mock, each a multiple of the one before. */
const WORKERS = bySize({ smallest: [1, 2], usual: [1, 4, 16] })
/** How many of each are measured, after how many for each worker that are not: the code of a process gets faster while it runs. */
const MOCK = bySize({ smallest: { warm: 1, count: 4 }, usual: { warm: 10, count: 240 } })
const WARP = bySize({ smallest: { warm: 1, count: 1 }, usual: { warm: 4, count: 8 } })

export const cost: Benchmark = {
  id: 'P22',
  what: `processor time of all processes for a try-on by mock with ${WORKERS.at(-1)} workers on one API, against 1 worker`,
  unit: 's per 1,000',
  better: 'lower',
  goal: 1.05,
  measure: async (bench) => {
    const stack = await bench.startStack()
    const worker = await stack.startWorker()
    const sample = await sendSample(stack)
    const run = (engine: 'warp' | 'mock') => (count: number) =>
      tryOn(stack, tryOnRequest(stack, { ...sample, engine }), count)
    const upload = async (count: number) => {
      for (let i = 0; i < count; i++) await sendPhoto(stack)
    }
    const photos = await measureCost(stack, [worker], { work: upload, ...WARP })
    const warp = await measureCost(stack, [worker], { work: run('warp'), ...WARP })
    await worker.stop()
    const workers: Program[] = []
    const mock: Cost[] = []
    for (const count of WORKERS) {
      const more = Array.from({ length: count - workers.length }, () =>
        stack.startWorker({ ENGINES: 'mock', QUEUES: 'try-on' }),
      )
      workers.push(...(await Promise.all(more)))
      mock.push(await measureCost(stack, workers, { work: run('mock'), ...MOCK }))
    }
    const rows = [
      ['upload, workers: 1', photos],
      ['try-on, warp, workers: 1', warp],
      ...mock.map((each, i) => [`try-on, mock, workers: ${WORKERS[i]}`, each]),
    ] as [string, Cost][]
    const [first, last] = [mock[0], mock[mock.length - 1]].map(({ seconds }) => sum(Object.values(seconds)))
    return { ours: last, anchor: first, details: presentCosts(rows) }
  },
}

/** For 1,000 of the work; memory in bytes afterwards. */
interface Cost {
  readonly seconds: Readonly<Record<'api' | 'workers' | 'postgres' | 'redis', number>>
  readonly memory: Readonly<Record<'api' | 'worker' | 'postgres' | 'redis', number>>
  readonly bytes: Readonly<Record<'database' | 'wal' | 'redis' | 'store', number>>
}

interface Work {
  readonly work: (count: number) => Promise<void>
  readonly warm: number
  readonly count: number
}

async function measureCost(stack: Stack, workers: readonly Program[], { work, warm, count }: Work): Promise<Cost> {
  const redis = await createClient({ url: stack.redisUrl }).connect()
  try {
    const postgresPid = parentOf(Number(await stack.database.oneFirst(sql.unsafe`select pg_backend_pid()`)))
    const redisPid = Number(/process_id:(\d+)/.exec(await redis.info('server'))?.[1])
    const read = async () => ({
      seconds: {
        api: processorSeconds(stack.api.pid),
        workers: sum(workers.map(({ pid }) => processorSeconds(pid))),
        postgres: processorSeconds(postgresPid),
        redis: processorSeconds(redisPid),
      },
      bytes: { ...(await readBytes(stack)), redis: countTraffic(await redis.info('stats')) },
    })
    await work(warm * workers.length)
    const before = await read()
    await work(count)
    const after = await read()
    return {
      seconds: perThousand(before.seconds, after.seconds, count),
      bytes: perThousand(before.bytes, after.bytes, count),
      memory: {
        api: residentBytes(stack.api.pid),
        worker: Math.max(...workers.map(({ pid }) => residentBytes(pid))),
        postgres: proportionalBytes(postgresPid),
        redis: residentBytes(redisPid),
      },
    }
  } finally {
    redis.destroy()
  }
}

/** Posts try-ons, waits for all of them, and fetches each with its result. */
async function tryOn(
  { api, database, apiKey }: Stack,
  request: ReturnType<typeof tryOnRequest>,
  count: number,
): Promise<void> {
  const ids = await postTryOns(api.url, request, count)
  while ((await countUnfinished({ database })) > 0) await sleep(50)
  for (const id of ids) {
    const response = await fetch(`${api.url}/tryon/v1/generations/${id}`, { headers: { 'x-api-key': apiKey } })
    const { resultImageUrl } = (await response.json()) as { resultImageUrl: string }
    await (await fetch(resultImageUrl)).arrayBuffer()
  }
}

const BytesRow = rowType(Type.Object({ database: Type.Number(), wal: Type.Number(), store: Type.Number() }))

function readBytes({ database }: Stack) {
  return database.one(sql.type(BytesRow)`
    select pg_database_size(current_database()) as database, pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0')::float8 as wal,
      (select coalesce(sum(bytes), 0) from objects)::float8 as store`)
}

/** Bytes that Redis received and sent: it stores nothing for longer than a job takes. */
function countTraffic(stats: string): number {
  return sum([...stats.matchAll(/^total_net_(?:in|out)put_bytes:(\d+)/gm)].map(([, bytes]) => Number(bytes)))
}

function parentOf(pid: number): number {
  return Number(/^PPid:\s+(\d+)$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1])
}

function perThousand<K extends string>(before: Record<K, number>, after: Record<K, number>, count: number) {
  const names = Object.keys(before) as K[]
  return Object.fromEntries(names.map((name) => [name, ((after[name] - before[name]) * 1000) / count])) as Record<
    K,
    number
  >
}

function presentCosts(rows: readonly [string, Cost][]): string {
  const head = [
    'for 1,000',
    ...['API', 'workers', 'Postgres', 'Redis'].map((name) => `${name} s`),
    ...['API', 'worker', 'Postgres', 'Redis'].map((name) => `${name} MB`),
    ...['database', 'WAL', 'Redis', 'store'].map((name) => `${name} MB`),
  ]
  const lines = rows.map(([name, { seconds, memory, bytes }]) => [
    name,
    ...[seconds.api, seconds.workers, seconds.postgres, seconds.redis].map((each) => each.toFixed(1)),
    ...[memory.api, memory.worker, memory.postgres, memory.redis].map((each) => (each / 1e6).toFixed(0)),
    ...[bytes.database, bytes.wal, bytes.redis, bytes.store].map((each) => (each / 1e6).toFixed(1)),
  ])
  return alignColumns([head, ...lines])
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0)
}
