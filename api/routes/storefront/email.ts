import type { Middleware } from 'koa'
import type { Budget } from '../../limits/budget.ts'
import { parseJsonBody } from '../../middleware/body.ts'
import { DrapeError } from '../../shared/errors.ts'
import { compileInputCheck } from '../../shared/schema.ts'
import type { AppContext, AppState } from '../../state.ts'
import type { LeadOutbox } from '../../stores/lead-outbox.ts'
import { route } from '../route.ts'
import type { BudgetedGuards } from './behind-proxy.ts'
import { EmailAnswer, EmailBody } from './email.schema.ts'
import { requesterOf } from './requester.ts'

export interface EmailParts {
  readonly leadOutbox: Pick<LeadOutbox, 'insert'>
}

export const emailRoutes = [
  route({
    method: 'post',
    path: '/public/collect-email',
    id: 'collectEmail',
    tag: 'Storefront',
    summary: 'Leave an e-mail address with the shop',
    description:
      'The shopper becomes a customer of the shop, or is found among them, and belongs to the segment Widget Leads. This ' +
      'happens after the answer; the address is stored before it. At most 10 a minute for each shopper, 20 for each address of the network and 600 for each shop.',
    access: 'shop',
    body: { json: EmailBody },
    answers: {
      200: {
        description: 'Whether the address was taken; nothing is worth an error to a shopper.',
        schema: EmailAnswer,
      },
    },
    errors: [],
    ownCheck: 'body',
    guards: ({ fromShop, budgets: { perMinute } }: BudgetedGuards) => [
      answerAnyway,
      fromShop,
      limitShopper({
        shopper: perMinute('collect-email', 10),
        address: perMinute('collect-email-address', 20),
        shop: perMinute('collect-email-shop', 600),
      }),
      parseJsonBody(),
    ],
    handler: postEmail,
  }),
]

const checkEmail = compileInputCheck(EmailBody)

async function postEmail(
  ctx: AppContext,
  { leadOutbox }: EmailParts,
  { body }: { readonly body: unknown },
): Promise<EmailAnswer> {
  const { shop, shopperId: externalUserId } = requesterOf(ctx)
  const checked = checkEmail(withoutSpaces(body))
  if (!checked.ok) return { success: false, message: 'The e-mail address is not valid.' }
  // Thanked for what is stored: nothing that happens to this process loses the address.
  const isTaken = await leadOutbox.insert({ shopId: shop.id, externalUserId, ...checked.value })
  return isTaken
    ? { success: true, message: 'Thank you.' }
    : { success: false, message: 'Too many e-mail addresses of the shop await delivery. Try again later.' }
}

/** People and their keyboards leave spaces around it. */
function withoutSpaces(body: unknown): unknown {
  const { email, ...rest } = (body ?? {}) as { email?: unknown }
  return { ...rest, email: typeof email === 'string' ? email.trim() : email }
}

/** Addresses that one shopper, one network address and one shop may leave. */
function limitShopper(budgets: {
  readonly shopper: Budget
  readonly address: Budget
  readonly shop: Budget
}): Middleware<AppState> {
  return async function limit(ctx, next) {
    const { shop, shopperId } = requesterOf(ctx)
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
