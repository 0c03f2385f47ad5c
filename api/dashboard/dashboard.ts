import { readFileSync } from 'node:fs'
import Router from '@koa/router'
import Koa from 'koa'
import { createBudget } from '../budget.ts'
import type { Database } from '../shared/database.ts'
import { DrapeError } from '../shared/errors.ts'
import type { Log } from '../shared/log.ts'
import { createPoolRegistry } from '../shared/pool-registry.ts'
import type { Redis } from '../shared/redis.ts'
import type { ObjectStorage } from '../shared/storage/object.ts'
import { createObjects } from '../shared/stores/objects.ts'
import { createAccounts } from '../stores/accounts.ts'
import { createApiKeys } from '../stores/api-keys.ts'
import { createBacklog } from '../stores/backlog.ts'
import { createGenerationSearches } from '../stores/generation-search.ts'
import { createLedger } from '../stores/ledger.ts'
import { createLogos } from '../stores/logos.ts'
import { createOperatorAudit } from '../stores/operator-audit.ts'
import { createOperatorSessions, type OperatorSessions } from '../stores/operator-sessions.ts'
import { createOperators } from '../stores/operators.ts'
import { createProductSearches } from '../stores/product-search.ts'
import { createShops } from '../stores/shops.ts'
import { createUsage } from '../stores/usage.ts'
import { createWebhooks } from '../stores/webhooks.ts'
import type { EndpointRules } from '../webhooks/endpoint-url.ts'
import { accountPages } from './accounts.ts'
import { auditPages } from './audit.ts'
import { readForm } from './form.ts'
import { generationPages } from './generations.ts'
import { setHeaders } from './headers.ts'
import { keyPages } from './keys.ts'
import { logoPages } from './logo.ts'
import { overviewRoutes } from './overview.ts'
import { verifyPassword } from './password.ts'
import { productPages } from './products.ts'
import { refuseByPage } from './refusals.ts'
import { readSession, refuseStrangers, requireOperator } from './session.ts'
import { shopPages } from './shops.ts'
import { signInRoutes } from './sign-in.ts'
import { type SingleSignOn, singleSignOnRoutes } from './single-sign-on.ts'
import type { DashboardContext, DashboardState } from './state.ts'
import { webhookPages } from './webhooks.ts'

export interface DashboardOptions {
  readonly log: Log
  readonly database: Database
  readonly redis: Redis
  readonly storage: ObjectStorage
  /** Where browsers reach it; null when that is whatever a request was sent to, without TLS. */
  readonly origin: string | null
  /** Reverse proxies before it, each of which adds whom it serves to `X-Forwarded-For`. */
  readonly proxyHops: number
  /** Where webhooks may be sent. */
  readonly endpointRules: EndpointRules
  /** Who else may say who somebody is. */
  readonly singleSignOn?: SingleSignOn | null
  readonly verifyPassword?: typeof verifyPassword
}

/** Tries to sign in: from one address, and for one operator. */
const TRIES = { address: { points: 20, seconds: 600 }, operator: { points: 10, seconds: 600 } } as const

const STYLE = readFileSync(new URL('dashboard.css', import.meta.url))

/** The operators' dashboard as an application of its own, which is never part of the public one. */
export function createDashboard(options: DashboardOptions): Koa<DashboardState> {
  const { log, database, origin, proxyHops } = options
  const isSecure = origin?.startsWith('https:') ?? false
  const app = new Koa<DashboardState>({ proxy: proxyHops > 0, maxIpsCount: proxyHops })
  const sessions = createOperatorSessions(database)
  app.use(async (ctx, next) => {
    Object.assign(ctx.state, { log, operator: null, csrf: '', token: '', form: new URLSearchParams() })
    await next()
    log.info({ method: ctx.method, status: ctx.status, operator: ctx.state.operator?.id }, 'dashboard request')
  })
  app.use(setHeaders({ isSecure }))
  app.use(refuseByPage())
  app.use(styleRoute().routes() as never)
  app.use(refuseStrangers({ origin }))
  app.use(readSession({ sessions, isSecure }))
  app.use(readForm())
  for (const group of createSignIns(options, { sessions, isSecure })) app.use(group.routes() as never)
  // Whoever is not signed in learns nothing of what lies behind, not even what there is.
  app.use(requireOperator)
  for (const group of createPages(options)) app.use(group.routes() as never)
  app.use(() => {
    throw new DrapeError('ROUTE_NOT_FOUND', 'The address leads nowhere.')
  })
  app.on('error', (error: Error) => log.debug({ err: error }, 'connection error'))
  return app
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
  const password = signInRoutes({
    ...{ operators, sessions, audit, budgets, isSecure },
    verifyPassword: options.verifyPassword ?? verifyPassword,
    provider: singleSignOn?.provider.name ?? null,
  })
  if (singleSignOn === null) return [password]
  const budget = createBudget({ redis, name: 'sign-on:address', ...TRIES.address })
  return [password, singleSignOnRoutes({ ...singleSignOn, operators, sessions, audit, budget, isSecure })]
}

function createPages({ database, redis, storage, endpointRules }: DashboardOptions): Router<DashboardState>[] {
  const accounts = createAccounts(database)
  const audit = createOperatorAudit(database)
  const usage = createUsage(database)
  const shops = createShops(database)
  const webhooks = createWebhooks(database)
  return [
    overviewRoutes({ usage, redis, backlog: createBacklog(database), pools: createPoolRegistry(redis) }),
    accountPages({
      ...{ accounts, audit, usage, shops, webhooks },
      keys: createApiKeys(database),
      ledger: createLedger(database),
    }),
    keyPages({ accounts, audit }),
    logoPages({ accounts, audit, storage, logos: createLogos(database), objects: createObjects(database) }),
    shopPages({ shops, audit }),
    generationPages({ searches: createGenerationSearches(database), storage, audit }),
    productPages({ searches: createProductSearches(database) }),
    webhookPages({ webhooks, audit, rules: endpointRules }),
    auditPages({ audit }),
  ]
}

function styleRoute(): Router<DashboardState> {
  const router = new Router<DashboardState>()
  router.get('/dashboard.css', (ctx: DashboardContext) => {
    ctx.type = 'css'
    ctx.set('Cache-Control', 'no-cache')
    ctx.body = STYLE
  })
  return router
}
