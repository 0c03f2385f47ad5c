import type { Operation } from '../../openapi/operation.ts'
import type { ErrorCode } from '../../shared/errors.ts'
import { LegacyTryOnBody } from './legacy.schema.ts'
import { AcceptedTryOn, AwaitedTryOn, TryOnBody } from './try-on.schema.ts'

const errors: readonly ErrorCode[] = [
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
  'RESERVED_EXTERNAL_ID',
]

const id = '$response.body#/generationId'
const next = { getGeneration: { id }, followGeneration: { id }, cancelGeneration: { id } }

const shared = {
  method: 'post',
  tag: 'Try-on',
  body: { json: TryOnBody, legacy: LegacyTryOnBody },
  repeatable: true,
} as const

export const tryOnOperations: readonly Operation[] = [
  {
    ...shared,
    path: '/tryon/v1/try-on',
    id: 'createTryOn',
    scopes: ['try-on'],
    summary: 'Ask for a picture of a person wearing a product',
    description: `The product is one of three: a reference (only \`externalId\`) to a product that is known; an upsert
(\`externalId\` and fields), which makes or changes it; or one-shot (no \`externalId\`), for this call. A product that is made here
is kept for 15 days after its last use, a one-shot one for 7. A restricted key needs the scope \`products\` too for an upsert.`,
    answers: { 201: { description: 'Accepted: one credit is reserved.', schema: AcceptedTryOn, next } },
    errors,
  },
  {
    ...shared,
    path: '/tryon/v1/try-on/sync',
    id: 'createTryOnAndWait',
    scopes: ['try-on'],
    summary: 'The same, waiting up to 60 seconds for the picture',
    answers: {
      201: { description: 'The generation is COMPLETED or FAILED.', schema: AwaitedTryOn },
      202: { description: 'It is not finished yet: fetch it by its id.', schema: AwaitedTryOn, next },
    },
    errors: [...errors, 'GENERATION_NOT_FOUND'],
  },
]
