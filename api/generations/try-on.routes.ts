import { writing } from '../http/guards.ts'
import { route } from '../http/route.ts'
import type { AppContext } from '../http/state.ts'
import { translateTryOn } from '../products/legacy.routes.ts'
import { LegacyTryOnBody } from '../products/legacy.schema.ts'
import { DrapeError, type ErrorCode } from '../shared/contract/errors.ts'
import { isTerminal } from '../shared/generations/generation.ts'
import { type AcceptanceParts, acceptTryOn, type SentTryOn } from './accept-try-on.ts'
import type { PresentGeneration } from './generations.view.ts'
import { assertParts } from './try-on.refusals.ts'
import { AcceptedTryOn, AwaitedTryOn, TryOnBody } from './try-on.schema.ts'
import type { GenerationWatch } from './watch.ts'

export interface TryOnParts extends AcceptanceParts {
  readonly watch: GenerationWatch
  readonly present: PresentGeneration
}

/** Maximum wait of a synchronous call for the end of its generation. */
const WAIT_MS = 60_000

/** Errors of calls that accept a generation. */
export const ACCEPTANCE_ERRORS: readonly ErrorCode[] = [
  'FORBIDDEN',
  'VALIDATION_FAILED',
  'PRODUCT_IMAGES_REQUIRED',
  'CUSTOMER_IMAGE_REQUIRED',
  'MULTIPART_FILE_NOT_FOUND',
  'INVALID_IMAGE_INPUT',
  'INVALID_IMAGE',
  'UNSUPPORTED_IMAGE_TYPE',
  'CUSTOMER_IMAGE_FETCH_FAILED',
  'MISSING_REQUIRED_CLASSIFICATION',
  'FILE_TOO_LARGE',
  'INSUFFICIENT_CREDITS',
  'QUOTA_EXCEEDED',
  'PRODUCT_NOT_FOUND',
  'CONSENT_OUTDATED',
  'CONSENT_POLICY_UNKNOWN',
  'RESERVED_EXTERNAL_ID',
]

const id = '$response.body#/generationId'
/** What a caller can do next with the generation. */
export const NEXT = { getGeneration: { id }, followGeneration: { id }, cancelGeneration: { id } }

const shared = {
  method: 'post',
  tag: 'Try-on',
  body: { json: TryOnBody, legacy: LegacyTryOnBody, translate: translateTryOn, refuse: assertParts },
  repeatable: true,
} as const

export const tryOnRoutes = [
  route({
    ...shared,
    path: '/tryon/v1/try-on',
    id: 'createTryOn',
    scopes: ['try-on'],
    summary: 'Create an image of a person wearing a product',
    description: `The product is a reference to a stored product (only \`externalId\`), an upsert (\`externalId\` and other fields),
which creates or updates the product, or a one-shot product (no \`externalId\`). A product created by this call expires 15 days after
its last use, a one-shot product 7 days after its last use. An upsert with a restricted key also needs the scope \`products\`.`,
    answers: { 201: { description: 'Accepted. The credits are reserved.', schema: AcceptedTryOn, next: NEXT } },
    errors: ACCEPTANCE_ERRORS,
    guards: writing,
    handler: postTryOn,
  }),
  route({
    ...shared,
    path: '/tryon/v1/try-on/sync',
    id: 'createTryOnAndWait',
    scopes: ['try-on'],
    summary: 'Create an image and wait up to 60 seconds for it',
    description:
      'Returns 201 when the generation has ended, and 202 after 60 seconds: then poll the generation. For programs that cannot poll; all others should use POST /tryon/v1/try-on.',
    answers: {
      201: { description: 'The generation is COMPLETED or FAILED.', schema: AwaitedTryOn },
      202: { description: 'The generation has not ended yet. Fetch it by its id.', schema: AwaitedTryOn, next: NEXT },
    },
    errors: [...ACCEPTANCE_ERRORS, 'GENERATION_NOT_FOUND'],
    guards: writing,
    handler: postTryOnSync,
  }),
]

async function postTryOn(ctx: AppContext, parts: TryOnParts, sent: SentTryOn): Promise<AcceptedTryOn> {
  const accepted = await acceptTryOn(ctx, parts, sent)
  const { generationId, productExternalId, engine, requestedEngine, estimate } = accepted
  const { warnings } = sent.translated
  return {
    generationId,
    status: 'PENDING',
    productExternalId,
    engineName: engine,
    ...(requestedEngine !== null && { requestedEngine }),
    ...estimate,
    ...(warnings.length > 0 && { warnings: [...warnings] }),
  }
}

async function postTryOnSync(ctx: AppContext, parts: TryOnParts, sent: SentTryOn): Promise<AwaitedTryOn> {
  const { generationId, productExternalId } = await acceptTryOn(ctx, parts, sent)
  const generation = await parts.watch.untilEnded(generationId, AbortSignal.timeout(WAIT_MS))
  if (!generation) throw new DrapeError('GENERATION_NOT_FOUND', 'The generation does not exist.')
  ctx.status = isTerminal(generation.status) ? 201 : 202
  const shown = await parts.present(generation)
  const warnings = [...sent.translated.warnings, ...(shown.warnings ?? [])]
  return { ...shown, productExternalId, ...(warnings.length > 0 && { warnings }) }
}
