import type { Middleware } from 'koa'
import { within } from '../../http/limits/time-limit.ts'
import { route } from '../../http/route.ts'
import type { AppContext, AppState } from '../../http/state.ts'
import { ERRORS } from '../../shared/contract/error-codes.ts'
import { DrapeError } from '../../shared/contract/errors.ts'
import { cacheBriefly } from '../../shared/process/brief-cache.ts'
import type { BudgetedGuards } from '../../shops/behind-proxy.ts'
import { describeBudget } from '../../shops/public-rate-limits.ts'
import { type Requester, requesterOf } from '../../shops/requester.ts'
import { isHeldOut } from '../events/holdout.ts'
import { CreditCheck } from './check-credits.schema.ts'

export interface CheckCreditsParts {
  /** Whether a generation of the shop would be accepted now. */
  readonly isAllowed: (shopId: string) => Promise<boolean>
  /** Whether the shop's default engine renders outfits. */
  readonly offersOutfits: (of: Requester) => Promise<boolean>
  /** Caches the response. */
  readonly keepAnswer: (ctx: AppContext) => void
}

const KEPT_SECONDS = 120
/** Time limit, after which the response is true. */
const ANSWER_MS = 800

export const checkCreditsRoutes = [
  route({
    method: 'get',
    path: '/public/check-credits',
    id: 'checkCredits',
    tag: 'Storefront',
    summary: 'Whether the shop can offer try-ons now',
    description: `False when the account has no credits or is not active, the plan does not allow generations, or a monthly quota is
used up. True when the check itself fails: fitting-room makes the final decision. ${describeBudget('check-credits')}`,
    access: 'shop',
    answers: { 200: { description: 'For 2 minutes.', schema: CreditCheck } },
    errors: ['RATE_LIMIT_EXCEEDED'],
    guards: ({ fromShop, budgets }: BudgetedGuards) => [failOpen, fromShop, budgets.limit('check-credits')],
    handler: getCredits,
  }),
]

async function getCredits(
  ctx: AppContext,
  { isAllowed, offersOutfits, keepAnswer }: CheckCreditsParts,
): Promise<CreditCheck> {
  const requester = requesterOf(ctx)
  const { shop } = requester
  const [allowed, outfits] = await Promise.all([isAllowed(shop.id), offersOutfits(requester)])
  const check = answer(ctx, { allowed, ...(allowed && outfits && { outfits }) })
  // With a holdout, guests with the same URL get different responses.
  if (!shop.holdoutPercent) keepAnswer(ctx)
  return check
}

/** An internal error or timeout must not hide a shop's fitting room. */
const failOpen: Middleware<AppState> = async (ctx, next) => {
  try {
    await within(ANSWER_MS, next())
  } catch (error) {
    if (error instanceof DrapeError && ERRORS[error.code].status < 500) throw error
    ctx.state.log.warn({ err: error }, 'low credits check failed')
    answer(ctx, { allowed: true })
  }
}

function answer(ctx: AppContext, checked: Pick<CreditCheck, 'allowed' | 'outfits'>): CreditCheck {
  ctx.set('Cache-Control', `private, max-age=${KEPT_SECONDS}`)
  const holdout = findHoldout(ctx)
  const check = { ...checked, ...(holdout !== null && { holdout }) }
  ctx.body = check
  return check
}

/** Null without a holdout, for a visitor without an ID, and before the shop is known. */
function findHoldout(ctx: AppContext): boolean | null {
  const { shop, shopper }: Partial<AppState> = ctx.state
  if (!shop?.holdoutPercent) return null
  ctx.vary('X-Service-Anonymous-Id')
  const id = shopper?.anonymousId ?? null
  return id === null ? null : isHeldOut(shop.id, id, shop.holdoutPercent)
}

/** Caches the result of each shop for 2 minutes and shares concurrent lookups. */
export function cacheAllowed(
  findAllowed: (shopId: string) => Promise<boolean>,
  now: () => number = Date.now,
): CheckCreditsParts['isAllowed'] {
  return cacheBriefly(findAllowed, { now, ms: KEPT_SECONDS * 1000 })
}
