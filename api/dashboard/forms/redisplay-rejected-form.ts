import { ERRORS } from '../../shared/contract/error-codes.ts'
import { DrapeError, type FieldProblem } from '../../shared/contract/errors.ts'
import { seeOther } from '../html/layout.ts'
import type { DashboardContext, DashboardMiddleware } from '../state.ts'
import { type RejectedForm, typedValues } from './rejected-form.ts'

/**
 * Shows the page of a refused form again, with the typed values and the errors. `show` handles a GET of the page.
 * Rethrows the error when no page can be shown.
 */
export function redisplayRejectedForm(show: DashboardMiddleware): DashboardMiddleware {
  return async function again(ctx, next) {
    try {
      await next()
    } catch (error) {
      if (!(error instanceof DrapeError) || ERRORS[error.code].status >= 500) throw error
      const place = findPlace(ctx)
      if (place === null || ctx.state.kept !== null) throw error
      ctx.state.kept = keep(ctx, error)
      const { method, url } = ctx
      Object.assign(ctx, { method: 'GET', url: place })
      try {
        await show(ctx, notFound)
      } catch {
        throw error
      } finally {
        Object.assign(ctx, { method, url })
      }
      ctx.status = ERRORS[error.code].status
      if (error.retryAfterSeconds !== undefined) ctx.set('Retry-After', String(error.retryAfterSeconds))
    }
  }
}

/** Redirects a GET of an action's path, e.g. after a form was shown again, to the page of the form. */
export const openFormPages: DashboardMiddleware = function formPages(ctx, next) {
  const isAction = ctx.method === 'GET' && ctx.state.pages.rolesFor('GET', ctx.path).length === 0
  const page = isAction ? ctx.state.pages.findFormPage(ctx.path) : null
  return page === null ? next() : seeOther(ctx, `${page}${ctx.search}`)
}

/** Page that shows the form of this request; null when there is none or the operator may not see it. */
function findPlace({ method, path, state: { operator, pages } }: DashboardContext): string | null {
  const page = method === 'POST' ? pages.findFormPage(path) : pages.isSearchPage(path) ? path : null
  if (page === null || operator === null) return page
  return pages.isPermitted(operator.role, 'GET', page) ? page : null
}

function keep(ctx: DashboardContext, { message, details }: DrapeError): RejectedForm {
  const problems = Array.isArray(details) ? (details as readonly FieldProblem[]) : []
  const values = ctx.method === 'POST' ? typedValues(ctx.state.form) : new URLSearchParams(ctx.querystring)
  const action = ctx.method === 'POST' ? ctx.path : `GET ${ctx.path}`
  return { action, values, message: problems.length === 0 ? message : '', problems }
}

function notFound(): Promise<void> {
  throw new DrapeError('ROUTE_NOT_FOUND', 'The page does not exist.')
}
