import { createAccounts } from '../accounts/accounts.store.ts'
import { createApiKeys } from '../accounts/api-keys.store.ts'
import { createLedger } from '../accounts/ledger.store.ts'
import { createUsage } from '../accounts/usage.store.ts'
import { createConsents } from '../consents/consents.store.ts'
import { createErasures } from '../erasure/erasures.store.ts'
import { createPeople } from '../erasure/people.store.ts'
import { createBacklog } from '../generations/backlog.store.ts'
import { createGenerationSearches } from '../generations/generation-search.store.ts'
import { createRateLimiter } from '../http/limits/rate-limiter.ts'
import { createRequestLog } from '../http/request-log.store.ts'
import { createProductSearches } from '../products/product-search.store.ts'
import type { Database } from '../shared/database/database.ts'
import { createPoolRegistry } from '../shared/engines/pool-registry.ts'
import { createGenerations } from '../shared/generations/generations.store.ts'
import type { Announce } from '../shared/generations/transitions.store.ts'
import { createNamedRule } from '../shared/network/addresses.ts'
import type { Redis } from '../shared/queue/redis.ts'
import type { Customer } from '../shared/retention/customer.ts'
import type { ObjectStorage } from '../shared/storage/object.ts'
import { createObjects } from '../shared/storage/objects.store.ts'
import type { Log } from '../shared/telemetry/log.ts'
import { listRefusedRequests } from '../shops/refused-requests.ts'
import { createShops } from '../shops/shops.store.ts'
import { createVisitorAddresses } from '../shops/visitor-addresses.store.ts'
import { createEventAnalytics } from '../storefront/events/event-analytics.store.ts'
import { createLeads } from '../storefront/leads/leads.store.ts'
import { createSafetyBlocks } from '../trust/appeals/safety-blocks.store.ts'
import { createSafetyReviews } from '../trust/appeals/safety-reviews.store.ts'
import { createRemovalCandidates } from '../trust/removals/removal-candidates.store.ts'
import { createRemovals } from '../trust/removals/removals.store.ts'
import type { EndpointRules } from '../webhooks/endpoint-url.ts'
import { createWebhooks } from '../webhooks/webhooks.store.ts'
import { createOperatorAudit } from './operator-audit.store.ts'
import type { BoundPage } from './page.ts'
import { accountPages } from './pages/accounts.ts'
import { analyticsPages } from './pages/analytics.ts'
import { auditPages } from './pages/audit.ts'
import { blockPages } from './pages/blocks.ts'
import type { Engines } from './pages/engine-names.ts'
import { generationPages } from './pages/generations.ts'
import { keyPages } from './pages/keys.ts'
import { leadPages } from './pages/leads.ts'
import { ledgerPages } from './pages/ledger.ts'
import { logoPages } from './pages/logo.ts'
import { operatorPages } from './pages/operators.ts'
import { overviewPages } from './pages/overview.ts'
import { personPages } from './pages/people.ts'
import { policyPages } from './pages/policies.ts'
import { productPages } from './pages/products.ts'
import { removalPages } from './pages/removals.ts'
import { requestPages } from './pages/requests.ts'
import { reviewPages } from './pages/reviews.ts'
import { shopPages } from './pages/shops.ts'
import { webhookPages } from './pages/webhooks.ts'
import { createOperatorSessions } from './sign-in/operator-sessions.store.ts'
import { createOperators } from './sign-in/operators.store.ts'
import { ownPasswordPages } from './sign-in/own-password.ts'
import { verifyPassword } from './sign-in/password.ts'
import type { SecondFactorPolicy } from './sign-in/required-second-factor.ts'
import { secondFactorPages } from './sign-in/second-factor.ts'
import { createSecondFactors } from './sign-in/second-factors.store.ts'
import type { SingleSignOn } from './sign-in/single-sign-on.ts'
import { createSecondFactorCheck } from './sign-in/verify-second-factor.ts'

export interface DashboardOptions {
  readonly log: Log
  readonly database: Database
  readonly redis: Redis
  readonly storage: ObjectStorage
  readonly engines: Engines
  /** Public origin of the dashboard; null: the host of each request, without TLS. */
  readonly origin: string | null
  /** Number of trusted reverse proxies, each of which appends its client to `X-Forwarded-For`. */
  readonly proxyHops: number
  /** Rules for webhook URLs. */
  readonly endpointRules: EndpointRules
  /** Identity provider; null or absent: none. */
  readonly singleSignOn?: SingleSignOn | null
  /** Whether operators may sign in with a password. */
  readonly passwords?: boolean
  /** Operators who need a second factor in addition to their password. */
  readonly secondFactor?: SecondFactorPolicy
  /** Name of the installation in authenticator apps. */
  readonly issuer?: string
  /** Address of the API, for links and snippets. */
  readonly publicUrl?: string
  /** Erases an end user; without it there are no pages of people. */
  readonly erase?: (customer: Customer) => Promise<string>
  /** Ends the events of open pages. */
  readonly stopping?: AbortSignal
  /** Publishes the end of a generation. */
  readonly announce?: Announce
  /** Whether an extension is on: the pages of the others do not exist. Default: all are. */
  readonly hasFeature?: (name: string) => boolean
  /** Clock for the codes of authenticator apps. */
  readonly now?: () => number
  readonly verifyPassword?: typeof verifyPassword
}

/** All pages behind the sign-in. */
export function createPages(options: DashboardOptions): BoundPage[] {
  const { database, redis, storage, engines, endpointRules, passwords = true, secondFactor = 'optional' } = options
  const of = (feature: string, pages: () => BoundPage[]) => ((options.hasFeature?.(feature) ?? true) ? pages() : [])
  const accounts = createAccounts(database)
  const audit = createOperatorAudit(database)
  const usage = createUsage(database)
  const shops = createShops(database)
  const webhooks = createWebhooks(database)
  const operators = createOperators(database)
  const budget = createCodeBudget(redis)
  return [
    ...overviewPages({
      usage,
      redis,
      backlog: createBacklog(database),
      pools: createPoolRegistry(redis),
      sessions: createOperatorSessions(database),
      stopping: options.stopping,
    }),
    ...accountPages({
      accounts,
      audit,
      usage,
      shops,
      webhooks,
      engines,
      keys: createApiKeys(database),
      ledger: createLedger(database),
    }),
    ...ledgerPages({ accounts, ledger: createLedger(database) }),
    ...keyPages({ accounts, audit }),
    ...requestPages({ accounts, requestLog: createRequestLog(database), keys: createApiKeys(database) }),
    ...logoPages({ accounts, audit, storage, objects: createObjects(database) }),
    ...shopPages({
      shops,
      accounts,
      audit,
      engines,
      visitors: createVisitorAddresses(database),
      consents: createConsents(database),
      listRefused: (shop) => listRefusedRequests(redis, shop),
      isPlainAllowed: createNamedRule(endpointRules.allowCidrs),
    }),
    ...policyPages({ shops, audit }),
    ...of('storefront', () => analyticsPages({ shops, analytics: createEventAnalytics(database) })),
    ...generationPages({
      storage,
      accounts,
      audit,
      searches: createGenerationSearches(database),
      generations: createGenerations(database),
      announce: options.announce ?? (() => {}),
    }),
    ...productPages({ accounts, searches: createProductSearches(database) }),
    ...of('storefront', () => leadPages({ leads: createLeads(database), shops, accounts, audit })),
    ...of('trust', () => [
      ...removalPages({
        storage,
        accounts,
        audit,
        removals: createRemovals(database),
        candidates: createRemovalCandidates(database),
      }),
      ...blockPages({ audit, blocks: createSafetyBlocks(database) }),
      ...reviewPages({ audit, accounts, reviews: createSafetyReviews(database) }),
    ]),
    ...(options.erase === undefined
      ? []
      : personPages({
          accounts,
          audit,
          storage,
          erase: options.erase,
          people: createPeople(database),
          erasures: createErasures(database),
        })),
    ...webhookPages({ webhooks, accounts, audit, rules: endpointRules }),
    ...auditPages({ audit }),
    ...operatorPages({ audit, accounts, passwords, operators }),
    ...(passwords
      ? ownPasswordPages({
          audit,
          operators,
          budget,
          verifyPassword: options.verifyPassword ?? verifyPassword,
          isSecure: options.origin?.startsWith('https:') ?? false,
        })
      : []),
    ...secondFactorPages({
      audit,
      policy: secondFactor,
      issuer: options.issuer ?? 'Drape',
      factors: createSecondFactors(database),
      check: createSecondFactorCheck({ budget, now: options.now }),
    }),
  ]
}

/** Tries of second factors and of the current password, per operator. */
export function createCodeBudget(redis: Redis) {
  return createRateLimiter({ redis, name: 'second-factor', points: 5, seconds: 900 })
}
