import { readFileSync } from 'node:fs'
import Koa from 'koa'
import { createAccounts } from '../accounts/accounts.store.ts'
import { createApiKeys } from '../accounts/api-keys.store.ts'
import { createLedger } from '../accounts/ledger.store.ts'
import { createUsage } from '../accounts/usage.store.ts'
import { createConsents } from '../consents/consents.store.ts'
import { createBacklog } from '../generations/backlog.store.ts'
import { createGenerationSearches } from '../generations/generation-search.store.ts'
import { pageStyle } from '../http/answers/page-style.ts'
import { createRateLimiter } from '../http/limits/rate-limiter.ts'
import { trimForwarded } from '../http/middleware/forwarded-headers.ts'
import { createRequestLog } from '../http/request-log.store.ts'
import { createProductSearches } from '../products/product-search.store.ts'
import { DrapeError } from '../shared/contract/errors.ts'
import type { Database } from '../shared/database/database.ts'
import { createPoolRegistry } from '../shared/engines/pool-registry.ts'
import { createGenerations } from '../shared/generations/generations.store.ts'
import type { Announce } from '../shared/generations/transitions.store.ts'
import { createNamedRule } from '../shared/network/addresses.ts'
import type { Redis } from '../shared/queue/redis.ts'
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
import { accountPages } from './accounts.ts'
import { analyticsPages } from './analytics.ts'
import { auditPages } from './audit.ts'
import { blockPages } from './blocks.ts'
import type { Engines } from './engine-names.ts'
import { readForm } from './form.ts'
import { generationPages } from './generations.ts'
import { setHeaders } from './headers.ts'
import { keyPages } from './keys.ts'
import { leadPages } from './leads.ts'
import { ledgerPages } from './ledger.ts'
import { logoPages } from './logo.ts'
import { createNextSteps } from './next-steps.ts'
import { createOperatorAudit } from './operator-audit.store.ts'
import { createOperatorSessions, type OperatorSessions } from './operator-sessions.store.ts'
import { createOperatorSignIns } from './operator-sign-ins.store.ts'
import { createOperators } from './operators.store.ts'
import { operatorPages } from './operators.ts'
import { overviewPages } from './overview.ts'
import { type BoundPage, indexPages, mountPages } from './pages.ts'
import { verifyPassword } from './password.ts'
import { policyPages } from './policies.ts'
import { productPages } from './products.ts'
import { openFormPages, redisplayRejectedForm } from './redisplay-rejected-form.ts'
import { refuseByPage } from './refusals.ts'
import { removalPages } from './removals.ts'
import { reportDuplicateSubmission } from './report-duplicate-submission.ts'
import { requestPages } from './requests.ts'
import { reviewPages } from './reviews.ts'
import { recallForms, saveFormOfExpiredSession } from './save-form-of-expired-session.ts'
import { createSavedForms } from './saved-forms.store.ts'
import { secondFactorPages } from './second-factor.ts'
import { createSecondFactorCheck } from './second-factor-check.ts'
import { createSecondFactors } from './second-factors.store.ts'
import {
  readSession,
  requireOperator,
  requireRole,
  requireSameOrigin,
  requireSecondFactor,
  type SecondFactorPolicy,
} from './session.ts'
import { shopPages } from './shops.ts'
import { signInPages } from './sign-in.ts'
import { type SingleSignOn, singleSignOnPages } from './single-sign-on.ts'
import type { DashboardMiddleware, DashboardState } from './state.ts'
import { webhookPages } from './webhooks.ts'

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
  /** Publishes the end of a generation. */
  readonly announce?: Announce
  /** Whether an extension is on: the pages of the others do not exist. Default: all are. */
  readonly hasFeature?: (name: string) => boolean
  /** Clock for the codes of authenticator apps. */
  readonly now?: () => number
  readonly verifyPassword?: typeof verifyPassword
}

/** Sign-in attempts: per address, per operator, and codes per operator. */
const TRIES = {
  address: { points: 20, seconds: 600 },
  operator: { points: 10, seconds: 600 },
  code: { points: 5, seconds: 900 },
} as const

const ASSETS = new Map([
  ['/dashboard.css', { type: 'css', body: pageStyle(readFileSync(new URL('dashboard.css', import.meta.url), 'utf8')) }],
  ['/dashboard.js', { type: 'js', body: readFileSync(new URL('browser/copy.js', import.meta.url)) }],
])

/** The dashboard for operators, a separate application that is never part of the public API. */
export function createDashboard(options: DashboardOptions): Koa<DashboardState> {
  const { log, database, origin, proxyHops } = options
  const isSecure = origin?.startsWith('https:') ?? false
  const app = new Koa<DashboardState>({ proxy: proxyHops > 0, maxIpsCount: proxyHops })
  app.use(trimForwarded)
  const sessions = createOperatorSessions(database)
  const [signIns, pages] = [createSignIns(options, { sessions, isSecure }), createPages(options)]
  const index = indexPages([...signIns, ...pages])
  const nextSteps = createNextSteps(options)
  const [runSignIns, runPages] = [mountPages(signIns), mountPages(pages)]
  app.use(async (ctx, next) => {
    Object.assign(ctx.state, {
      log,
      pages: index,
      operator: null,
      formKey: null,
      kept: null,
      forms: {
        canOpen: () => false,
        issue: () => null,
        kept: (action: string) => (ctx.state.kept?.action === action ? ctx.state.kept : null),
      },
      formId: null,
      nextSteps,
      token: '',
      form: new URLSearchParams(),
    })
    await next()
    log.info({ method: ctx.method, status: ctx.status, operator: ctx.state.operator?.id }, 'dashboard request')
  })
  app.use(setHeaders({ isSecure }))
  app.use(refuseByPage())
  app.use(assets)
  app.use(requireSameOrigin({ origin }))
  app.use(readSession({ sessions, isSecure }))
  app.use(readForm())
  app.use(redisplayRejectedForm(runSignIns))
  app.use(runSignIns)
  const savedForms = createSavedForms(database)
  app.use(saveFormOfExpiredSession({ sessions, savedForms }))
  // Require a session first, so that strangers cannot probe which pages exist.
  app.use(requireOperator)
  app.use(requireSecondFactor(options.secondFactor ?? 'optional'))
  app.use(openFormPages)
  app.use(requireRole)
  app.use(recallForms({ savedForms }))
  app.use(redisplayRejectedForm(runPages))
  app.use(reportDuplicateSubmission({ audit: createOperatorAudit(database) }))
  app.use(runPages)
  app.use(() => {
    throw new DrapeError('ROUTE_NOT_FOUND', 'The page does not exist.')
  })
  app.on('error', (error: Error) => log.debug({ err: error }, 'connection error'))
  return app
}

function createSignIns(
  { database, redis, singleSignOn = null, ...options }: DashboardOptions,
  { sessions, isSecure }: { sessions: OperatorSessions; isSecure: boolean },
): BoundPage[] {
  const operators = createOperators(database)
  const audit = createOperatorAudit(database)
  const budgets = {
    address: createRateLimiter({ redis, name: 'sign-in:address', ...TRIES.address }),
    operator: createRateLimiter({ redis, name: 'sign-in:operator', ...TRIES.operator }),
  }
  const { passwords = true } = options
  const provider = singleSignOn?.provider.name ?? null
  const password = signInPages({
    operators,
    sessions,
    audit,
    budgets,
    isSecure,
    provider,
    passwords,
    verifyPassword: options.verifyPassword ?? verifyPassword,
    signIns: createOperatorSignIns(database),
    factors: createSecondFactors(database),
    checkCode: createSecondFactorCheck({ budget: createCodeBudget(redis), now: options.now }),
  })
  if (singleSignOn === null) return password
  const budget = createRateLimiter({ redis, name: 'sign-on:address', ...TRIES.address })
  return [
    ...password,
    ...singleSignOnPages({ ...singleSignOn, passwords, operators, sessions, audit, budget, isSecure }),
  ]
}

function createCodeBudget(redis: Redis) {
  return createRateLimiter({ redis, name: 'second-factor', ...TRIES.code })
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
  return [
    ...overviewPages({ usage, redis, backlog: createBacklog(database), pools: createPoolRegistry(redis) }),
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
    ...of('storefront', () => leadPages({ leads: createLeads(database), shops, audit })),
    ...of('trust', () => [
      ...removalPages({
        storage,
        accounts,
        audit,
        removals: createRemovals(database),
        candidates: createRemovalCandidates(database),
      }),
      ...blockPages({ audit, blocks: createSafetyBlocks(database) }),
      ...reviewPages({ audit, reviews: createSafetyReviews(database) }),
    ]),
    ...webhookPages({ webhooks, accounts, audit, rules: endpointRules }),
    ...auditPages({ audit, accounts }),
    ...operatorPages({ audit, passwords, operators: createOperators(database) }),
    ...secondFactorPages({
      audit,
      policy: secondFactor,
      issuer: options.issuer ?? 'Drape',
      factors: createSecondFactors(database),
      check: createSecondFactorCheck({ budget: createCodeBudget(redis), now: options.now }),
    }),
  ]
}

const assets: DashboardMiddleware = async function assets(ctx, next) {
  const asset = ctx.method === 'GET' || ctx.method === 'HEAD' ? ASSETS.get(ctx.path) : undefined
  if (asset === undefined) {
    await next()
    return
  }
  ctx.type = asset.type
  ctx.set('Cache-Control', 'no-cache')
  ctx.body = asset.body
}
