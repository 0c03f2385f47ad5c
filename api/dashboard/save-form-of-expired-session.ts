import { readIssuedForm } from './issued-forms.ts'
import { seeOther } from './layout.ts'
import type { OperatorSessions } from './operator-sessions.store.ts'
import { typedValues } from './rejected-form.ts'
import type { SavedForms } from './saved-forms.store.ts'
import type { DashboardContext, DashboardMiddleware } from './state.ts'

export interface SavedFormOptions {
  readonly sessions: Pick<OperatorSessions, 'findEnded' | 'listFormKeys'>
  readonly savedForms: SavedForms
}

/**
 * Stores a form of an ended session without running it, and redirects to its page: via the sign-in, unless the operator
 * has already signed in again. The typed values are shown only to the operator of that session.
 */
export function saveFormOfExpiredSession(options: SavedFormOptions): DashboardMiddleware {
  return async function endedForms(ctx, next) {
    const page = ctx.method === 'POST' ? ctx.state.pages.findFormPage(ctx.path) : null
    const issued = page === null ? null : await findIssued(ctx, options)
    if (issued === null) return next()
    const fields = typedValues(ctx.state.form).toString()
    await options.savedForms.insert({ ...issued, action: ctx.path, fields })
    const place = `${page}?kept=${issued.form}`
    seeOther(ctx, ctx.state.operator ? place : `/sign-in?ended=true&next=${encodeURIComponent(place)}`)
  }
}

/** The form and the operator to whose earlier session it was issued; null for other forms. */
async function findIssued(
  { path: action, state: { operator, formKey, token, form } }: DashboardContext,
  { sessions }: SavedFormOptions,
): Promise<{ form: string; operatorId: string } | null> {
  const id = form.get('form') ?? ''
  if (id === '' || (formKey !== null && readIssuedForm(id, { key: formKey, action }) !== null)) return null
  const earlier = operator === null ? await sessions.findEnded(token) : await sessions.listFormKeys(operator.id)
  for (const { operatorId, formKey: key } of earlier) {
    const issued = readIssuedForm(id, { key, action })
    if (issued !== null) return { form: issued, operatorId }
  }
  return null
}

/** Shows a stored form on its page; deletes it when the form is submitted. */
export function recallForms({ savedForms }: Pick<SavedFormOptions, 'savedForms'>): DashboardMiddleware {
  return async function recalled(ctx, next) {
    const { operator } = ctx.state
    if (operator === null) return next()
    const name = ctx.method === 'GET' ? new URLSearchParams(ctx.querystring).get('kept') : null
    const found = name === null || name.includes('\0') ? null : await savedForms.find(name, operator.id)
    if (found !== null && ctx.state.pages.findFormPage(found.action) === ctx.path) {
      const message =
        'The session in which you opened this form had ended, so the form was not executed. Check the values, and submit the form again.'
      ctx.state.kept = { action: found.action, values: new URLSearchParams(found.fields), message, problems: [] }
    }
    await next()
    if (ctx.method === 'POST' && ctx.status < 400) await savedForms.delete(operator.id, ctx.path)
  }
}
