import { DrapeError } from '../../shared/errors.ts'
import type { Generations } from '../../shared/stores/generations.ts'
import type { AppContext } from '../../state.ts'
import type { SafetyReviews } from '../../stores/safety-reviews.ts'
import { route } from '../route.ts'
import { Appeal, AppealBody } from './appeals.schema.ts'
import { findOwn } from './generations.ts'
import { writing } from './guards.ts'

export interface AppealParts {
  readonly generations: Generations
  readonly reviews: Pick<SafetyReviews, 'appeal'>
}

export const appealRoutes = [
  route({
    method: 'post',
    path: '/tryon/v1/generations/{id}/appeal',
    id: 'appealGeneration',
    scopes: ['try-on'],
    tag: 'Generations',
    summary: 'Appeal a refusal by a safety check',
    description: `For a generation that failed because a safety check refused its photo, its product image or its result. An operator decides. Free of charge. The
same call again returns the decision; with another \`reason\` it changes an open appeal of the account. An appeal of the shopper stays as it is. An account can have 100 open appeals. A refusal can be appealed for 90 days.`,
    parameters: { id: 'The generationId.' },
    body: { json: AppealBody },
    repeatable: true,
    answers: { 200: { description: 'The appeal, and the decision.', schema: Appeal } },
    errors: ['GENERATION_NOT_FOUND', 'FORBIDDEN', 'VALIDATION_FAILED', 'QUOTA_EXCEEDED'],
    guards: writing,
    handler: postAppeal,
  }),
]

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
  const { generationId, state, reason, answer, createdAt, decidedAt } = review
  return {
    ...{ generationId, state, reason, answer },
    createdAt: createdAt.toISOString(),
    decidedAt: decidedAt?.toISOString() ?? null,
  }
}
