import { readFileSync } from 'node:fs'
import Koa from 'koa'
import { pageStyle } from '../http/answers/page-style.ts'
import { createRateLimiter } from '../http/limits/rate-limiter.ts'
import { trimForwarded } from '../http/middleware/forwarded-headers.ts'
import { refuseTarget } from '../http/middleware/refuse-target.ts'
import { DrapeError } from '../shared/contract/errors.ts'
import { createCodeBudget, createPages, type DashboardOptions } from './all-pages.ts'
import { readForm } from './forms/form.ts'
import { openFormPages, redisplayRejectedForm } from './forms/redisplay-rejected-form.ts'
import { refuseByPage } from './forms/refusals.ts'
import { reportDuplicateSubmission } from './forms/report-duplicate-submission.ts'
import { setHeaders } from './headers.ts'
import { createOperatorAudit } from './operator-audit.store.ts'
import { type BoundPage, indexPages, mountPages } from './page.ts'
import { createNextSteps } from './pages/next-steps.ts'
import { createOpenWork } from './pages/open-work.store.ts'
import { limitOwners, requireOperator, requireRole, requireSameOrigin } from './sign-in/access.ts'
import { createOperatorSessions, type OperatorSessions } from './sign-in/operator-sessions.store.ts'
import { createOperatorSignIns } from './sign-in/operator-sign-ins.store.ts'
import { createOperators } from './sign-in/operators.store.ts'
import { verifyPassword } from './sign-in/password.ts'
import { requireSecondFactor } from './sign-in/required-second-factor.ts'
import { createSecondFactors } from './sign-in/second-factors.store.ts'
import { readSession } from './sign-in/session-cookie.ts'
import { ATTEMPTS, signInPages } from './sign-in/sign-in.ts'
import { singleSignOnPages } from './sign-in/single-sign-on.ts'
import { createSecondFactorCheck } from './sign-in/verify-second-factor.ts'
import type { DashboardMiddleware, DashboardState } from './state.ts'

const ASSETS = new Map([
  [
    '/dashboard.css',
    { type: 'css', body: pageStyle(readFileSync(new URL('browser/dashboard.css', import.meta.url), 'utf8')) },
  ],
  ['/dashboard.js', { type: 'js', body: readFileSync(new URL('browser/dashboard.js', import.meta.url)) }],
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
      openWork: new Map(),
      token: '',
      form: new URLSearchParams(),
    })
    await next()
    log.info({ method: ctx.method, status: ctx.status, operator: ctx.state.operator?.id }, 'dashboard request')
  })
  app.use(setHeaders({ isSecure }))
  app.use(refuseByPage())
  app.use(refuseTarget)
  app.use(assets)
  app.use(requireSameOrigin({ origin }))
  app.use(readSession({ sessions, isSecure }))
  app.use(readForm())
  app.use(redisplayRejectedForm(runSignIns))
  app.use(runSignIns)
  // Require a session first, so that strangers cannot probe which pages exist.
  app.use(requireOperator)
  app.use(requireSecondFactor(options.secondFactor ?? 'optional'))
  app.use(openFormPages)
  app.use(requireRole)
  app.use(limitOwners(createRateLimiter({ redis: options.redis, name: 'forms', points: 600, seconds: 600 })))
  const countOpenWork = createOpenWork(database)
  app.use(async (ctx, next) => {
    // Of all accounts.
    if (ctx.state.operator?.accountId === null) ctx.state.openWork = await countOpenWork()
    await next()
  })
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
    address: createRateLimiter({ redis, name: 'sign-in:address', ...ATTEMPTS.address }),
    operator: createRateLimiter({ redis, name: 'sign-in:operator', ...ATTEMPTS.operator }),
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
  const budget = createRateLimiter({ redis, name: 'sign-on:address', ...ATTEMPTS.address })
  return [
    ...password,
    ...singleSignOnPages({ ...singleSignOn, passwords, operators, sessions, audit, budget, isSecure }),
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
