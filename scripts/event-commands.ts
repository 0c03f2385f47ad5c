import { type Connection, createConnection } from '../api/client/connection.ts'
import { keyed } from '../api/client/idempotency-key.ts'
import type { QueuedEvent } from '../api/client/schemas.ts'
import { WEBHOOK_MESSAGES } from '../api/webhooks/messages.schema.ts'
import { CheckFailure } from './check-options.ts'
import { type Options, UsageError } from './command-options.ts'

/**
 * The service at DRAPE_URL, with the key DRAPE_API_KEY.
 * @throws UsageError without them
 */
export function connect({ DRAPE_URL = 'http://localhost:8080', DRAPE_API_KEY }: NodeJS.ProcessEnv): Connection {
  if (!DRAPE_API_KEY) throw new UsageError('DRAPE_API_KEY is not set: the secret key sk_… of an account')
  if (!URL.canParse(DRAPE_URL)) throw new UsageError('DRAPE_URL must be the address of the service')
  return createConnection({ url: DRAPE_URL, apiKey: DRAPE_API_KEY })
}

/** Sends a test event. Throws when nothing receives events of its type. */
export async function triggerEvent(
  connection: Connection,
  type: string | undefined,
  { endpoint }: Options,
): Promise<Record<string, unknown>> {
  const types = Object.keys(WEBHOOK_MESSAGES)
  if (!type || !types.includes(type)) throw new UsageError(`trigger needs a type of event: ${types.join(', ')}`)
  const body = { type, ...(endpoint !== undefined && { endpointId: endpoint }) }
  const queued = await explained(
    connection.call<QueuedEvent>({ method: 'POST', path: '/tryon/v1/webhooks/events', body, ...keyed({}) }),
  )
  if (queued.deliveries > 0) return { ...queued }
  throw new CheckFailure(
    endpoint === undefined
      ? `No listener receives ${type}. Run drape listen in another terminal, or name an endpoint with --endpoint.`
      : `The endpoint ${endpoint} does not receive ${type}: the account has no such endpoint, it is not active, or --events of it leaves the type out.`,
  )
}

/** Sends an event, or one delivery of it, again. Throws when nothing receives it. */
export async function resendEvent(connection: Connection, id: string | undefined): Promise<Record<string, unknown>> {
  if (!id) throw new UsageError('events resend needs the ID of an event (evt_…) or the number of a delivery')
  const path = `/tryon/v1/webhooks/events/${encodeURIComponent(id)}/resend`
  const queued = await explained(connection.call<QueuedEvent>({ method: 'POST', path }))
  if (queued.deliveries > 0) return { ...queued }
  throw new CheckFailure(
    `${id} has no active receiver, or its data was deleted after the delivery. Run drape listen in another terminal.`,
  )
}

/** Refusals of the service are answers to the user of the command, without a stack. */
export async function explained<T>(answer: Promise<T>): Promise<T> {
  try {
    return await answer
  } catch (error) {
    if (!(error instanceof Error) || !error.name.startsWith('Drape')) throw error
    throw new CheckFailure(error.message)
  }
}
