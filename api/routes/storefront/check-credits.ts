import Router from '@koa/router'
import type { Middleware } from 'koa'
import { within } from '../../limits/time-limit.ts'
import { HTTP_STATUS } from '../../middleware/errors.ts'
import { DrapeError } from '../../shared/errors.ts'
import type { AppContext, AppState } from '../../state.ts'
import type { CreditCheck } from './check-credits.schema.ts'
import { requesterOf } from './requester.ts'

export interface CheckCreditsOptions {
  readonly guards: readonly Middleware<AppState>[]
  /** Whether a generation of the shop would be accepted now. */
  readonly findAllowed: (shopId: string) => Promise<boolean>
  /** Given every answer that was looked up. */
  readonly keep?: (ctx: AppContext) => void
  readonly now?: () => number
}

const KEPT_SECONDS = 120
const KEPT_SHOPS = 10_000
/** After this the answer is yes. */
const ANSWER_MS = 800

/** GET /public/check-credits */
export function checkCreditsRoutes(options: CheckCreditsOptions): Router<AppState> {
  const router = new Router<AppState>({ prefix: '/public', sensitive: true })
  const isAllowed = remember(options)
  router.get('/check-credits', failOpen, ...(options.guards as never[]), async (ctx: AppContext) => {
    answer(ctx, await isAllowed(requesterOf(ctx).shop.id))
    options.keep?.(ctx)
  })
  return router
}

/** A fault of ours, or a part that does not answer, is no reason for a shop to hide its fitting room. */
const failOpen: Middleware<AppState> = async (ctx, next) => {
  try {
    await within(ANSWER_MS, next())
  } catch (error) {
    if (error instanceof DrapeError && HTTP_STATUS[error.code] < 500) throw error
    ctx.state.log.warn({ err: error }, 'low credits check failed')
    answer(ctx as AppContext, true)
  }
}

function answer(ctx: AppContext, allowed: boolean): void {
  ctx.set('Cache-Control', `private, max-age=${KEPT_SECONDS}`)
  ctx.body = { allowed } satisfies CreditCheck
}

/** Each shop is looked up once in two minutes, and once by all who ask meanwhile. */
function remember({ findAllowed, now = Date.now }: CheckCreditsOptions): (shopId: string) => Promise<boolean> {
  const kept = new Map<string, { allowed: Promise<boolean>; until: number }>()
  return (shopId) => {
    const known = kept.get(shopId)
    if (known && known.until > now()) return known.allowed
    const allowed = findAllowed(shopId)
    const entry = { allowed, until: now() + KEPT_SECONDS * 1000 }
    kept.delete(shopId)
    kept.set(shopId, entry)
    allowed.catch(() => kept.get(shopId) === entry && kept.delete(shopId))
    if (kept.size > KEPT_SHOPS) kept.delete(kept.keys().next().value ?? '')
    return allowed
  }
}
