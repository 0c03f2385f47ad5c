import { route } from '../../http/route.ts'
import type { AppContext } from '../../http/state.ts'
import { DrapeError } from '../../shared/contract/errors.ts'
import type { SigningSecret } from '../../shared/signing/signing.ts'
import type { ParsingGuards } from '../../shops/behind-proxy.ts'
import { describeBudget } from '../../shops/public-rate-limits.ts'
import { requesterOf } from '../../shops/requester.ts'
import { issueVisitorToken } from '../../shops/visitor-token.ts'
import type { CaptchaProvider } from '../shops/captcha.ts'
import { Visitor, VisitorBody } from './visitor.schema.ts'

export interface VisitorParts {
  readonly signingSecret: SigningSecret
  /** Null: every visitor gets a token. */
  readonly captcha: CaptchaProvider | null
}

export const visitorRoutes = [
  route({
    method: 'post',
    path: '/public/visitor',
    id: 'createVisitor',
    tag: 'Storefront',
    summary: 'Get a token for a visitor',
    description: `Creates an ID for a new visitor of the shop. The browser stores the token and sends it in \`X-Service-Visitor-Token\`: the weekly
limit applies per token, and photos belong to a token. Optional: calls without a token are counted by the anonymous ID.
${describeBudget('visitor-token')}`,
    access: 'shop',
    body: { json: VisitorBody, mayBeEmpty: true },
    answers: { 201: { description: 'A new visitor.', schema: Visitor } },
    errors: ['VALIDATION_FAILED', 'CAPTCHA_REQUIRED', 'RATE_LIMIT_EXCEEDED', 'SERVICE_UNAVAILABLE'],
    guards: ({ fromShop, budgets, parse }: ParsingGuards) => [fromShop, budgets.limit('visitor-token'), parse],
    handler: postVisitor,
  }),
]

async function postVisitor(
  ctx: AppContext,
  { signingSecret: secret, captcha }: VisitorParts,
  { body: { captcha: response } }: { readonly body: VisitorBody },
): Promise<Visitor> {
  const { shop } = requesterOf(ctx)
  if (captcha !== null && (response === undefined || !(await captcha.verify(response, ctx.state.shopper.address)))) {
    throw new DrapeError('CAPTCHA_REQUIRED', 'Solve the challenge of the CAPTCHA provider and send its response.')
  }
  const { visitorToken, expiresAt } = issueVisitorToken({ shopId: shop.id, secret, now: Date.now() })
  return { visitorToken, expiresAt: expiresAt.toISOString() }
}
