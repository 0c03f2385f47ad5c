import { DrapeError } from '../../shared/contract/errors.ts'
import { Type } from '../../shared/contract/schema.ts'
import {
  createSafetyReviews,
  type ListedReview,
  REVIEW_STATES,
  type Review,
  type SafetyReviews,
} from '../../trust/appeals/safety-reviews.store.ts'
import { REVIEW_DECISIONS } from '../../webhooks/messages.schema.ts'
import type { AccountSearch } from '../forms/account-field.ts'
import { change } from '../forms/change.ts'
import { fieldsReader } from '../forms/form.ts'
import { showPage } from '../html/layout.ts'
import { listPages } from '../html/list.ts'
import type { OperatorAudit } from '../operator-audit.store.ts'
import { pages } from '../page.ts'
import type { DashboardContext } from '../state.ts'
import { presentReview, REVIEW_COLUMNS, REVIEW_WORDS } from './reviews.view.ts'

export interface ReviewPagesOptions {
  readonly reviews: SafetyReviews
  readonly accounts: AccountSearch
  readonly audit: OperatorAudit
}

/** Appeals against refusals by safety checks: allow once, refuse or block. */
export const reviewPages = pages<ReviewPagesOptions>([
  ...listPages<ReviewPagesOptions, ListedReview>({
    path: '/reviews',
    menu: 'Reviews',
    columns: REVIEW_COLUMNS,
    filters: [
      { of: 'state', label: 'State', options: REVIEW_STATES.map((state) => [state, state.toLowerCase()] as const) },
    ],
    open: (_, { reviews, accounts }) => ({ ...REVIEW_WORDS, listing: reviews.listing, accounts }),
  }),
  { route: 'GET /reviews/:id', role: 'support', run: showReview },
  change({
    route: 'POST /reviews/:id/decide',
    role: 'support',
    action: 'review.decide',
    message: 'The decision was saved.',
    find: async (ctx, options: ReviewPagesOptions) => {
      const { edition: version, ...decided } = readDecision(ctx.state.form)
      const { generationId: id, accountId } = await findReview(ctx, options)
      return { id, accountId, decided: { blockDays: null, ...decided, version } }
    },
    run: async (within, { id, decided }) => {
      if (!(await createSafetyReviews(within).decide(id, decided)))
        throw new DrapeError('VALIDATION_FAILED', 'The appeal was changed or decided meanwhile. Read it again.')
      // The answer is for the account and the shopper alone.
      const { decision, blockDays } = decided
      return { decision, ...(decision === 'BLOCKED' && blockDays !== null && { blockDays }) }
    },
  }),
])

async function findReview(ctx: DashboardContext, { reviews }: ReviewPagesOptions): Promise<Review> {
  const found = await reviews.find(ctx.params.id)
  if (found === null) throw new DrapeError('ROUTE_NOT_FOUND', `The review ${ctx.params.id} does not exist.`)
  return found
}

async function showReview(ctx: DashboardContext, options: ReviewPagesOptions): Promise<void> {
  const review = await findReview(ctx, options)
  showPage(ctx, { title: 'Review', body: presentReview(review, ctx.state.forms) })
}

const readDecision = fieldsReader(
  Type.Object({
    edition: Type.Integer({ minimum: 1 }),
    decision: Type.Enum([...REVIEW_DECISIONS]),
    answer: Type.String({ minLength: 3, maxLength: 500 }),
    blockDays: Type.Optional(Type.Integer({ minimum: 1, maximum: 3650 })),
  }),
)
