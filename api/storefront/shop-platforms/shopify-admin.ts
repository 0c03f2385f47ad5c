import { setTimeout as sleep } from 'node:timers/promises'
import type { DrapeError } from '../../shared/contract/errors.ts'
import { compileCheck, Nullable, type Static, type TSchema, Type } from '../../shared/contract/schema.ts'
import type { ShopRecord } from '../../shops/shops.store.ts'
import type { ShopTokens } from './shop-tokens.store.ts'
import { parseJson, type RequestShopify, refused, type ShopifyResponse, unavailable } from './shopify-request.ts'

/** Shopify supports a version for 1 year from its date; it contains all fields that are queried here. */
const PATH = '/admin/api/2026-07/graphql.json'
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
 * `SERVICE_UNAVAILABLE` when the API is unavailable, requests a longer delay or does not accept the token, which can be
 * replaced; a non-retryable one when it refuses the query.
 */
export function createShopifyAdmin({
  request,
  tokens,
  pause = sleep,
}: {
  request: RequestShopify
  tokens: Pick<ShopTokens, 'find' | 'refuse' | 'accept'>
  pause?: (ms: number) => Promise<unknown>
}) {
  return async <T>(shop: ShopRecord, operation: AdminOperation<T>, variables: object): Promise<T> => {
    const access = await tokens.find(shop)
    if (access === null) throw unavailable('has not given a token yet')
    const headers = { 'X-Shopify-Access-Token': access.token }
    let pausedSeconds = 0
    for (;;) {
      const response = await request(shop, { path: PATH, headers, body: { query: operation.document, variables } })
      if (response.status === 401) {
        await tokens.refuse(shop, access)
        throw unavailable('does not accept the token')
      }
      const answer = readAnswer(response)
      if ('waitSeconds' in answer) {
        pausedSeconds += answer.waitSeconds
        if (pausedSeconds > MAX_PAUSE_SECONDS) throw unavailable('requests a longer delay')
        await pause(answer.waitSeconds * 1000)
        continue
      }
      if (shop.adminRefusedAt !== null) await tokens.accept(shop, access)
      return operation.parse(answer.data)
    }
  }
}

type Answered = { readonly data: unknown } | { readonly waitSeconds: number }

function readAnswer(response: ShopifyResponse): Answered {
  if (response.status === 429) return { waitSeconds: readPause(response) }
  if (response.status !== 200) throw refused(`answered ${response.status}`)
  return parseResponse(response.text)
}

function readPause({ headers }: ShopifyResponse): number {
  const seconds = Number(headers.get('retry-after') ?? 2)
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
