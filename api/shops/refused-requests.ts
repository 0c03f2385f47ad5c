import type { IncomingMessage } from 'node:http'
import { DrapeError } from '../shared/contract/errors.ts'
import type { Redis } from '../shared/queue/redis.ts'
import type { Log } from '../shared/telemetry/log.ts'
import type { ShopRecord, Shops } from './shops.store.ts'
import { findSignatureFault, type SignatureFault, shownText } from './signature-fault.ts'
import type { ClaimCheck, ShopClaim } from './signed-request.ts'

/** A request in a shop's name whose authentication failed, as the merchant sees it. */
export interface RefusedRequest extends SignatureFault {
  /** ISO 8601, by the clock of the server. */
  readonly at: string
  /** Shop domain in the request; null when the request names none. */
  readonly site: string | null
  /** Network address of the request; the /64 of an IPv6 address. */
  readonly network: string
  /** Method and path. */
  readonly request: string
  /**
   * The text that the server signs, for comparison with the text that the proxy signs; null when the request could not
   * be parsed so far.
   */
  readonly text: string | null
}

/** A request during its check. */
export interface Attempt {
  readonly request: IncomingMessage
  readonly network: string
  readonly log: Log
  claim: ShopClaim | null
  /** SHA-256 as a lower-case hex string. */
  bodyHash: string
}

export type RefusedRequests = ReturnType<typeof createRefusedRequests>

const KEPT = 20
const KEPT_SECONDS = 86_400
const WINDOW_MS = 10_000
/** Maximum records per window and process: strangers must not flood the log, the dashboard or the database. */
const MAX_PER_WINDOW = 100
const MAX_PER_SITE = 10

/**
 * Records why requests of shops are refused: in the log, and the last 20 per shop for the dashboard, for 1 day. Samples
 * concurrent requests. Never throws, and runs after the response, so that the response time reveals nothing.
 */
export function createRefusedRequests({
  redis,
  shops,
  now = Date.now,
}: {
  redis: Pick<Redis, 'client' | 'isReady'>
  shops: Pick<Shops, 'findByDomain'>
  now?: () => number
}) {
  const isDue = createSampling(now)

  /** Records the result of `find` after the response was sent. */
  function afterResponse(
    { log }: Pick<Attempt, 'log'>,
    find: () => Promise<readonly [ShopRecord | null, RefusedRequest]>,
  ) {
    const record = async () => {
      const [shop, entry] = await find()
      log.warn({ ...entry, shopId: shop?.id ?? null }, 'request of a shop refused')
      await push(keyOf(shop), entry)
    }
    setImmediate(() => {
      record().catch((error) => log.debug({ err: error }, 'recording the refused request of a shop failed'))
    })
  }

  async function describe(check: ClaimCheck, message: string, attempt: Attempt) {
    const { claim, bodyHash } = attempt
    const site = siteOf(attempt)
    const shop = site === null ? null : await shops.findByDomain(site)
    const fault = check === 'signature' ? diagnose(claim, shop, bodyHash) : { check, hint: message }
    const text = claim === null || claim.platform === 'development' ? null : shownText(claim, bodyHash)
    return [shop, { ...fault, ...about(attempt), site, text }] as const
  }

  const about = ({ request, network }: Pick<Attempt, 'request' | 'network'>) => ({
    at: new Date(now()).toISOString(),
    network,
    request: `${request.method} ${(request.url ?? '').split('?')[0].slice(0, 200)}`,
  })

  async function push(key: string, entry: RefusedRequest): Promise<void> {
    if (!redis.isReady()) return
    const commands = redis.client.multi().lPush(key, JSON.stringify(entry))
    await commands
      .lTrim(key, 0, KEPT - 1)
      .expire(key, KEPT_SECONDS)
      .exec()
  }

  return {
    /** Records the error if it is the refusal of a shop's request. */
    note: (error: unknown, attempt: Attempt): void => {
      if (!(error instanceof DrapeError) || error.code !== 'PROXY_SIGNATURE_INVALID') return
      const [{ check } = {}] = (error.details ?? []) as readonly { check?: ClaimCheck }[]
      if (check === undefined || !isDue(`${siteOf(attempt)}`, `${attempt.network} ${check}`)) return
      afterResponse(attempt, () => describe(check, error.message, attempt))
    },

    /** Records a Shopify webhook without a valid signature; `shop` is the shop with its domain. */
    noteWebhook: (
      attempt: Pick<Attempt, 'request' | 'network' | 'log'>,
      { site, shop }: { site: string; shop: ShopRecord | null },
    ): void => {
      if (!isDue(site, `${attempt.network} webhook`)) return
      const fault: SignatureFault =
        shop === null
          ? { check: 'site', hint: `No shop of Shopify has the domain ${site}.` }
          : {
              check: 'secret',
              hint: 'The webhook is not signed with a secret of the shop: the client secret of its app.',
            }
      const entry = { ...fault, ...about(attempt), site: site.slice(0, MAX_SITE), text: null }
      afterResponse(attempt, async () => [shop, entry])
    },
  }
}

/**
 * The last refused requests of a shop, newest first; with null, those that name no known shop. Empty while Redis is
 * unavailable.
 */
export async function listRefusedRequests(
  redis: Pick<Redis, 'client' | 'isReady'>,
  shop: Pick<ShopRecord, 'id'> | null,
): Promise<readonly RefusedRequest[]> {
  const entries = redis.isReady() ? await redis.client.lRange(keyOf(shop), 0, KEPT - 1).catch(() => []) : []
  return entries.map((entry) => JSON.parse(entry) as RefusedRequest)
}

function keyOf(shop: Pick<ShopRecord, 'id'> | null): string {
  return `drape:refused:${shop?.id ?? 'unknown'}`
}

function diagnose(claim: ShopClaim | null, shop: ShopRecord | null, bodyHash: string): SignatureFault {
  if (claim === null || claim.platform === 'development') {
    return {
      check: 'site',
      hint: 'No active shop of the platform development has this domain.',
    }
  }
  return findSignatureFault(claim, shop, bodyHash)
}

const MAX_SITE = 253

/** Shop domain in the request, authenticated or not. */
function siteOf({ claim, request }: Attempt): string | null {
  if (claim !== null) return claim.domain
  const [header] = request.headersDistinct['x-drape-site'] ?? []
  const named = header ?? new URLSearchParams((request.url ?? '').split('?')[1]).get('shop')
  return named === null || named === '' || named.length > MAX_SITE || /[\s\p{C}]/u.test(named)
    ? null
    : named.toLowerCase()
}

/** Whether another refusal of this site and source may be recorded in this window. */
function createSampling(now: () => number) {
  let startedAt = Number.NEGATIVE_INFINITY
  let bySite = new Map<string, Set<string>>()
  let total = 0
  return (site: string, source: string): boolean => {
    if (now() - startedAt >= WINDOW_MS) {
      startedAt = now()
      bySite = new Map()
      total = 0
    }
    const sources = bySite.get(site) ?? new Set()
    if (total >= MAX_PER_WINDOW || sources.size >= MAX_PER_SITE || sources.has(source)) return false
    bySite.set(site, sources.add(source))
    total++
    return true
  }
}
