import type { Middleware } from 'koa'
import { rememberBriefly } from '../../brief-memory.ts'
import { within } from '../../limits/time-limit.ts'
import { HTTP_STATUS } from '../../middleware/errors.ts'
import { DrapeError } from '../../shared/errors.ts'
import type { AppContext, AppState } from '../../state.ts'
import { route } from '../route.ts'
import type { ProxyGuard } from './behind-proxy.ts'
import { CreditCheck } from './check-credits.schema.ts'
import { requesterOf } from './requester.ts'

export interface CheckCreditsParts {
  /** Whether a generation of the shop would be accepted now. */
  readonly isAllowed: (shopId: string) => Promise<boolean>
  /** Given every answer that was looked up. */
  readonly keepAnswer: (ctx: AppContext) => void
}

const KEPT_SECONDS = 120
/** After this the answer is yes. */
const ANSWER_MS = 800

export const checkCreditsRoutes = [
  route({
    method: 'get',
    path: '/public/check-credits',
    id: 'checkCredits',
    tag: 'Storefront',
    summary: 'Whether the shop can offer try-ons now',
    description: `False when the account has no credits or is not active, the plan does not allow generations, or a monthly quota is
used up. When something on our side is wrong it is true: what counts is said by fitting-room.`,
    access: 'shop',
    answers: { 200: { description: 'For 2 minutes.', schema: CreditCheck } },
    errors: [],
    guards: ({ fromShop }: ProxyGuard) => [failOpen, fromShop],
    handler: getCredits,
  }),
]

async function getCredits(ctx: AppContext, { isAllowed, keepAnswer }: CheckCreditsParts): Promise<CreditCheck> {
  const check = answer(ctx, await isAllowed(requesterOf(ctx).shop.id))
  keepAnswer(ctx)
  return check
}

/** A fault of ours, or a part that does not answer, is no reason for a shop to hide its fitting room. */
const failOpen: Middleware<AppState> = async (ctx, next) => {
  try {
    await within(ANSWER_MS, next())
  } catch (error) {
    if (error instanceof DrapeError && HTTP_STATUS[error.code] < 500) throw error
    ctx.state.log.warn({ err: error }, 'low credits check failed')
    answer(ctx, true)
  }
}

function answer(ctx: AppContext, allowed: boolean): CreditCheck {
  ctx.set('Cache-Control', `private, max-age=${KEPT_SECONDS}`)
  ctx.body = { allowed }
  return { allowed }
}

/** Each shop is looked up once in two minutes, and once by all who ask meanwhile. */
export function rememberAllowed(
  findAllowed: (shopId: string) => Promise<boolean>,
  now: () => number = Date.now,
): CheckCreditsParts['isAllowed'] {
  return rememberBriefly(findAllowed, { now, ms: KEPT_SECONDS * 1000 })
}
