import Router from '@koa/router'
import type { Middleware } from 'koa'
import type { Budget } from '../../budget.ts'
import type { LeadKeeper } from '../../lead-keeper.ts'
import { parseJsonBody } from '../../middleware/body.ts'
import { DrapeError } from '../../shared/errors.ts'
import { compileCheck } from '../../shared/schema.ts'
import { shopperId } from '../../shopper.ts'
import type { AppContext, AppState } from '../../state.ts'
import { EmailBody } from './email.schema.ts'

export interface EmailOptions {
  /** What proves a request. */
  readonly proxy: Middleware<AppState>
  /** Of a shopper. */
  readonly budget: Budget
  readonly leads: Pick<LeadKeeper, 'keep'>
}

/** POST /public/collect-email: answers 200 to every shopper, whatever goes wrong. */
export function emailRoutes({ proxy, budget, leads }: EmailOptions): Router<AppState> {
  const router = new Router<AppState>()
  const guards = [answerAnyway, proxy, limitShopper(budget), parseJsonBody()] as never[]
  router.post('/public/collect-email', ...guards, (ctx: AppContext) => postEmail(ctx, leads))
  return router
}

const checkEmail = compileCheck(EmailBody)

function postEmail(ctx: AppContext, leads: EmailOptions['leads']): void {
  const { shop, body } = ctx.state
  const checked = checkEmail(withoutSpaces(body))
  if (!checked.ok || shop === null) {
    ctx.body = { success: false, message: 'That is not an e-mail address.' }
    return
  }
  leads.keep(shop, checked.value)
  ctx.body = { success: true, message: 'Thank you.' }
}

/** People and their keyboards leave spaces around it. */
function withoutSpaces(body: unknown): unknown {
  const { email, ...rest } = (body ?? {}) as { email?: unknown }
  return { ...rest, email: typeof email === 'string' ? email.trim() : email }
}

function limitShopper(budget: Budget): Middleware<AppState> {
  return async function limit(ctx, next) {
    const { shop, shopper } = ctx.state
    const { allowed, resetSeconds } = await budget(shopperId(shop?.id ?? '', shopper))
    if (allowed) return next()
    ctx.set('Retry-After', String(resetSeconds))
    ctx.body = { success: false, message: 'Too many addresses. Try again later.' }
  }
}

/** Whoever has no shop to send for is told so; everybody else has nothing to be told. */
const answerAnyway: Middleware<AppState> = async (ctx, next) => {
  try {
    await next()
  } catch (error) {
    const isFault = !(error instanceof DrapeError) || error.retryable
    if (error instanceof DrapeError && error.code === 'PROXY_SIGNATURE_INVALID') throw error
    if (isFault) ctx.state.log.warn({ reason: (error as Error).name }, 'an address was not taken')
    ctx.status = 200
    ctx.body = { success: false, message: isFault ? 'Try again later.' : 'That is not an e-mail address.' }
  }
}
