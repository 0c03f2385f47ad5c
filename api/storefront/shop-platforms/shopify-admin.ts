import { setTimeout as sleep } from 'node:timers/promises'
import { DrapeError } from '../../shared/contract/errors.ts'
import { compileCheck, Nullable, type Static, type TSchema, Type } from '../../shared/contract/schema.ts'
import type { AddressRule } from '../../shared/network/addresses.ts'
import { adminUrlProblem } from '../../shops/admin-url.ts'
import type { ShopRecord } from '../../shops/shops.store.ts'

/** Shopify supports a version for 1 year from its date; it contains all fields that are queried here. */
const API_VERSION = '2026-07'
const TIMEOUT_MS = 10_000
const MAX_RESPONSE_BYTES = 2 * 1024 * 1024
/** Total of all pauses within one call: a caller may be waiting for the response. */
const MAX_PAUSE_SECONDS = 5

/** A GraphQL document with one operation, and the schema of its `data`. */
export interface AdminOperation<T> {
  readonly document: string
  readonly parse: (data: unknown) => T
}

/** An operation whose response must match the schema; a mismatch is an error of the platform. */
export function adminOperation<S extends TSchema>(document: string, schema: S): AdminOperation<Static<S>> {
  const check = compileCheck(schema)
  const parse = (data: unknown) => {
    const result = check(data)
    if (result.ok) return result.value
    throw refused(`returned an unexpected shape: ${result.problems.map(({ path, message }) => `${path} ${message}`)}`)
  }
  return { document, parse }
}

/** Errors in a mutation's result; empty on success. */
export const UserErrors = Type.Array(
  Type.Object({ field: Type.Optional(Nullable(Type.Array(Type.String()))), message: Type.String() }),
)

/** The platform refused a request. Names only fields: messages may repeat sent data, e.g. an address. */
export function refusedFields(errors: Static<typeof UserErrors>): DrapeError {
  return refused(`refused ${errors.map(({ field }) => field?.join('.') ?? 'all').join(', ')}`)
}

export type ShopifyAdmin = ReturnType<typeof createShopifyAdmin>

/**
 * Queries the GraphQL Admin API of a shop. When rate-limited, waits if the requested delay is short. Throws a retryable
 * `SERVICE_UNAVAILABLE` when the API is unavailable or requests a longer delay, a non-retryable one when it refuses.
 */
export function createShopifyAdmin({
  isPlainAllowed,
  answerMs = TIMEOUT_MS,
  pause = sleep,
}: {
  /** IP addresses to which a token may be sent without TLS. */
  isPlainAllowed: AddressRule
  answerMs?: number
  pause?: (ms: number) => Promise<unknown>
}) {
  return async <T>(shop: ShopRecord, operation: AdminOperation<T>, variables: object): Promise<T> => {
    const why = adminUrlProblem(baseOf(shop), isPlainAllowed)
    if (why !== null) throw refused(`was not queried: its address ${why}`)
    let pausedSeconds = 0
    for (;;) {
      const answer = await post(shop, JSON.stringify({ query: operation.document, variables }), answerMs)
      if (!('waitSeconds' in answer)) return operation.parse(answer.data)
      pausedSeconds += answer.waitSeconds
      if (pausedSeconds > MAX_PAUSE_SECONDS) throw unavailable('requests a longer delay')
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
    throw unavailable('is unreachable', cause)
  })
  const text = await readText(response).catch((cause) => {
    throw cause instanceof DrapeError ? cause : unavailable('did not complete its response', cause)
  })
  if (response.status === 429) return { waitSeconds: readPause(response) }
  if (response.status >= 500 || response.status === 430) throw unavailable(`returned ${response.status}`)
  if (response.status !== 200) throw refused(`answered ${response.status}`)
  return parseResponse(text)
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
    if (bytes > MAX_RESPONSE_BYTES) throw refused('returned a response that is too large')
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
function parseResponse(text: string): Answered {
  const envelope = checkEnvelope(parseJson(text))
  if (!envelope.ok) throw refused('did not return GraphQL')
  const { data, errors = [], extensions } = envelope.value
  const codes = errors.map(({ extensions, message }) => extensions?.code ?? message)
  if (codes.includes('THROTTLED') || codes.includes('Throttled'))
    return { waitSeconds: restoreSeconds(extensions?.cost) }
  if (codes.includes('INTERNAL_SERVER_ERROR')) throw unavailable('has an internal error')
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

/** Seconds until the rate-limit bucket has refilled for this query. */
function restoreSeconds(cost: Cost | undefined): number {
  if (cost === undefined) return 1
  const { currentlyAvailable, restoreRate } = cost.throttleStatus
  return Math.max((cost.requestedQueryCost - currentlyAvailable) / Math.max(restoreRate, 1), MIN_PAUSE_SECONDS)
}

function unavailable(what: string, cause?: unknown): DrapeError {
  return new DrapeError('SERVICE_UNAVAILABLE', `The platform of the shop ${what}.`, { retryable: true, cause })
}

function refused(what: string): DrapeError {
  return new DrapeError('SERVICE_UNAVAILABLE', `The platform of the shop ${what}.`)
}
