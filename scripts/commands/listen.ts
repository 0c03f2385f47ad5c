import { request as requestHttp } from 'node:http'
import { request as requestHttps } from 'node:https'
import { setTimeout as sleep } from 'node:timers/promises'
import { DrapeApiError } from '../../api/client/api-error.ts'
import type { Connection } from '../../api/client/connection.ts'
import { withIdempotencyKey } from '../../api/client/idempotency-key.ts'
import type { Listener, PolledEvents } from '../../api/client/schemas.ts'
import { createMessage } from '../../api/shared/signing/webhook-message.ts'
import { generateWebhookSecret, isWebhookSecret } from '../../api/shared/signing/webhook-signature.ts'
import { type Options, UsageError } from './options.ts'
import { explained } from './service.ts'
import { readEvents } from './webhook.ts'

const PATH = ['webhooks', 'listeners']
/** The same timeout as for an endpoint. */
const FORWARD_TIMEOUT_MS = 10_000
const PAUSE_MS = 2000

type PolledEvent = PolledEvents['events'][number]

interface Outcome {
  readonly deliveryId: number
  readonly status?: number
  readonly error?: string
}

export interface ListenOutput {
  /** A line of text, or its fields for JSON output. */
  write(line: string, fields: Record<string, unknown>): void
  warn(line: string): void
}

/** Polls the events of the account, prints each, and posts each to a local program, until the signal aborts. */
export async function listen(
  connection: Connection,
  options: Options,
  { output, signal }: { output: ListenOutput; signal: AbortSignal },
): Promise<void> {
  const target = readTarget(options['forward-to'])
  const secret = options.secret ?? generateWebhookSecret()
  if (!isWebhookSecret(secret)) throw new UsageError('--secret-file must hold whsec_ and 24 to 64 bytes in base64')
  const events = readEvents(options.events)
  const create = () =>
    connection.call<Listener>({
      method: 'POST',
      path: PATH,
      body: events === undefined ? {} : { events },
      ...withIdempotencyKey({}),
    })
  let { listenerId, events: types } = await explained(create())
  const end = () => connection.call({ method: 'DELETE', path: [...PATH, listenerId] }).catch(() => {})
  output.write(
    `Listening to ${types.join(', ')}${target ? `, forwarding to ${target.href}` : ''}\nSigning secret: ${secret}`,
    { listenerId, events: types, forwardTo: target?.href ?? null, secret },
  )

  let outcomes: Outcome[] = []
  try {
    while (!signal.aborted) {
      try {
        const path = [...PATH, listenerId, 'poll']
        const polled = await connection.call<PolledEvents>({ method: 'POST', path, body: { outcomes }, signal })
        const handle = (event: PolledEvent) => forward(event, { target, secret, output })
        outcomes = await Promise.all(polled.events.map(handle))
      } catch (error) {
        if (signal.aborted) break
        if (error instanceof DrapeApiError && error.code === 'LISTENER_NOT_FOUND') {
          outcomes = []
          listenerId = (await explained(create())).listenerId
          output.warn('The service received no poll from this listener for 60 s. Events of that time may be missing.')
        } else if (isFinal(error)) {
          await explained(Promise.reject(error))
        } else {
          output.warn(`${(error as Error).message} Trying again.`)
          await sleep(PAUSE_MS, undefined, { signal }).catch(() => {})
        }
      }
    }
    if (outcomes.length > 0) {
      const path = [...PATH, listenerId, 'poll']
      await connection.call({ method: 'POST', path, body: { outcomes, waitSeconds: 0 } }).catch(() => {})
    }
  } finally {
    await end()
  }
}

/** Whether a retry of the poll would be rejected, too. */
function isFinal(error: unknown): boolean {
  return (
    !(error instanceof Error) ||
    !error.name.startsWith('Drape') ||
    (error instanceof DrapeApiError && error.status < 500 && error.status !== 429)
  )
}

/** `3000`, `3000/hook`, `localhost:3000/hook` or a URL. */
function readTarget(text: string | undefined): URL | null {
  if (text === undefined) return null
  const address = /^\d+(\/|$)/.test(text) ? `http://localhost:${text}` : text.includes('://') ? text : `http://${text}`
  const url = URL.canParse(address) ? new URL(address) : null
  if (url !== null && ['http:', 'https:'].includes(url.protocol) && url.hostname !== '') return url
  throw new UsageError('--forward-to must be a port, as 3000, or a URL, as http://localhost:3000/hook')
}

async function forward(
  { deliveryId, eventId, type, timestamp, data }: PolledEvent,
  { target, secret, output }: { target: URL | null; secret: string; output: ListenOutput },
): Promise<Outcome> {
  const { headers, body } = createMessage({ eventId, sentAt: new Date(), content: { type, timestamp, data } }, [secret])
  const mark = data.test === true ? ' (test)' : ''
  const title = `${timestamp} ${type}${mark} ${eventId} delivery ${deliveryId}`
  const fields = { deliveryId, eventId, type, timestamp, data }
  if (target === null) {
    output.write(`${title}\n  ${body}`, fields)
    return { deliveryId }
  }
  const started = performance.now()
  const outcome = await post(target, { headers, body })
  const ms = Math.round(performance.now() - started)
  output.write(`${title} → ${outcome.status ?? outcome.error} in ${ms} ms`, { ...fields, ...outcome, ms })
  return { deliveryId, ...outcome }
}

/** Does not follow redirects, like the service. */
function post(
  target: URL,
  { headers, body }: { headers: Record<string, string>; body: string },
): Promise<{ status?: number; error?: string }> {
  const request = target.protocol === 'https:' ? requestHttps : requestHttp
  const signal = AbortSignal.timeout(FORWARD_TIMEOUT_MS)
  const all = { ...headers, 'content-length': String(Buffer.byteLength(body)) }
  return new Promise((resolve) => {
    const sent = request(target, { method: 'POST', headers: all, signal, agent: false }, (response) => {
      response.resume().on('error', () => {})
      resolve({ status: response.statusCode })
    })
    sent.on('error', (error) =>
      resolve({
        error: signal.aborted
          ? `no answer within ${FORWARD_TIMEOUT_MS / 1000} s`
          : error.message || (error as NodeJS.ErrnoException).code || 'not reachable',
      }),
    )
    sent.end(body)
  })
}
