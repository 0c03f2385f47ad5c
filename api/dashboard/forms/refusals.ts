import { type Html, html } from '../../http/answers/html.ts'
import { ERRORS } from '../../shared/contract/error-codes.ts'
import { DrapeError } from '../../shared/contract/errors.ts'
import { translateDatabaseError } from '../../shared/database/errors.ts'
import { facts, section, when } from '../html/elements.ts'
import { showPage } from '../html/layout.ts'
import type { DashboardMiddleware } from '../state.ts'
import { typedValues } from './rejected-form.ts'

/** Converts errors into a page with the reason. Logs only unexpected errors. */
export function refuseByPage(): DashboardMiddleware {
  return async function refusals(ctx, next) {
    try {
      await next()
    } catch (thrown) {
      const translated = translateDatabaseError(thrown)
      const error =
        translated instanceof DrapeError
          ? translated
          : new DrapeError('INTERNAL_ERROR', 'An internal error occurred.', { cause: thrown })
      const status = ERRORS[error.code].status
      if (status >= 500) ctx.state.log.error({ err: thrown, code: error.code }, 'dashboard page failed')
      ctx.status = status
      if (error.retryAfterSeconds !== undefined) ctx.set('Retry-After', String(error.retryAfterSeconds))
      const problems = Array.isArray(error.details) ? error.details : []
      showPage(ctx, {
        title: HEADINGS[status] ?? 'The request failed',
        body: html`<p>${error.message}</p>
${when(problems.length > 0, html`<ul>${problems.map(({ path, message }) => html`<li><strong>${path}</strong> ${message}</li>`)}</ul>`)}
${ctx.method === 'POST' ? presentSent(ctx.state.form) : html`<p><a class="button quiet" href="/">Open the overview</a></p>`}`,
      })
    }
  }
}

/** Shows the typed values, so that they are not lost; hides secrets. */
function presentSent(form: URLSearchParams): Html {
  const typed = [...typedValues(form)].filter(([name, value]) => value !== '' && !HIDDEN.has(name))
  return html`<p class="hint">Nothing was changed. Go back in your browser to return to the form.</p>
${when(typed.length > 0, section('Values that you sent', facts(typed)))}`
}

const HIDDEN: ReadonlySet<string> = new Set(['edition', 'next'])

const HEADINGS: Readonly<Record<number, string>> = {
  403: 'Refused',
  404: 'Page not found',
  429: 'Too many attempts',
  500: 'Something went wrong',
  503: 'Temporarily unavailable',
}
