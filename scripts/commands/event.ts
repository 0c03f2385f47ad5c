import { type Connection, createConnection } from '../../api/client/connection.ts'
import { withIdempotencyKey } from '../../api/client/idempotency-key.ts'
import type { QueuedEvent } from '../../api/client/schemas.ts'
import { WEBHOOK_MESSAGES } from '../../api/webhooks/messages.schema.ts'
import type { Answer, FreeCommand } from './command.ts'
import { CheckFailure } from './failure.ts'
import { argument, list, type Options, option, required } from './options.ts'
import { printable, warn } from './output.ts'
import { secretFileOption } from './secret-options.ts'
import { explained, readService } from './service.ts'

const TYPES = Object.keys(WEBHOOK_MESSAGES)

/** Commands for the events of the account of DRAPE_API_KEY, on a developer's machine. */
export const eventCommands: Readonly<Record<string, FreeCommand>> = {
  listen: {
    summary: 'print the events of the account of DRAPE_API_KEY as they happen, and post them to a local program',
    options: [
      option('--forward-to <port|url>', 'local program that receives the events as signed webhooks'),
      list('--events <type,type>', `only these events: ${TYPES.join(', ')}`),
      secretFileOption('secret', 'signing secret, whsec_…; default: generate a secret, and print it'),
    ],
    run: listenUntilStopped,
  },
  trigger: {
    summary: 'send a test event to the listeners of the account, or to an endpoint',
    argument: argument('<type>', 'type of the event').choices(TYPES),
    options: [option('--endpoint <id>', 'only to this endpoint')],
    run: (options) => triggerEvent(connect(), required(options.type, 'type'), options),
  },
  'events resend': {
    summary: 'resend an event to its receivers and to the listeners, or retry one delivery',
    argument: argument('<event|delivery>', 'ID of the event, evt_…, or number of the delivery'),
    run: ({ 'event|delivery': id }) => resendEvent(connect(), required(id, 'event')),
  },
}

function connect(): Connection {
  return createConnection(readService(process.env))
}

/** Stops the listener on SIGINT or SIGTERM. */
async function listenUntilStopped(options: Options): Promise<undefined> {
  const { listen } = await import('./listen.ts')
  const stopping = new AbortController()
  for (const name of ['SIGINT', 'SIGTERM'] as const) process.once(name, () => stopping.abort())
  await listen(connect(), options, {
    signal: stopping.signal,
    output: {
      write: (line, fields) =>
        console.log(options.json ? printable(JSON.stringify(fields)) : line.split('\n').map(printable).join('\n')),
      warn,
    },
  })
}

/** Sends a test event. Throws if nothing receives events of its type. */
async function triggerEvent(connection: Connection, type: string, { endpoint }: Options): Promise<Answer> {
  const body = { type, ...(endpoint !== undefined && { endpointId: endpoint }) }
  const queued = await explained(
    connection.call<QueuedEvent>({
      method: 'POST',
      path: ['webhooks', 'events'],
      body,
      ...withIdempotencyKey({}),
    }),
  )
  if (queued.deliveries > 0) return { ...queued }
  throw new CheckFailure(
    endpoint === undefined
      ? `No listener receives ${type}. Run drape listen in another terminal, or name an endpoint with --endpoint.`
      : `The endpoint ${endpoint} does not receive ${type}: the account has no such endpoint, it is not active, or it does not subscribe to the type.`,
  )
}

/** Resends an event, or one of its deliveries. Throws if nothing receives it. */
async function resendEvent(connection: Connection, id: string): Promise<Answer> {
  const path = ['webhooks', 'events', id, 'resend']
  const queued = await explained(connection.call<QueuedEvent>({ method: 'POST', path }))
  if (queued.deliveries > 0) return { ...queued }
  throw new CheckFailure(
    `${id} has no active receiver, or its data was deleted after the delivery. Run drape listen in another terminal.`,
  )
}
