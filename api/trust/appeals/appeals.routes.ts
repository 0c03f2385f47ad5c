import { findOwn } from '../../generations/generations.routes.ts'
import { reading, writing } from '../../http/guards.ts'
import { route } from '../../http/route.ts'
import type { AppContext } from '../../http/state.ts'
import { DrapeError } from '../../shared/contract/errors.ts'
import type { Generations } from '../../shared/generations/generations.store.ts'
import { Appeal, AppealBody } from './appeals.schema.ts'
import type { Review, SafetyReviews } from './safety-reviews.store.ts'

export interface AppealParts {
  readonly generations: Generations
  readonly reviews: Pick<SafetyReviews, 'appeal' | 'find'>
}

export const appealRoutes = [
  route({
    method: 'get',
    path: '/tryon/v1/generations/{id}/appeal',
    id: 'getAppeal',
    scopes: ['try-on', 'read'],
    tag: 'Generations',
    summary: 'Fetch the appeal of a refusal',
    description:
      'The appeal of the account or of the shopper, and the decision. Poll it at most once per minute, or receive the webhook `review.decided`.',
    parameters: { id: 'The generationId.' },
    answers: { 200: { description: 'The appeal, and the decision.', schema: Appeal } },
    errors: ['GENERATION_NOT_FOUND', 'APPEAL_NOT_FOUND', 'FORBIDDEN'],
    guards: reading,
    handler: getAppeal,
  }),
  route({
    method: 'post',
    path: '/tryon/v1/generations/{id}/appeal',
    id: 'appealGeneration',
    scopes: ['try-on'],
    tag: 'Generations',
    summary: 'Appeal a refusal by a safety check',
    description: `Appeals the refusal of a photo, product image or result by a safety check. An operator decides. Appeals are free of charge. Repeat the
call to read the decision. A call with another \`reason\` replaces the reason of an open appeal of the account, but not of a shopper. An account can have 100 open appeals. A refusal can be appealed for 90 days.`,
    parameters: { id: 'The generationId.' },
    body: { json: AppealBody },
    repeatable: true,
    answers: { 200: { description: 'The appeal, and the decision.', schema: Appeal } },
    errors: ['GENERATION_NOT_FOUND', 'FORBIDDEN', 'VALIDATION_FAILED', 'QUOTA_EXCEEDED'],
    guards: writing,
    handler: postAppeal,
  }),
]

async function getAppeal(
  ctx: AppContext,
  { generations, reviews }: AppealParts,
  { params }: { readonly params: { readonly id: string } },
): Promise<Appeal> {
  const { id } = await findOwn(ctx, generations, params.id)
  const review = await reviews.find(id)
  if (review === null) throw new DrapeError('APPEAL_NOT_FOUND', 'The refusal of this generation has no appeal.')
  return presentReview(review)
}

async function postAppeal(
  ctx: AppContext,
  { generations, reviews }: AppealParts,
  { params, body }: { readonly params: { readonly id: string }; readonly body: AppealBody },
): Promise<Appeal> {
  const { id } = await findOwn(ctx, generations, params.id)
  const review = await reviews.appeal(id, body.reason)
  if (review === null)
    throw new DrapeError('VALIDATION_FAILED', 'No safety check refused the images of this generation.', {
      details: [{ path: 'id', message: 'must name a generation that a safety check refused in the last 90 days' }],
    })
  if (review === 'full')
    throw new DrapeError('QUOTA_EXCEEDED', 'The account has 100 appeals without a decision. Wait for decisions.')
  return presentReview(review)
}

function presentReview({ generationId, state, reason, byShopper, answer, createdAt, decidedAt }: Review): Appeal {
  return {
    generationId,
    state,
    reason,
    byShopper,
    answer,
    createdAt: createdAt.toISOString(),
    decidedAt: decidedAt?.toISOString() ?? null,
  }
}
