import type { Middleware } from 'koa'
import { ERRORS } from '../../shared/contract/error-codes.ts'
import { DrapeError, type ErrorCode } from '../../shared/contract/errors.ts'
import type { AppContext, AppState } from '../state.ts'

export interface RefusalPages {
  /** The page for a code; null leaves the error to others. */
  readonly present: (code: ErrorCode, ctx: AppContext) => string | null
  /** Whether the caller wants a page. Default: unless it accepts JSON as well. */
  readonly isWanted?: (ctx: AppContext) => boolean
  /** Content-Security-Policy of the page, where no other middleware sets it. */
  readonly policy?: string
}

/** Whether a page is preferred to JSON. */
export function wantsPage(ctx: AppContext): boolean {
  return ctx.accepts('json', 'html') === 'html'
}

/** Shows visitors a page with the reason of a refusal; errors are logged. */
export function refuseByPage({ present, isWanted = wantsPage, policy }: RefusalPages): Middleware<AppState> {
  return async function refuse(ctx, next) {
    try {
      await next()
    } catch (error) {
      if (!(error instanceof DrapeError)) throw error
      const page = present(error.code, ctx)
      if (page === null) throw error
      ctx.vary('Accept')
      if (!isWanted(ctx)) throw error
      ctx.state.errorCode = error.code
      ctx.status = ERRORS[error.code].status
      if (policy !== undefined) ctx.set('Content-Security-Policy', policy)
      ctx.type = 'html'
      ctx.body = page
    }
  }
}
