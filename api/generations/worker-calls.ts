import { setTimeout as sleep } from 'node:timers/promises'
import { DrapeError } from '../shared/contract/errors.ts'
import { parseJsonOrNull } from '../shared/contract/json-or-null.ts'
import { type Check, compileCheck } from '../shared/contract/schema.ts'
import {
  WORKER_CALLS,
  WORKER_OPERATIONS,
  WORKER_REPLIES,
  type WorkerCall,
  WorkerCallSchema,
  type WorkerOperation,
  type WorkerOperations,
  type WorkerReply,
} from '../shared/generations/worker-calls.ts'
import type { Publish } from '../shared/queue/pub-sub.ts'
import type { Redis } from '../shared/queue/redis.ts'
import type { Log } from '../shared/telemetry/log.ts'

/** How long a read waits for calls before it is repeated. */
const LISTEN_SECONDS = 20
const RETRY_MS = 500

const checkCall = compileCheck(WorkerCallSchema)
const checks = Object.fromEntries(
  Object.entries(WORKER_OPERATIONS).map(([name, schema]) => [name, compileCheck(schema)]),
) as Record<WorkerOperation, Check<unknown>>

export interface WorkerCallsOptions {
  /** A consumer's own connection, which waits for calls. Closed by `stop`. */
  readonly redis: Redis
  readonly operations: WorkerOperations
  /** Max number of calls that run at once; others wait in Redis, where another API can take them. */
  readonly concurrency: number
  readonly publish: Publish
  readonly log: Log
}

/** Executes the calls of workers until `stop`, which resolves when the running calls have been answered. */
export function serveWorkerCalls(options: WorkerCallsOptions): { stop(): Promise<void> } {
  const { redis, concurrency, log } = options
  const running = new Set<Promise<void>>()
  let isStopping = false
  const take = async () => {
    const taken = await redis.client.blmPop(LISTEN_SECONDS, WORKER_CALLS, 'LEFT', { COUNT: concurrency - running.size })
    for (const text of taken?.[1] ?? []) {
      const work = answer(text, options).finally(() => running.delete(work))
      running.add(work)
    }
    if (running.size >= concurrency) await Promise.race(running)
  }
  const listen = async () => {
    while (!isStopping) {
      await take().catch(async (error) => {
        if (isStopping) return
        log.debug({ err: error }, 'calls of workers cannot be read')
        await sleep(RETRY_MS)
      })
    }
  }
  const listening = listen()
  return {
    stop: async () => {
      isStopping = true
      // A call that is lost with the connection is repeated by its worker.
      await redis.close()
      await listening
      await Promise.all(running)
    },
  }
}

/** Never throws. Ignores malformed and expired calls. */
async function answer(text: string, { redis, operations, publish, log }: WorkerCallsOptions): Promise<void> {
  const found = checkCall(parseJsonOrNull(text))
  if (!found.ok) return log.warn({ problems: found.problems }, 'a call of a worker is malformed')
  const { id, operation, replyTo, until } = found.value
  if (redis.now() > until) return log.debug({ operation }, 'a call of a worker is too old')
  const reply = await execute(found.value, operations).then(
    (result): WorkerReply => ({ id, result }),
    (error): WorkerReply => ({ id, error: presentError(error, { operation, log }) }),
  )
  publish(`${WORKER_REPLIES}${replyTo}`, reply)
}

async function execute({ operation, args, isRepeat }: WorkerCall, operations: WorkerOperations): Promise<unknown> {
  const found = checks[operation](args)
  if (!found.ok)
    throw new Error(`Invalid arguments: ${found.problems.map(({ path, message }) => `${path} ${message}`).join('; ')}`)
  const run = operations[operation] as (args: unknown, about: { isRepeat: boolean }) => Promise<unknown>
  return run(found.value, { isRepeat })
}

/** Any other error than ours counts as one that can pass, and its text stays here. */
function presentError(error: unknown, { operation, log }: { operation: string; log: Log }): WorkerReply['error'] {
  if (error instanceof DrapeError) {
    const { code, message, retryable } = error
    return { code, message, retryable }
  }
  log.error({ err: error, operation }, 'a call of a worker failed')
  return { code: 'SERVICE_UNAVAILABLE', message: `The API could not execute ${operation}.`, retryable: true }
}
