import { html } from '../http/answers/html.ts'
import { time } from './elements.ts'
import { showPage } from './layout.ts'
import type { DoneForm, OperatorAudit } from './operator-audit.store.ts'
import type { DashboardContext, DashboardMiddleware } from './state.ts'

/** When a form is submitted again, shows its result and a link instead of running it twice. */
export function reportDuplicateSubmission({ audit }: { audit: Pick<OperatorAudit, 'findForm'> }): DashboardMiddleware {
  const showDone = async (ctx: DashboardContext): Promise<boolean> => {
    const { formId } = ctx.state
    const done = formId === null ? null : await audit.findForm(formId)
    if (done === null) return false
    ctx.state.kept = null
    ctx.status = 409
    showPage(ctx, { title: 'Already done', body: presentDone(done) })
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

function presentDone({ action, object, accountId, createdAt }: DoneForm) {
  const { message = 'The action was completed.', at = '/', secret = false } = DONE[action] ?? {}
  const path = at.replace(':object', object ?? '').replace(':account', accountId ?? '')
  const note = secret
    ? html`<p>The first submission showed a secret once. If you did not save the secret, replace or remove it there.</p>`
    : html``
  return html`<p>${message}</p>
<p>This form was submitted twice. The action ran once, on ${time(createdAt)} (UTC), and the second submission changed nothing.</p>
${note}<p class="actions"><a class="button" href="${path}">See the result</a> <a href="/audit?about=${encodeURIComponent(object ?? action)}">Audit log</a></p>`
}

interface Done {
  readonly message: string
  /** Page of the object. */
  readonly at: string
  /** Whether the first response showed a secret. */
  readonly secret?: boolean
}

const [ACCOUNT, OWNER, SHOP, ENDPOINT] = [
  '/accounts/:object',
  '/accounts/:account',
  '/shops/:object',
  '/webhooks/:object',
]

const DONE: Readonly<Record<string, Done>> = {
  'account.create': { message: 'The account was created, with its first keys.', at: ACCOUNT, secret: true },
  'account.update': { message: 'The settings of the account were saved.', at: ACCOUNT },
  'account.activate': { message: 'The account was activated.', at: ACCOUNT },
  'account.deactivate': { message: 'The account was deactivated.', at: ACCOUNT },
  'credits.add': { message: 'The balance was changed.', at: ACCOUNT },
  'key.create': { message: 'The key was created.', at: OWNER, secret: true },
  'key.rotate': { message: 'The key was replaced with a new one.', at: OWNER, secret: true },
  'key.revoke': { message: 'The key was revoked.', at: OWNER },
  'logo.set': { message: 'The logo was set.', at: ACCOUNT },
  'logo.remove': { message: 'The logo was removed.', at: ACCOUNT },
  'shop.create': { message: 'The shop was created.', at: SHOP, secret: true },
  'shop.update': { message: 'The settings of the shop were saved.', at: SHOP },
  'shop.secret.add': { message: 'The secret was added.', at: SHOP, secret: true },
  'shop.secret.remove': { message: 'The older secret was removed.', at: SHOP },
  'policy.publish': { message: 'The version of the policy was published.', at: SHOP },
  'webhook.create': { message: 'The endpoint was created.', at: ENDPOINT, secret: true },
  'webhook.update': { message: 'The settings of the endpoint were saved.', at: ENDPOINT },
  'webhook.test': { message: 'The delivery of a test was scheduled.', at: ENDPOINT },
  'webhook.replay': { message: 'The delivery was scheduled again.', at: ENDPOINT },
  'webhook.delete': { message: 'The endpoint was deleted.', at: '/webhooks' },
  'webhook.secret.add': { message: 'A new secret was added.', at: ENDPOINT, secret: true },
  'webhook.secret.remove': { message: 'The older secret was removed.', at: ENDPOINT },
  'leads.export': { message: 'The addresses were exported.', at: '/leads/:object' },
  'leads.retry': { message: 'The rejected deliveries are retried.', at: '/leads/:object' },
  'leads.delete': { message: 'The address was deleted.', at: '/leads/:object' },
  'removal.view': { message: 'The images were shown.', at: '/removals/:object' },
  'removal.erase': { message: 'The erasure was started.', at: '/removals/:object' },
  'removal.decline': { message: 'The request was declined.', at: '/removals/:object' },
  'review.decide': { message: 'The decision was saved.', at: '/reviews/:object' },
  'block.remove': { message: 'The block was removed.', at: '/blocks' },
  'picture.view': { message: 'The image was shown.', at: '/generations/:object' },
  'generation.cancel': { message: 'The generation was cancelled.', at: '/generations/:object' },
  'operator.create': { message: 'The operator was created.', at: '/operators', secret: true },
  'operator.update': { message: 'The operator was changed.', at: '/operators' },
  'second-factor.reset': { message: 'The second factor of the operator was removed.', at: '/operators' },
  'second-factor.start': { message: 'The set-up of an authenticator app was started.', at: '/second-factor' },
  'second-factor.confirm': { message: 'The second factor was set up.', at: '/second-factor', secret: true },
  'second-factor.recovery-codes': { message: 'The recovery codes were replaced.', at: '/second-factor', secret: true },
  'second-factor.remove': { message: 'The second factor was removed.', at: '/second-factor' },
}
