import { readFileSync } from 'node:fs'
import Router from '@koa/router'
import Koa from 'koa'
import { createAccounts } from '../accounts/accounts.store.ts'
import { createApiKeys } from '../accounts/api-keys.store.ts'
import { createLedger } from '../accounts/ledger.store.ts'
import { createUsage } from '../accounts/usage.store.ts'
import { createConsents } from '../consents/consents.store.ts'
import { createBacklog } from '../generations/backlog.store.ts'
import { createGenerationSearches } from '../generations/generation-search.store.ts'
import { pageStyle } from '../http/answers/page-style.ts'
import { createBudget } from '../http/limits/budget.ts'
import { trimForwarded } from '../http/middleware/forwarded-headers.ts'
import { createRequestLog } from '../http/request-log.store.ts'
import { createProductSearches } from '../products/product-search.store.ts'
import { DrapeError } from '../shared/contract/errors.ts'
import type { Database } from '../shared/database/database.ts'
import { createPoolRegistry } from '../shared/engines/pool-registry.ts'
import { type Announce, createGenerations } from '../shared/generations/generations.store.ts'
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
import { logoPages } from './logo.ts'
import { createOperatorAudit } from './operator-audit.store.ts'
import { createOperatorSessions, type OperatorSessions } from './operator-sessions.store.ts'
import { createOperatorSignIns } from './operator-sign-ins.store.ts'
import { createOperators } from './operators.store.ts'
import { operatorPages } from './operators.ts'
import { overviewRoutes } from './overview.ts'
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
import { signInRoutes } from './sign-in.ts'
import { type SingleSignOn, singleSignOnRoutes } from './single-sign-on.ts'
import type { DashboardContext, DashboardMiddleware, DashboardState } from './state.ts'
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
  /** Publishes the end of a generation. */
  readonly announce?: Announce
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

const STYLE = pageStyle(readFileSync(new URL('dashboard.css', import.meta.url), 'utf8'))
const SCRIPT = readFileSync(new URL('browser/copy.js', import.meta.url))

/** The dashboard for operators, a separate application that is never part of the public API. */
export function createDashboard(options: DashboardOptions): Koa<DashboardState> {
  const { log, database, origin, proxyHops } = options
  const isSecure = origin?.startsWith('https:') ?? false
  const app = new Koa<DashboardState>({ proxy: proxyHops > 0, maxIpsCount: proxyHops })
  app.use(trimForwarded)
  const sessions = createOperatorSessions(database)
  app.use(async (ctx, next) => {
    Object.assign(ctx.state, {
      log,
      operator: null,
      formKey: null,
      kept: null,
      forms: {
        issue: () => null,
        kept: (action: string) => (ctx.state.kept?.action === action ? ctx.state.kept : null),
      },
      formId: null,
      token: '',
      form: new URLSearchParams(),
    })
    await next()
    log.info({ method: ctx.method, status: ctx.status, operator: ctx.state.operator?.id }, 'dashboard request')
  })
  app.use(setHeaders({ isSecure }))
  app.use(refuseByPage())
  app.use(assetRoutes().routes())
  app.use(requireSameOrigin({ origin }))
  app.use(readSession({ sessions, isSecure }))
  app.use(readForm())
  const signIns = createSignIns(options, { sessions, isSecure })
  app.use(redisplayRejectedForm(inTurn(signIns)))
  for (const group of signIns) app.use(group.routes())
  const savedForms = createSavedForms(database)
  app.use(saveFormOfExpiredSession({ sessions, savedForms }))
  // Require a session first, so that strangers cannot probe which pages exist.
  app.use(requireOperator)
  app.use(requireSecondFactor(options.secondFactor ?? 'optional'))
  app.use(openFormPages)
  app.use(requireRole)
  app.use(recallForms({ savedForms }))
  const pages = createPages(options)
  app.use(redisplayRejectedForm(inTurn(pages)))
  app.use(reportDuplicateSubmission({ audit: createOperatorAudit(database) }))
  for (const group of pages) app.use(group.routes())
  app.use(() => {
    throw new DrapeError('ROUTE_NOT_FOUND', 'The page does not exist.')
  })
  app.on('error', (error: Error) => log.debug({ err: error }, 'connection error'))
  return app
}

/** Combines the routers into one middleware. */
function inTurn(routers: readonly Router<DashboardState>[]): DashboardMiddleware {
  const all = routers.map((router) => router.routes() as unknown as DashboardMiddleware)
  return (ctx, next) => all.reduceRight<() => Promise<unknown>>((rest, routes) => () => routes(ctx, rest), next)()
}

function createSignIns(
  { database, redis, singleSignOn = null, ...options }: DashboardOptions,
  { sessions, isSecure }: { sessions: OperatorSessions; isSecure: boolean },
): Router<DashboardState>[] {
  const operators = createOperators(database)
  const audit = createOperatorAudit(database)
  const budgets = {
    address: createBudget({ redis, name: 'sign-in:address', ...TRIES.address }),
    operator: createBudget({ redis, name: 'sign-in:operator', ...TRIES.operator }),
  }
  const { passwords = true } = options
  const provider = singleSignOn?.provider.name ?? null
  const password = signInRoutes({
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
  if (singleSignOn === null) return [password]
  const budget = createBudget({ redis, name: 'sign-on:address', ...TRIES.address })
  return [password, singleSignOnRoutes({ ...singleSignOn, passwords, operators, sessions, audit, budget, isSecure })]
}

function createCodeBudget(redis: Redis) {
  return createBudget({ redis, name: 'second-factor', ...TRIES.code })
}

function createPages(options: DashboardOptions): Router<DashboardState>[] {
  const { database, redis, storage, engines, endpointRules, passwords = true, secondFactor = 'optional' } = options
  const accounts = createAccounts(database)
  const audit = createOperatorAudit(database)
  const usage = createUsage(database)
  const shops = createShops(database)
  const webhooks = createWebhooks(database)
  return [
    overviewRoutes({ usage, redis, backlog: createBacklog(database), pools: createPoolRegistry(redis) }),
    accountPages({
      accounts,
      audit,
      usage,
      shops,
      webhooks,
      engines,
      keys: createApiKeys(database),
      ledger: createLedger(database),
    }),
    keyPages({ accounts, audit }),
    requestPages({ accounts, requestLog: createRequestLog(database), keys: createApiKeys(database) }),
    logoPages({ accounts, audit, storage, objects: createObjects(database) }),
    shopPages({
      shops,
      accounts,
      audit,
      engines,
      visitors: createVisitorAddresses(database),
      consents: createConsents(database),
      listRefused: (shop) => listRefusedRequests(redis, shop),
      isPlainAllowed: createNamedRule(endpointRules.allowCidrs),
    }),
    policyPages({ shops, audit }),
    analyticsPages({ shops, analytics: createEventAnalytics(database) }),
    generationPages({
      storage,
      accounts,
      audit,
      searches: createGenerationSearches(database),
      generations: createGenerations(database),
      announce: options.announce ?? (() => {}),
    }),
    productPages({ accounts, searches: createProductSearches(database) }),
    leadPages({ leads: createLeads(database), shops, audit }),
    removalPages({
      storage,
      accounts,
      audit,
      removals: createRemovals(database),
      candidates: createRemovalCandidates(database),
    }),
    blockPages({ audit, blocks: createSafetyBlocks(database) }),
    reviewPages({ audit, reviews: createSafetyReviews(database) }),
    webhookPages({ webhooks, accounts, audit, rules: endpointRules }),
    auditPages({ audit, accounts }),
    operatorPages({ audit, passwords, operators: createOperators(database) }),
    secondFactorPages({
      audit,
      policy: secondFactor,
      issuer: options.issuer ?? 'Drape',
      factors: createSecondFactors(database),
      check: createSecondFactorCheck({ budget: createCodeBudget(redis), now: options.now }),
    }),
  ]
}

function assetRoutes(): Router<DashboardState> {
  const router = new Router<DashboardState>({ sensitive: true, strict: true })
  router.get('/dashboard.css', (ctx: DashboardContext) => {
    ctx.type = 'css'
    ctx.set('Cache-Control', 'no-cache')
    ctx.body = STYLE
  })
  router.get('/dashboard.js', (ctx: DashboardContext) => {
    ctx.type = 'js'
    ctx.set('Cache-Control', 'no-cache')
    ctx.body = SCRIPT
  })
  return router
}
