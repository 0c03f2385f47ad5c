import { generate } from 'lean-qr'
import { type Html, html } from '../../http/answers/html.ts'
import type { Fields } from '../forms/fields.ts'
import { actForm } from '../forms/form-elements.ts'
import type { Forms } from '../forms/issued-forms.ts'
import { code, copied, disclosure, facts, section, when } from '../html/elements.ts'
import { time } from '../html/times.ts'

interface SecondFactorPage {
  readonly factor: { readonly confirmedAt: Date | null; readonly recoveryCodes: number } | null
  readonly required: boolean
  /** Whether the operator was redirected here because a second factor is required. */
  readonly asked: boolean
  readonly forms: Forms
}

export function presentSecondFactor({ factor, required, asked, forms }: SecondFactorPage): Html {
  if (factor === null || factor.confirmedAt === null) {
    return html`${when(asked, html`<p class="caution" role="alert">Your role requires a second factor. Set one up to continue.</p>`)}
${section(
  'Authenticator app',
  html`<p>An authenticator app on your phone makes a code that you type in after your password. A stolen password is then not sufficient.</p>
${actForm({ action: '/second-factor/start', forms, submit: 'Set up an authenticator app' })}`,
)}`
  }
  const codeField = ({ field }: Fields) =>
    field({ name: 'code', label: 'Authenticator code or recovery code', required: true })
  const remove = actForm({ action: '/second-factor/remove', forms, submit: 'Remove it', body: codeField, danger: true })
  return html`${facts([
    ['Authenticator app', html`set up on ${time(factor.confirmedAt)}`],
    ['Recovery codes left', String(factor.recoveryCodes)],
  ])}
${section('New recovery codes', actForm({ action: '/second-factor/recovery-codes', forms, submit: 'Replace all recovery codes', body: codeField }))}
${when(!required, section('Remove', disclosure('Sign in with the password only …', remove)))}`
}

interface Enrolment {
  readonly secret: string
  readonly uri: string
  readonly forms: Forms
}

export function presentEnrolment({ secret, uri, forms }: Enrolment): Html {
  const groups = secret.match(/.{1,4}/g) ?? []
  const steps = html`<ol class="steps"><li>Scan this code with your authenticator app, or type in the key (time-based, 6 digits):
${qrCode(uri)}
${facts([['Key', copied(groups.join(' '))]])}
<p>On a phone: <a href="${uri}">open it in the app</a></p></li>
<li>Type in the code that the app shows.
${actForm({
  action: '/second-factor/confirm',
  forms,
  submit: 'Confirm',
  body: ({ field }) => field({ name: 'code', label: 'Code', required: true, autocomplete: 'one-time-code' }),
})}</li></ol>`
  return html`<section>${steps}</section>`
}

/** The text as a QR code, with the quiet zone that cameras need. */
function qrCode(text: string): Html {
  const bitmap = generate(text)
  const { size } = bitmap
  const cells = Array.from({ length: size * size }, (_, i) => [i % size, Math.floor(i / size)])
  const path = cells.map(([x, y]) => (bitmap.get(x, y) ? `M${x} ${y}h1v1h-1z` : '')).join('')
  return html`<svg class="qr" viewBox="-4 -4 ${String(size + 8)} ${String(size + 8)}" role="img" aria-label="QR code of the key"><path d="${path}"/></svg>`
}

/** Shows the recovery codes, once. */
export function presentRecoveryCodes(codes: readonly string[]): Html {
  return html`<p class="caution" role="status">These codes are shown once. Store them where you can find them without your phone. Each code works once in place of an authenticator code.</p>
<section><ul class="codes" id="codes">${codes.map((one) => html`<li>${code(one.match(/.{1,4}/g)?.join('-') ?? one)}</li>\n`)}</ul>
<p class="secret"><button type="button" data-copy="codes" hidden>Copy all</button><span role="status"></span></p></section>
<p><a class="button quiet" href="/">Open the overview</a></p>`
}
