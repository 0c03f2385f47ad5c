import { DrapeError } from '../../shared/contract/errors.ts'
import { compileCheck, Type } from '../../shared/contract/schema.ts'
import { type OutboxConsumer, startOutboxConsumer } from '../../shared/queue/outbox-consumer.ts'
import type { Log } from '../../shared/telemetry/log.ts'
import { ACCESS_TOKEN } from '../../shops/shop-settings.ts'
import type { ShopRecord, Shops } from '../../shops/shops.store.ts'
import type { DueToken, ObtainedToken, ShopTokens } from './shop-tokens.store.ts'
import { parseJson, type RequestShopify, refused, type ShopifyResponse, unavailable } from './shopify-request.ts'

export interface TokenRenewalOptions {
  readonly tokens: Pick<ShopTokens, 'claimDue' | 'keep' | 'retryLater'>
  readonly shops: Pick<Shops, 'findOpen'>
  readonly request: RequestShopify
  readonly log: Log
  /** Polling interval while no token is due, in ms. */
  readonly idleMs?: number
}

const CONCURRENCY = 8
/** Exceeds the time that a platform may take for a request with each of two secrets. */
const LEASE_SECONDS = 60
const IDLE_MS = 5000

/**
 * Obtains the tokens of all shops whose platform gives tokens that end, before they end. Any number of processes may run
 * concurrently; one of them renews a token. If it is killed before it has stored the answer, the next attempt after its
 * lease uses the same refresh token, which Shopify accepts until its successor is used.
 */
export function startTokenRenewal(options: TokenRenewalOptions): OutboxConsumer {
  const { tokens, log, idleMs = IDLE_MS } = options
  return startOutboxConsumer({
    name: 'token of a shop',
    log,
    concurrency: CONCURRENCY,
    idleMs,
    failureMs: idleMs,
    claim: async ({ limit }) => ({ items: await tokens.claimDue({ limit, leaseSeconds: LEASE_SECONDS }) }),
    handle: (due) => renew(due, options),
  })
}

async function renew(due: DueToken, { tokens, shops, request, log }: TokenRenewalOptions): Promise<void> {
  try {
    const shop = await shops.findOpen(due.id)
    if (shop !== null) await tokens.keep(due, await obtainToken(shop, request))
  } catch (error) {
    log.warn({ shopId: due.id, err: error }, 'token of a shop not obtained')
    await tokens.retryLater(due, { isRefused: error instanceof DrapeError && !error.retryable })
  }
}

/** Throws a DrapeError `SERVICE_UNAVAILABLE`, not retryable when the platform refuses. */
async function obtainToken(shop: ShopRecord, request: RequestShopify): Promise<ObtainedToken> {
  let refusal = refused('was not asked for a token: the shop has no secret')
  // While a secret replaces another, the platform accepts one or both.
  for (const { secret } of shop.secrets) {
    const body = { client_id: shop.adminClientId, client_secret: secret, ...grantOf(shop) }
    const response = await request(shop, { path: '/admin/oauth/access_token', body })
    if (response.status === 429) throw unavailable('requests a longer delay')
    if (response.status === 200) return readToken(response)
    refusal = refused(`gave no token: it answered ${response.status}${errorOf(response)}`)
  }
  throw refusal
}

/** (shopify.dev: "Client credentials grant", "Offline access tokens") */
function grantOf({ adminToken }: ShopRecord) {
  return adminToken === null
    ? { grant_type: 'client_credentials' }
    : { grant_type: 'refresh_token', refresh_token: adminToken }
}

const checkToken = compileCheck(
  Type.Object({
    access_token: Type.String({ pattern: ACCESS_TOKEN }),
    expires_in: Type.Number({ exclusiveMinimum: 0, maximum: 31_536_000 }),
    refresh_token: Type.Optional(Type.String({ pattern: ACCESS_TOKEN })),
  }),
)

function readToken({ text }: ShopifyResponse): ObtainedToken {
  const checked = checkToken(parseJson(text))
  if (!checked.ok) throw refused('returned an unexpected shape of a token')
  const { access_token: accessToken, expires_in: seconds, refresh_token: refreshToken = null } = checked.value
  return { accessToken, seconds, refreshToken }
}

const OAUTH_ERROR =
  /\b(?:invalid_(?:request|client|grant)|unauthorized_client|unsupported_grant_type|app_not_installed|shop_not_permitted|application_cannot_be_found)\b/

/** A known error code, which Shopify returns as JSON or in a page: other text can contain a secret. */
function errorOf({ text }: ShopifyResponse): string {
  const code = OAUTH_ERROR.exec(text)?.[0]
  return code === undefined ? '' : ` (${code})`
}
