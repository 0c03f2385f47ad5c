import { failureOf } from '../failure.ts'
import { button, element } from '../markup.ts'
import { explain, type Texts } from '../texts.ts'

export interface EmailOptions {
  /** Whether the service has stored the address. */
  readonly leave: (email: string, marketingConsent: boolean) => Promise<boolean>
  readonly announce: (text: string) => void
}

/** Asks for an e-mail address, until the service has stored it. */
export function presentEmail(texts: Texts, { leave, announce }: EmailOptions): HTMLElement {
  const field = element('input', { type: 'email', id: 'email', autocomplete: 'email', placeholder: 'name@example.com' })
  const consent = element('input', { type: 'checkbox', id: 'email-consent' })
  const problem = element('p', { class: 'warning small', id: 'email-problem', hidden: true })
  const send = button(texts.emailSend, () => {}, { looks: 'secondary' })
  send.type = 'submit'

  const findProblem = async (email: string): Promise<string | null> => {
    if (!/^\S+@\S+\.\S+$/.test(email)) return texts.emailInvalid
    return leave(email, consent.checked).then(
      (isStored) => (isStored ? null : texts.emailInvalid),
      (error: unknown) => explain(failureOf(error), texts),
    )
  }
  const submit = async (event: Event) => {
    event.preventDefault()
    const thanks = element('p', { tabindex: -1 }, consent.checked ? texts.emailThanks : texts.emailStored)
    send.disabled = true
    const found = await findProblem(field.value.trim())
    send.disabled = false
    if (found === null) {
      form.replaceChildren(thanks)
      return thanks.focus()
    }
    problem.hidden = false
    problem.textContent = found
    field.setAttribute('aria-invalid', String(found === texts.emailInvalid))
    field.setAttribute('aria-describedby', 'email-problem')
    announce(found)
    field.focus()
  }
  const form = element(
    'form',
    { novalidate: true, part: 'email', submit },
    element('h3', {}, element('label', { for: 'email' }, texts.emailHeading)),
    element('div', { class: 'field' }, field, send),
    problem,
    element('label', { class: 'choice' }, consent, texts.emailConsent),
  )
  field.setAttribute('aria-label', texts.email)
  return form
}
