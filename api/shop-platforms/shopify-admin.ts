import { setTimeout as sleep } from 'node:timers/promises'
import type { AddressRule } from '../shared/addresses.ts'
import { DrapeError } from '../shared/errors.ts'
import { compileCheck, Nullable, type Static, type TSchema, Type } from '../shared/schema.ts'
import type { ShopRecord } from '../stores/shops.ts'
import { whyNoAdminUrl } from './admin-url.ts'

/** Supported by Shopify for a year from its name on; what is asked for here exists in it. */
const API_VERSION = '2026-07'
const ANSWER_MS = 10_000
const MAX_ANSWER_BYTES = 2 * 1024 * 1024
/** For all pauses of one call together: a caller may be waiting for its answer. */
const MAX_PAUSE_SECONDS = 5

/** A document with one operation, and the shape of the `data` that it is answered with. */
export interface AdminOperation<T> {
  readonly document: string
  readonly parse: (data: unknown) => T
}

/** An operation whose answer must have this shape; one that has not is a fault of the platform. */
export function adminOperation<S extends TSchema>(document: string, schema: S): AdminOperation<Static<S>> {
  const check = compileCheck(schema)
  const parse = (data: unknown) => {
    const result = check(data)
    if (result.ok) return result.value
    throw refused(`returned an unexpected shape: ${result.problems.map(({ path, message }) => `${path} ${message}`)}`)
  }
  return { document, parse }
}

/** What a mutation answers with beside what it did; empty when it did it. */
export const UserErrors = Type.Array(
  Type.Object({ field: Type.Optional(Nullable(Type.Array(Type.String()))), message: Type.String() }),
)

/** The platform refused a request. Names only fields: messages may repeat what was sent, as an address. */
export function refusedFields(errors: Static<typeof UserErrors>): DrapeError {
  return refused(`refused ${errors.map(({ field }) => field?.join('.') ?? 'all').join(', ')}`)
}

export type ShopifyAdmin = ReturnType<typeof createShopifyAdmin>

/**
 * Asks the GraphQL Admin API of a shop. Waits when the API is asked too much and says for how long, if that is not long. Throws a
 * retryable `SERVICE_UNAVAILABLE` when it cannot be reached or asks to wait longer, another one when it refuses.
 */
export function createShopifyAdmin({
  isPlainAllowed,
  answerMs = ANSWER_MS,
  pause = sleep,
}: {
  /** IP addresses that a token may be sent to without TLS. */
  isPlainAllowed: AddressRule
  answerMs?: number
  pause?: (ms: number) => Promise<unknown>
}) {
  return async <T>(shop: ShopRecord, operation: AdminOperation<T>, variables: object): Promise<T> => {
    const why = whyNoAdminUrl(baseOf(shop), isPlainAllowed)
    if (why !== null) throw refused(`is not queried: its address ${why}`)
    let pausedSeconds = 0
    for (;;) {
      const answer = await post(shop, JSON.stringify({ query: operation.document, variables }), answerMs)
      if (!('waitSeconds' in answer)) return operation.parse(answer.data)
      pausedSeconds += answer.waitSeconds
      if (pausedSeconds > MAX_PAUSE_SECONDS) throw away('asks to wait')
      await pause(answer.waitSeconds * 1000)
    }
  }
}

type Answered = { readonly data: unknown } | { readonly waitSeconds: number }

async function post(shop: ShopRecord, body: string, answerMs: number): Promise<Answered> {
  const response = await fetch(addressOf(shop), {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', 'X-Shopify-Access-Token': shop.adminToken ?? '' },
    body,
    // The token is for this host only.
    redirect: 'error',
    signal: AbortSignal.timeout(answerMs),
  }).catch((cause) => {
    throw away('cannot be reached', cause)
  })
  const text = await readText(response).catch((cause) => {
    throw cause instanceof DrapeError ? cause : away('did not finish its answer', cause)
  })
  if (response.status === 429) return { waitSeconds: readPause(response) }
  if (response.status >= 500 || response.status === 430) throw away(`answered ${response.status}`)
  if (response.status !== 200) throw refused(`answered ${response.status}`)
  return readAnswer(text)
}

function baseOf({ adminUrl, domain }: ShopRecord): string {
  return adminUrl ?? `https://${domain}`
}

function addressOf(shop: ShopRecord): string {
  return `${baseOf(shop).replace(/\/+$/, '')}/admin/api/${API_VERSION}/graphql.json`
}

async function readText(response: Response): Promise<string> {
  const chunks: Uint8Array[] = []
  let bytes = 0
  for await (const chunk of response.body ?? []) {
    bytes += chunk.length
    if (bytes > MAX_ANSWER_BYTES) throw refused('returned a response that is too large')
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString()
}

function readPause(response: Response): number {
  const seconds = Number(response.headers.get('retry-after') ?? 2)
  return Number.isFinite(seconds) ? Math.max(seconds, MIN_PAUSE_SECONDS) : 2
}

const MIN_PAUSE_SECONDS = 0.1

const checkEnvelope = compileCheck(
  Type.Object({
    data: Type.Optional(Type.Unsafe<unknown>({})),
    errors: Type.Optional(
      Type.Array(
        Type.Object({
          message: Type.String(),
          extensions: Type.Optional(Type.Object({ code: Type.Optional(Type.String()) })),
        }),
      ),
    ),
    extensions: Type.Optional(
      Type.Object({
        cost: Type.Optional(
          Type.Object({
            requestedQueryCost: Type.Number(),
            throttleStatus: Type.Object({ currentlyAvailable: Type.Number(), restoreRate: Type.Number() }),
          }),
        ),
      }),
    ),
  }),
)

/** (shopify.dev: "API limits", "GraphQL Admin API: status and error codes") */
function readAnswer(text: string): Answered {
  const envelope = checkEnvelope(parseJson(text))
  if (!envelope.ok) throw refused('did not return GraphQL')
  const { data, errors = [], extensions } = envelope.value
  const codes = errors.map(({ extensions, message }) => extensions?.code ?? message)
  if (codes.includes('THROTTLED') || codes.includes('Throttled'))
    return { waitSeconds: restoreSeconds(extensions?.cost) }
  if (codes.includes('INTERNAL_SERVER_ERROR')) throw away('has a fault')
  if (codes.length > 0) throw refused(`refused: ${codes.join(', ')}`)
  return { data }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw refused('did not return JSON')
  }
}

interface Cost {
  readonly requestedQueryCost: number
  readonly throttleStatus: { readonly currentlyAvailable: number; readonly restoreRate: number }
}

/** Until the bucket holds what was asked for. */
function restoreSeconds(cost: Cost | undefined): number {
  if (cost === undefined) return 1
  const { currentlyAvailable, restoreRate } = cost.throttleStatus
  return Math.max((cost.requestedQueryCost - currentlyAvailable) / Math.max(restoreRate, 1), MIN_PAUSE_SECONDS)
}

function away(what: string, cause?: unknown): DrapeError {
  return new DrapeError('SERVICE_UNAVAILABLE', `The platform of the shop ${what}.`, { retryable: true, cause })
}

function refused(what: string): DrapeError {
  return new DrapeError('SERVICE_UNAVAILABLE', `The platform of the shop ${what}.`)
}
