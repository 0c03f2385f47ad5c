import type { Middleware } from 'koa'
import { DrapeError, type ErrorCode } from '../../shared/contract/errors.ts'
import { translateDatabaseError } from '../../shared/database/errors.ts'
import type { AppState } from '../state.ts'

/** HTTP status of each error code. Codes that only occur in failed generations have 500. */
export const HTTP_STATUS: Readonly<Record<ErrorCode, number>> = {
  MISSING_API_KEY: 401,
  INVALID_API_KEY: 401,
  FORBIDDEN: 403,
  VALIDATION_FAILED: 400,
  EXTERNAL_ID_REQUIRED: 400,
  PRODUCT_IMAGES_REQUIRED: 400,
  CUSTOMER_IMAGE_REQUIRED: 400,
  FILE_REQUIRED: 400,
  MULTIPART_FILE_NOT_FOUND: 400,
  INVALID_IMAGE_INPUT: 400,
  INVALID_IMAGE: 400,
  UNSUPPORTED_IMAGE_TYPE: 400,
  CUSTOMER_IMAGE_FETCH_FAILED: 400,
  PRODUCT_IMAGE_FETCH_FAILED: 500,
  MISSING_REQUIRED_CLASSIFICATION: 422,
  FILE_TOO_LARGE: 413,
  INSUFFICIENT_CREDITS: 402,
  QUOTA_EXCEEDED: 402,
  RATE_LIMITED: 429,
  PRODUCT_NOT_FOUND: 404,
  GENERATION_NOT_FOUND: 404,
  ACCOUNT_NOT_FOUND: 404,
  BATCH_NOT_FOUND: 404,
  EVENT_NOT_FOUND: 404,
  ERASURE_NOT_FOUND: 404,
  LISTENER_NOT_FOUND: 404,
  APPEAL_NOT_FOUND: 404,
  ROUTE_NOT_FOUND: 404,
  METHOD_NOT_ALLOWED: 405,
  HEADERS_TOO_LARGE: 431,
  RESERVED_EXTERNAL_ID: 409,
  IDEMPOTENCY_KEY_IN_USE: 409,
  IDEMPOTENCY_KEY_REUSED: 422,
  INTERNAL_ERROR: 500,
  SERVICE_UNAVAILABLE: 503,
  GENERATION_FAILED: 500,
  GENERATION_TIMEOUT: 500,
  GENERATION_CANCELLED: 500,
  NO_PERSON_DETECTED: 500,
  RESULT_REJECTED: 500,
  NUDITY_DETECTED: 422,
  EXPOSURE_NOT_ALLOWED: 422,
  SEVERAL_PEOPLE: 422,
  AGE_REVIEW: 422,
  IMAGE_LISTED: 422,
  SAFETY_UNAVAILABLE: 503,
  PROXY_SIGNATURE_INVALID: 401,
  WEBHOOK_SIGNATURE_INVALID: 401,
  BILLING_NOT_ALLOWED: 402,
  RATE_LIMIT_EXCEEDED: 429,
  GENERATION_NOT_COMPLETED: 400,
  SHARE_LINK_NOT_FOUND: 404,
  SHARE_LINK_GONE: 410,
  IMAGE_NOT_FOUND: 404,
  UPLOAD_NOT_FOUND: 404,
  CAPTCHA_REQUIRED: 403,
  VISITOR_TOKEN_REQUIRED: 403,
  CONSENT_REQUIRED: 403,
  CONSENT_OUTDATED: 409,
  CONSENT_POLICY_UNKNOWN: 400,
}

/**
 * Converts a thrown value into the error body `{ code, message, status, details? }`. Logs faults as errors, and
 * refusals for lack of capacity, which the caller can avoid, as warnings.
 */
export function translateErrors(): Middleware<AppState> {
  return async function errors(ctx, next) {
    try {
      await next()
    } catch (thrown) {
      const error = asDrapeError(translateDatabaseError(thrown))
      const status = HTTP_STATUS[error.code]
      const isRefusal = status === 503 && thrown instanceof DrapeError && thrown.cause === undefined
      if (ctx.state.isSimulated) ctx.state.log.debug({ code: error.code }, 'test answer')
      else if (isRefusal) ctx.state.log.warn({ code: error.code, reason: error.message }, 'request refused')
      else if (status >= 500) ctx.state.log.error({ err: thrown, code: error.code }, 'request failed')
      ctx.state.errorCode = error.code
      ctx.status = status
      if (status === 503) ctx.set('Retry-After', '1')
      if (error.retryAfterSeconds !== undefined) ctx.set('Retry-After', String(error.retryAfterSeconds))
      if (error.code === 'RATE_LIMITED' && !ctx.response.get('Retry-After')) ctx.set('Retry-After', '10')
      ctx.body = { code: error.code, message: error.message, status, ...(error.details && { details: error.details }) }
    }
  }
}

function asDrapeError(error: unknown): DrapeError {
  if (error instanceof DrapeError) return error
  return new DrapeError('INTERNAL_ERROR', 'An internal error occurred.', { cause: error })
}
