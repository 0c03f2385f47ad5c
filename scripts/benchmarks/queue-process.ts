import { randomUUID } from 'node:crypto'
import { createServer } from 'node:http'
import { createNodeRedisClient, Queue, Worker } from 'bullmq'
import { createClient } from 'redis'
import { percentile } from './percentile.ts'

// Plain BullMQ, as in its documentation: the baseline of Drape's queue. Responds with one number.

const { REDIS_URL = '', PORT, PROBE_PORT } = process.env
const client = await createClient({ url: REDIS_URL }).connect()
const connection = createNodeRedisClient(client) as never
const AT_ONCE = 50
// What Drape's queue holds of a job.
const PAYLOAD = { generationId: `gen_${randomUUID()}`, attempt: 1, engine: 'warp', failedOn: [], traceparent: null }

/** Jobs added per second with a fixed concurrency. */
async function measureAdding(jobs: number): Promise<number> {
  const queue = new Queue('bare-add', { connection })
  await queue.waitUntilReady()
  const started = performance.now()
  const round = randomUUID()
  let added = 0
  const add = async () => {
    while (added < jobs) await queue.add('job', PAYLOAD, { jobId: `${round}-${added++}` })
  }
  await Promise.all(Array.from({ length: AT_ONCE }, add))
  const rate = (jobs * 1000) / (performance.now() - started)
  await queue.obliterate({ force: true })
  await queue.close()
  return rate
}

/** Median ms from the call that adds a job to an idle queue to its start by a worker. */
async function measurePickup(jobs: number): Promise<number> {
  const queue = new Queue('bare-pickup', { connection })
  let start: () => void = () => {}
  const worker = new Worker('bare-pickup', async () => start(), { connection })
  await Promise.all([queue.waitUntilReady(), worker.waitUntilReady()])
  const times: number[] = []
  for (let i = 0; i < jobs; i++) {
    const { promise, resolve } = Promise.withResolvers<void>()
    start = resolve
    const called = performance.now()
    await queue.add('job', PAYLOAD)
    await promise
    times.push(performance.now() - called)
    await new Promise((resolve) => setTimeout(resolve, 10))
  }
  await worker.close()
  await queue.obliterate({ force: true })
  await queue.close()
  return percentile(times, 0.5)
}

createServer(async ({ url = '' }, response) => {
  const { pathname, searchParams } = new URL(url, 'http://bare')
  const jobs = Number(searchParams.get('jobs'))
  response.end(JSON.stringify(await (pathname === '/add' ? measureAdding : measurePickup)(jobs)))
}).listen(Number(PORT))
createServer((_, response) => response.end('ready')).listen(Number(PROBE_PORT))
process.on('SIGTERM', () => process.exit(0))
