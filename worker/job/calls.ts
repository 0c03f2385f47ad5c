import { randomUUID } from 'node:crypto'
import { DrapeError, type ErrorCode } from '../../api/shared/contract/errors.ts'
import { parseJsonOrNull } from '../../api/shared/contract/json-or-null.ts'
import { compileCheck } from '../../api/shared/contract/schema.ts'
import {
  WORKER_CALLS,
  WORKER_OPERATIONS,
  WORKER_REPLIES,
  type WorkerCall,
  type WorkerOperation,
  type WorkerOperations,
  type WorkerReply,
  WorkerReplySchema,
} from '../../api/shared/generations/worker-calls.ts'
import type { Redis } from '../../api/shared/queue/redis.ts'
import type { Log } from '../../api/shared/telemetry/log.ts'

/** How long each copy of a call may take before the call is sent again; the API drops older copies. */
const WAIT_MS = [3000, 6000, 6000]
/** The next renewal of a lease repeats it anyway. */
const RENEWAL_WAIT_MS = [4000]

const checkReply = compileCheck(WorkerReplySchema)

/**
 * Has the API do the work of this worker in the database. Sends a call again while its reply is missing, also after a new connection to
 * Redis.
 * @returns the operations; they throw `DrapeError` of the API, or a retryable `SERVICE_UNAVAILABLE` without a reply
 */
export function createWorkerCalls(redis: Pick<Redis, 'client' | 'isReady' | 'now'>, log: Log): WorkerOperations {
  const { client } = redis
  const noteFault = (error: Error) => log.warn({ err: error }, 'Redis refuses calls of the API')
  const replyTo = randomUUID()
  const waiting = new Map<string, { resend(): void; settle(reply: WorkerReply): void }>()
  client
    .subscribe(`${WORKER_REPLIES}${replyTo}`, (text) => {
      const reply = checkReply(parseJsonOrNull(text))
      if (reply.ok) waiting.get(reply.value.id)?.settle(reply.value)
    })
    .catch(noteFault)
  // Replies are lost with a connection.
  client.on('ready', () => {
    for (const { resend } of waiting.values()) resend()
  })

  const call = (operation: WorkerOperation, args: unknown) =>
    new Promise<unknown>((resolve, reject) => {
      const id = randomUUID()
      const waits = [...(operation === 'renew' ? RENEWAL_WAIT_MS : WAIT_MS)]
      let isRepeat = false
      let timer: NodeJS.Timeout
      const end = () => {
        clearTimeout(timer)
        waiting.delete(id)
      }
      const push = (ms: number) => {
        if (!redis.isReady()) return
        const message: WorkerCall = { id, operation, args, replyTo, until: redis.now() + ms, isRepeat }
        isRepeat = true
        client.rPush(WORKER_CALLS, JSON.stringify(message)).catch(noteFault)
      }
      const send = () => {
        const ms = waits.shift()
        if (ms === undefined) {
          end()
          reject(new DrapeError('SERVICE_UNAVAILABLE', `The API did not answer ${operation}.`, { retryable: true }))
          return
        }
        timer = setTimeout(send, ms)
        push(ms)
      }
      waiting.set(id, {
        resend: () => push(WAIT_MS[0]),
        settle: ({ result, error }) => {
          end()
          if (error === undefined) resolve(result)
          else reject(new DrapeError(error.code as ErrorCode, error.message, { retryable: error.retryable }))
        },
      })
      send()
    })

  const operations = Object.keys(WORKER_OPERATIONS) as WorkerOperation[]
  return Object.fromEntries(
    operations.map((operation) => [operation, (args: unknown) => call(operation, args)]),
  ) as unknown as WorkerOperations
}
