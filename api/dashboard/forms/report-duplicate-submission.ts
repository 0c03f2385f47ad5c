import { html } from '../../http/answers/html.ts'
import { showPage } from '../html/layout.ts'
import { time } from '../html/times.ts'
import type { DoneForm, OperatorAudit } from '../operator-audit.store.ts'
import type { DashboardContext, DashboardMiddleware, Done } from '../state.ts'
import { permittedLink } from './form-elements.ts'
import type { Forms } from './issued-forms.ts'

/** When a form is submitted again, shows its result and a link instead of running it twice. */
export function reportDuplicateSubmission({ audit }: { audit: Pick<OperatorAudit, 'findForm'> }): DashboardMiddleware {
  const showDone = async (ctx: DashboardContext): Promise<boolean> => {
    const { formId } = ctx.state
    const done = formId === null ? null : await audit.findForm(formId)
    if (done === null) return false
    ctx.state.kept = null
    ctx.status = 409
    const { pages, forms } = ctx.state
    const body = presentDone(done, { page: pages.findDone(done.action), formPage: pages.findFormPage(ctx.path), forms })
    showPage(ctx, { title: 'Already done', body })
    return true
  }
  return async function doneForms(ctx, next) {
    if (ctx.state.formId === null) return next()
    if (await showDone(ctx)) return
    try {
      await next()
    } catch (error) {
      // The same form may have been processed concurrently.
      if (!(await showDone(ctx))) throw error
    }
    if (ctx.state.kept !== null) await showDone(ctx)
  }
}

function presentDone(
  { action, object, createdAt }: DoneForm,
  { page, formPage, forms }: { page: Done | undefined; formPage: string | null; forms: Forms },
) {
  const { message = 'The action was completed.', at = formPage ?? '/', showsSecret = false } = page ?? {}
  const path = at.replace(':object', object ?? '')
  const note = showsSecret
    ? html`<p>The first submission showed a secret once. If you did not save the secret, replace or remove it there.</p>`
    : html``
  return html`<p>${message}</p>
<p>This form was submitted twice. The action ran once, on ${time(createdAt)} (UTC), and the second submission changed nothing.</p>
${note}<p class="actions"><a class="button" href="${path}">See the result</a> ${permittedLink({ forms, path: `/audit?q=${encodeURIComponent(object ?? action)}` }, 'Audit log')}</p>`
}
