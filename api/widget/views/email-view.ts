import { button, element } from '../markup.ts'
import type { Texts } from '../texts.ts'

export interface EmailOptions {
  readonly leave: (email: string, marketingConsent: boolean) => void
  readonly announce: (text: string) => void
}

/** Asks for an e-mail address. Shoppers get no error if the shop does not accept it. */
export function presentEmail(texts: Texts, { leave, announce }: EmailOptions): HTMLElement {
  const field = element('input', { type: 'email', id: 'email', autocomplete: 'email', placeholder: 'name@example.com' })
  const consent = element('input', { type: 'checkbox', id: 'email-consent' })
  const problem = element('p', { class: 'warning small', id: 'email-problem', hidden: true }, texts.emailInvalid)
  const send = button(texts.emailSend, () => {}, { looks: 'secondary' })
  send.type = 'submit'

  const submit = (event: Event) => {
    event.preventDefault()
    const isGood = /^\S+@\S+\.\S+$/.test(field.value.trim())
    problem.hidden = isGood
    field.setAttribute('aria-invalid', String(!isGood))
    if (!isGood) {
      field.setAttribute('aria-describedby', 'email-problem')
      announce(texts.emailInvalid)
      return field.focus()
    }
    leave(field.value.trim(), consent.checked)
    const thanks = element('p', { tabindex: -1 }, consent.checked ? texts.emailThanks : texts.emailStored)
    form.replaceChildren(thanks)
    thanks.focus()
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
