import type { Middleware } from 'koa'
import { ERRORS } from '../../shared/contract/error-codes.ts'
import { DrapeError } from '../../shared/contract/errors.ts'
import { translateDatabaseError } from '../../shared/database/errors.ts'
import type { AppState } from '../state.ts'

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
      const status = ERRORS[error.code].status
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
