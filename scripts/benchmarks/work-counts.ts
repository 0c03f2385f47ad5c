import { setTimeout as sleep } from 'node:timers/promises'
import { createClient } from 'redis'
import type { Bench, Stack } from './bench.ts'
import type { Benchmark } from './benchmark.ts'
import type { Program } from './program.ts'
import { bySize } from './size.ts'
import { countUnfinished, postTryOns, sendSample, type TryOnRequest, tryOnRequest } from './try-on-request.ts'

const JOBS = bySize({ smallest: 2, usual: 200 })
const IDLE_SECONDS = bySize({ smallest: 1, usual: 20 })
/** After which a worker that started is idle. */
const SETTLED_MS = bySize({ smallest: 500, usual: 5000 })

export const redisCommands: Benchmark = {
  id: 'C2',
  what: 'Redis commands for each finished job, including its request, the relay and all polling',
  unit: 'commands',
  better: 'lower',
  goal: 12,
  measure: (bench) =>
    withWorker(bench, async (stack) => {
      const request = await prepareJobs(stack)
      const commands = await watchCommands(stack, () => true)
      await runJobs(stack, request)
      return { ours: (await commands.stop()) / JOBS, anchor: 1 }
    }),
}

export const storageCalls: Benchmark = {
  id: 'C3',
  what: 'calls of the object storage for each generation',
  unit: 'calls',
  better: 'lower',
  goal: 3,
  measure: (bench) =>
    withWorker(bench, async (stack, worker) => {
      const count = async () => (await Promise.all([stack.api, worker].map(countStorageCalls))).reduce((a, b) => a + b)
      const request = await prepareJobs(stack)
      const before = await count()
      await runJobs(stack, request)
      return { ours: ((await count()) - before) / JOBS, anchor: 1 }
    }),
}

export const idleCommands: Benchmark = {
  id: 'C6',
  what: 'Redis commands per second of an idle worker',
  unit: 'commands/s',
  better: 'lower',
  goal: 0.5,
  measure: (bench) =>
    withWorker(bench, async (stack, _, isOfWorker) => {
      await sleep(SETTLED_MS)
      const commands = await watchCommands(stack, isOfWorker)
      await sleep(IDLE_SECONDS * 1000)
      return { ours: (await commands.stop()) / IDLE_SECONDS, anchor: 1 }
    }),
}

export const connections: Benchmark = {
  id: 'C7',
  what: 'connections of a worker to Redis',
  unit: 'connections',
  better: 'lower',
  goal: 3,
  measure: (bench) =>
    withWorker(bench, async (stack, worker) => {
      await prepareJobs(stack)
      const before = await redisAddresses(stack)
      await worker.stop()
      const after = await redisAddresses(stack)
      return { ours: [...before].filter((one) => !after.has(one)).length, anchor: 1 }
    }),
}

async function withWorker<T>(
  bench: Bench,
  measure: (stack: Stack, worker: Program, isOfWorker: (address: string) => boolean) => Promise<T>,
): Promise<T> {
  const stack = await bench.startStack()
  const others = await redisAddresses(stack)
  const worker = await stack.startWorker()
  return measure(stack, worker, (address) => !others.has(address))
}

/** Uploads the images of the jobs and runs one, so that no figure contains either. */
async function prepareJobs(stack: Stack): Promise<TryOnRequest> {
  const request = tryOnRequest(stack, { ...(await sendSample(stack)), engine: 'mock' })
  await runJobs(stack, request, 1)
  return request
}

async function runJobs(stack: Stack, request: TryOnRequest, jobs = JOBS): Promise<void> {
  await postTryOns(stack.api.url, request, jobs)
  while ((await countUnfinished(stack)) > 0) await sleep(20)
}

/** Counts the commands of clients with these addresses in the stack's Redis; a script counts as one command. */
async function watchCommands(
  stack: Stack,
  isCounted: (address: string) => boolean,
): Promise<{ stop(): Promise<number> }> {
  const redis = await createClient({ url: stack.redisUrl }).connect()
  const number = new URL(stack.redisUrl).pathname.slice(1)
  let count = 0
  await redis.monitor((line) => {
    const [, database, address] = /^\S+ \[(\d+) (\S+)\]/.exec(String(line)) ?? []
    if (database === number && address !== 'lua' && isCounted(address)) count++
  })
  return {
    stop: async () => {
      redis.destroy()
      return count
    },
  }
}

async function redisAddresses({ redisUrl }: Stack): Promise<Set<string>> {
  const redis = await createClient({ url: redisUrl }).connect()
  const [own, list] = await Promise.all([redis.clientInfo(), redis.clientList()])
  redis.destroy()
  return new Set(list.map(({ addr }) => addr).filter((address) => address !== own.addr))
}

async function countStorageCalls({ probeUrl }: Program): Promise<number> {
  const text = await (await fetch(`${probeUrl}/metrics`)).text()
  const counts = text.matchAll(/^drape_storage_seconds_count\{[^}]*\} (\d+)$/gm)
  return [...counts].reduce((sum, [, count]) => sum + Number(count), 0)
}
