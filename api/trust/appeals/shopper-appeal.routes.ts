import type { Middleware } from 'koa'
import { pageHeaders } from '../../http/answers/public-page.ts'
import { refuseByPage, wantsPage } from '../../http/middleware/refuse-by-page.ts'
import { route } from '../../http/route.ts'
import type { Translated } from '../../http/route-body.ts'
import type { AppContext, AppState } from '../../http/state.ts'
import { DrapeError } from '../../shared/contract/errors.ts'
import type { Budgets } from '../../shops/limit-public-routes.ts'
import { chooseLanguage, pageLanguages } from '../../shops/page-language.ts'
import { describeBudget } from '../../shops/public-rate-limits.ts'
import { readAppealReference } from './appeal-reference.ts'
import type { Refusal, Review, SafetyReviews } from './safety-reviews.store.ts'
import { AppealFields, AppealQuery, ShopperAppeal } from './shopper-appeal.schema.ts'
import { APPEAL_TEXTS, presentAppeal, presentAppealRefusal } from './shopper-appeal.view.ts'

export interface AppealPageParts {
  readonly reviews: Pick<SafetyReviews, 'appeal' | 'find' | 'findRefusal'>
  readonly budgets: Budgets
  readonly signingSecret: string
  readonly serviceName: string
}

interface AppealGuards extends Pick<AppealPageParts, 'budgets' | 'serviceName'> {
  /** Parses the form. */
  readonly parseAppeal: Middleware<AppState>
}

const reading = ({ budgets, serviceName }: AppealGuards) => [
  pageHeaders({ vary: 'Accept, Accept-Language', cacheControl: 'no-store', formAction: "'self'" }),
  refuseByPage({
    present: (code, ctx) => presentAppealRefusal({ code, serviceName, language: languageOf(ctx) }),
  }),
  budgets.limit('appeal-page'),
]

const shared = {
  path: '/appeal/{reference}',
  tag: 'Storefront',
  access: 'open',
  parameters: { reference: 'The last part of `appealUrl`. It works for 180 days after the refusal.' },
  query: AppealQuery,
} as const

/** Public routes for shoppers whose try-on a safety check refused. */
export const appealPageRoutes = [
  route({
    ...shared,
    method: 'get',
    id: 'getShopperAppeal',
    summary: 'Get a refusal and its review',
    description: `The page behind \`appealUrl\` of a refused try-on: why it was refused, a form that asks for a review, and later the decision. Shows no
image. JSON unless \`text/html\` is preferred; then a page in the language of \`lang\`, else of \`Accept-Language\`. ${describeBudget('appeal-page')}`,
    pages: [200, 400, 404, 429],
    answers: { 200: { description: 'The refusal, and the state of its review.', schema: ShopperAppeal } },
    errors: ['VALIDATION_FAILED', 'ROUTE_NOT_FOUND', 'RATE_LIMIT_EXCEEDED', 'SERVICE_UNAVAILABLE'],
    guards: reading,
    handler: getAppeal,
  }),
  route({
    ...shared,
    method: 'post',
    id: 'requestShopperAppeal',
    summary: 'Ask for a review of a refusal',
    description: `Without an account: the reference is enough. A refusal has one review; another call changes nothing and returns its state. For new
reviews: ${describeBudget('appeal')} At most 100 reviews of shoppers of a shop wait for a decision.`,
    pages: [200, 400, 404, 429],
    body: { form: AppealFields, files: {}, translate: withPlainLines },
    answers: { 200: { description: 'The refusal, and the state of its review.', schema: ShopperAppeal } },
    errors: ['VALIDATION_FAILED', 'FILE_TOO_LARGE', 'ROUTE_NOT_FOUND', 'RATE_LIMIT_EXCEEDED', 'SERVICE_UNAVAILABLE'],
    guards: (guards: AppealGuards) => [...reading(guards), guards.parseAppeal],
    handler: postAppeal,
  }),
]

interface OneRefusal {
  readonly params: { readonly reference: string }
}

async function getAppeal(
  ctx: AppContext,
  parts: AppealPageParts,
  { params: { reference } }: OneRefusal,
): Promise<ShopperAppeal | undefined> {
  return answer(ctx, { reference, ...(await findAppeal(reference, parts)) }, parts)
}

async function postAppeal(
  ctx: AppContext,
  parts: AppealPageParts,
  { params: { reference }, body: { reason } }: OneRefusal & { readonly body: AppealFields },
): Promise<ShopperAppeal | undefined> {
  const { reviews, budgets } = parts
  const { id, refusal, review } = await findAppeal(reference, parts)
  if (review !== null) return answer(ctx, { reference, refusal, review }, parts)
  // Only what is stored counts: repeated calls with one reference must not shut out others of the network.
  await budgets.spend(ctx, 'appeal')
  const stored = await reviews.appeal(id, reason, { byShopper: true })
  if (stored === null) throw unknownReference()
  if (stored === 'full') {
    ctx.set('Retry-After', '3600')
    throw new DrapeError('RATE_LIMIT_EXCEEDED', 'Too many reviews of this shop wait for a decision. Try again later.')
  }
  return answer(ctx, { reference, refusal, review: stored }, parts)
}

interface FoundAppeal {
  readonly refusal: Refusal
  readonly review: Review | null
}

/** Throws the same error for a reference that was never created, has expired, or whose refusal is deleted. */
async function findAppeal(
  reference: string,
  { reviews, signingSecret: secret }: AppealPageParts,
): Promise<FoundAppeal & { readonly id: string }> {
  const id = readAppealReference(reference, { secret, now: Date.now() })
  const refusal = id === null ? null : await reviews.findRefusal(id)
  if (id === null || refusal === null) throw unknownReference()
  return { id, refusal, review: await reviews.find(id) }
}

function unknownReference(): DrapeError {
  return new DrapeError('ROUTE_NOT_FOUND', 'No refusal has this reference, or the reference has expired.')
}

function answer(
  ctx: AppContext,
  { reference, refusal, review }: FoundAppeal & { readonly reference: string },
  { serviceName }: AppealPageParts,
): ShopperAppeal | undefined {
  // The account reads the answers to its own appeals through its key.
  const own = review?.byShopper ? review : null
  const appeal = {
    code: refusal.code,
    image: refusal.image ?? ('result' as const),
    state: review?.state ?? null,
    reason: own?.reason ?? null,
    answer: own?.answer ?? null,
    createdAt: review?.createdAt.toISOString() ?? null,
    decidedAt: review?.decidedAt?.toISOString() ?? null,
  } as ShopperAppeal
  if (!wantsPage(ctx)) return appeal
  ctx.type = 'html'
  ctx.body = presentAppeal({ appeal, reference, serviceName, language: languageOf(ctx) })
  return undefined
}

function languageOf(ctx: AppContext): string {
  return chooseLanguage(pageLanguages(ctx), APPEAL_TEXTS)
}

/** Browsers send each line break of a text field as two characters, but count one. */
function withPlainLines(fields: Readonly<Record<string, string>>): Translated {
  const body = Object.fromEntries(Object.entries(fields).map(([name, text]) => [name, text.replaceAll('\r\n', '\n')]))
  return { body, isDeprecated: false, warnings: [], written: (path) => path }
}
