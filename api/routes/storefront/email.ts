import Router from '@koa/router'
import type { Middleware } from 'koa'
import type { Budget } from '../../limits/budget.ts'
import { parseJsonBody } from '../../middleware/body.ts'
import { DrapeError } from '../../shared/errors.ts'
import { compileInputCheck } from '../../shared/schema.ts'
import type { AppContext, AppState } from '../../state.ts'
import type { LeadOutbox } from '../../stores/lead-outbox.ts'
import { EmailBody } from './email.schema.ts'
import { requesterOf } from './requester.ts'

export interface EmailOptions {
  /** What proves a request. */
  readonly proxy: Middleware<AppState>
  /** Addresses that one shopper, one network address and one shop may leave. */
  readonly budgets: { readonly shopper: Budget; readonly address: Budget; readonly shop: Budget }
  readonly outbox: Pick<LeadOutbox, 'insert'>
}

/** POST /public/collect-email: answers 200 to every shopper, whatever goes wrong. */
export function emailRoutes({ proxy, budgets, outbox }: EmailOptions): Router<AppState> {
  const router = new Router<AppState>({ sensitive: true })
  const guards = [answerAnyway, proxy, limitShopper(budgets), parseJsonBody()] as never[]
  router.post('/public/collect-email', ...guards, (ctx: AppContext) => postEmail(ctx, outbox))
  return router
}

const checkEmail = compileInputCheck(EmailBody)

async function postEmail(ctx: AppContext, outbox: EmailOptions['outbox']): Promise<void> {
  const { shop, shopperId: externalUserId } = requesterOf(ctx)
  const checked = checkEmail(withoutSpaces(ctx.state.body))
  if (!checked.ok) {
    ctx.body = { success: false, message: 'The e-mail address is not valid.' }
    return
  }
  // Thanked for what is stored: nothing that happens to this process loses the address.
  const isTaken = await outbox.insert({ shopId: shop.id, externalUserId, ...checked.value })
  ctx.body = isTaken
    ? { success: true, message: 'Thank you.' }
    : { success: false, message: 'Too many e-mail addresses of the shop await delivery. Try again later.' }
}

/** People and their keyboards leave spaces around it. */
function withoutSpaces(body: unknown): unknown {
  const { email, ...rest } = (body ?? {}) as { email?: unknown }
  return { ...rest, email: typeof email === 'string' ? email.trim() : email }
}

function limitShopper(budgets: EmailOptions['budgets']): Middleware<AppState> {
  return async function limit(ctx, next) {
    const { shop, shopperId } = requesterOf(ctx as AppContext)
    const { addressHash, isAddressShared } = ctx.state.shopper
    const own = await Promise.all([
      budgets.shopper(shopperId),
      ...(isAddressShared ? [] : [budgets.address(`${shop.id}:${addressHash}`)]),
    ])
    // What one visitor may not send costs the other visitors of the shop nothing.
    const spent = own.every(({ allowed }) => allowed) ? [await budgets.shop(shop.id)] : own
    if (spent.every(({ allowed }) => allowed)) return next()
    const resetSeconds = Math.max(...spent.filter(({ allowed }) => !allowed).map((one) => one.resetSeconds))
    ctx.set('Retry-After', String(resetSeconds))
    ctx.body = { success: false, message: 'Too many addresses. Try again later.' }
  }
}

/** Only a request without proof of a shop is an error; a shopper sees none. */
const answerAnyway: Middleware<AppState> = async (ctx, next) => {
  try {
    await next()
  } catch (error) {
    const isFault = !(error instanceof DrapeError) || error.retryable
    if (error instanceof DrapeError && error.code === 'PROXY_SIGNATURE_INVALID') throw error
    if (isFault) ctx.state.log.warn({ reason: (error as Error).name }, 'lead rejected by the shop platform')
    ctx.status = 200
    ctx.body = { success: false, message: isFault ? 'Try again later.' : 'The e-mail address is not valid.' }
  }
}
