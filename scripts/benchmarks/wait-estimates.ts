import { readFile } from 'node:fs/promises'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { createAccounts } from '../../api/accounts/accounts.store.ts'
import { Type } from '../../api/shared/contract/schema.ts'
import { rowType, sql } from '../../api/shared/database/database.ts'
import { type Bench, LIMITS, type Stack } from './bench.ts'
import type { Benchmark } from './benchmark.ts'
import { percentile } from './percentile.ts'
import { EXTERNAL_ID } from './sample-data.ts'
import { bySize } from './size.ts'
import { countUnfinished, sendSample } from './try-on-request.ts'

/**
 * By engine: share of all try-ons, mean arrivals per second, slots. The product images of mock respond slowly, so that its jobs
 * take `seconds` on average; those of warp take as long as the engine.
 */
const POOLS = {
  mock: { share: 0.92, arrivals: 2.6, slots: 4, seconds: bySize({ smallest: 0.1, usual: 1.3 }) },
  warp: { share: 0.08, arrivals: bySize({ smallest: 2, usual: 0.2 }), slots: 1 },
} as const
/** Seconds until a pool at zero has a node. */
const NODE_SECONDS = bySize({ smallest: 2, usual: 15 })
type Pool = keyof typeof POOLS
const JOBS = bySize({ smallest: 12, usual: 200, full: 1000 })
const ACCOUNTS = 4
/** Min wait for relative errors: shorter waits need no plan. */
const MIN_WAIT_SECONDS = 1

interface Job {
  readonly generationId: string
  readonly estimatedStartSeconds: number
  readonly estimatedStartRange: { readonly min: number; readonly max: number }
}

const StartRow = rowType(Type.Object({ id: Type.String(), wait: Type.Number() }))

/** Both figures come from the same run. */
let figures: Promise<Figures> | undefined

export const waitEstimates: readonly Benchmark[] = [
  {
    id: 'E1',
    what: 'estimated start of try-ons with random arrivals in 2 pools, 1 of them at zero: median relative error',
    unit: 'share',
    better: 'lower',
    goal: 0.25,
    measure: async (bench) => {
      const { error, note } = await runOnce(bench)
      return { ours: error, anchor: 1, note }
    },
  },
  {
    id: 'E2',
    what: 'starts of the same try-ons within the given range',
    unit: 'share',
    better: 'higher',
    goal: 0.9,
    measure: async (bench) => ({ ours: (await runOnce(bench)).inside, anchor: 1 }),
  },
]

interface Figures {
  readonly error: number
  readonly inside: number
  readonly note: string
}

function runOnce(bench: Bench): Promise<Figures> {
  figures ??= measureStarts(bench)
  return figures
}

async function measureStarts(bench: Bench): Promise<Figures> {
  const images = await serveImages()
  bench.defer(() => images.close().closeAllConnections())
  const { port } = images.address() as AddressInfo
  const env = { FETCH_ALLOW_CIDRS: '127.0.0.0/8', FETCH_ALLOW_PORTS: String(port) }
  const stack = await bench.startStack({ env })
  await publishPools(stack, await measureStart(stack))
  await stack.startWorker({ ENGINES: 'mock', CONCURRENCY: String(POOLS.mock.slots) })
  const callers = await Promise.all(Array.from({ length: ACCOUNTS }, () => openCaller(stack, port)))
  const slow = startLater(stack)
  const [mock, warp] = await Promise.all([
    order(callers, { pool: 'mock', count: Math.round(POOLS.mock.share * JOBS) }),
    order(callers, { pool: 'warp', count: Math.round(POOLS.warp.share * JOBS) }),
  ])
  await slow
  return judge([...mock, ...warp], await findStarts(stack))
}

/** Start time of a worker of the second pool in seconds, as a controller measured it. */
async function measureStart(stack: Stack): Promise<number> {
  const startedAt = performance.now()
  const worker = await stack.startWorker({ ENGINES: 'warp' })
  const seconds = (performance.now() - startedAt) / 1000
  await worker.stop()
  return NODE_SECONDS + seconds
}

/** Simulates a controller for a pool at zero: a node, then a worker. */
async function startLater(stack: Stack): Promise<void> {
  await sleep(1000 * NODE_SECONDS)
  await stack.startWorker({ ENGINES: 'warp', CONCURRENCY: String(POOLS.warp.slots) })
}

/** Publishes engines as a controller does. */
async function publishPools({ database }: Stack, startSeconds: number): Promise<void> {
  for (const name of ['mock', 'warp'] as const) {
    await database.query(sql.unsafe`
      insert into published_engines (namespace, name, license, max_slots, start_seconds)
      values ('bench', ${name}, 'Apache-2.0', ${POOLS[name].slots}, ${name === 'warp' ? startSeconds : null})`)
  }
}

/** Serves a garment image after the delay in the query, in ms. */
async function serveImages(): Promise<Server> {
  const garment = await readFile(new URL('../samples/garments/tshirt-mustard.jpg', import.meta.url))
  const server = createServer(async ({ url = '' }, response) => {
    await sleep(Number(new URL(url, 'http://images').searchParams.get('ms')))
    response.writeHead(200, { 'content-type': 'image/jpeg' }).end(garment)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return server
}

type Order = (pool: Pool) => Promise<Job>

async function openCaller(stack: Stack, imagePort: number): Promise<Order> {
  const account = { name: 'Caller', email: null, credits: 1_000_000, settings: LIMITS }
  const { apiKey } = await createAccounts(stack.database).insert(account)
  const { imageId } = await sendSample({ ...stack, apiKey })
  let orders = 0
  return async (pool) => {
    const ms = Math.round(1000 * exponential(POOLS.mock.seconds))
    const url = `http://127.0.0.1:${imagePort}/${apiKey.slice(-6)}-${orders++}.jpg?ms=${ms}`
    const product = pool === 'mock' ? { images: [{ source: { url } }] } : { externalId: EXTERNAL_ID }
    const person = { image: { source: { id: imageId } } }
    const response = await fetch(`${stack.api.url}/tryon/v1/try-on`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-api-key': apiKey },
      body: JSON.stringify({ products: [product], person, output: { engine: pool, deadlineSeconds: 3600 } }),
    })
    const text = await response.text()
    if (!response.ok) throw new Error(`${response.status} ${text}`)
    return JSON.parse(text)
  }
}

/** Requests at random times from random callers. */
async function order(callers: readonly Order[], { pool, count }: { pool: Pool; count: number }): Promise<Job[]> {
  const jobs: Promise<Job>[] = []
  for (let i = 0; i < count; i++) {
    await sleep(1000 * exponential(1 / POOLS[pool].arrivals))
    jobs.push(callers[Math.floor(Math.random() * callers.length)](pool))
  }
  return Promise.all(jobs)
}

function exponential(mean: number): number {
  return -mean * Math.log(1 - Math.random())
}

/** Seconds until each job started, after all have ended. */
async function findStarts(stack: Stack): Promise<ReadonlyMap<string, number>> {
  while ((await countUnfinished(stack)) > 0) await sleep(500)
  const rows = await stack.database.any(sql.type(StartRow)`
    select id, extract(epoch from started_at - created_at)::float8 as wait from generations where status = 'COMPLETED'`)
  return new Map(rows.map(({ id, wait }) => [id, wait]))
}

function judge(jobs: readonly Job[], starts: ReadonlyMap<string, number>): Figures {
  const found = jobs.map(({ generationId, estimatedStartSeconds, estimatedStartRange: { min, max } }) => {
    const wait = starts.get(generationId)
    if (wait === undefined) throw new Error(`${generationId} was not completed`)
    const error = Math.abs(estimatedStartSeconds - wait) / Math.max(wait, MIN_WAIT_SECONDS)
    return { wait, error, isInside: wait >= min && wait <= max }
  })
  const waits = found.map(({ wait }) => wait)
  return {
    error: percentile(
      found.map(({ error }) => error),
      0.5,
    ),
    inside: found.filter(({ isInside }) => isInside).length / found.length,
    note: `${found.length} try-ons, waits of ${[0.1, 0.5, 0.9].map((share) => percentile(waits, share).toFixed(1)).join(', ')} s (10th, 50th, 90th percentile)`,
  }
}
