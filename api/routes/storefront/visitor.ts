import Router from '@koa/router'
import type { Middleware } from 'koa'
import { DrapeError } from '../../shared/errors.ts'
import { compileParser } from '../../shared/schema.ts'
import type { SigningSecret } from '../../shared/signing.ts'
import type { CaptchaProvider } from '../../shops/captcha.ts'
import { issueVisitorToken } from '../../shops/visitor-token.ts'
import type { AppContext, AppState } from '../../state.ts'
import { requesterOf } from './requester.ts'
import { type Visitor, VisitorBody } from './visitor.schema.ts'

export interface VisitorOptions {
  readonly guards: readonly Middleware<AppState>[]
  readonly signingSecret: SigningSecret
  /** Null: every visitor gets a token. */
  readonly captcha: CaptchaProvider | null
}

/** POST /public/visitor */
export function visitorRoutes(options: VisitorOptions): Router<AppState> {
  const router = new Router<AppState>({ prefix: '/public', sensitive: true })
  router.post('/visitor', ...(options.guards as never[]), (ctx: AppContext) => postVisitor(ctx, options))
  return router
}

const parseVisitor = compileParser(VisitorBody)

async function postVisitor(ctx: AppContext, { signingSecret: secret, captcha }: VisitorOptions): Promise<void> {
  const { shop } = requesterOf(ctx)
  const { captcha: response } = parseVisitor(ctx.state.body ?? {})
  if (captcha !== null && (response === undefined || !(await captcha.verify(response, ctx.state.shopper.address)))) {
    throw new DrapeError('CAPTCHA_REQUIRED', 'Answer the challenge of the CAPTCHA provider and send its response.')
  }
  const { visitorToken, expiresAt } = issueVisitorToken({ shopId: shop.id, secret, now: Date.now() })
  ctx.set('Cache-Control', 'no-store')
  ctx.status = 201
  ctx.body = { visitorToken, expiresAt: expiresAt.toISOString() } satisfies Visitor
}
