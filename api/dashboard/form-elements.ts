import { type Html, html } from '../answers/html.ts'
import { type Content, when } from './elements.ts'
import { type Fields, presentFields } from './fields.ts'
import type { Forms } from './issued-forms.ts'

export interface FormOptions {
  readonly action: string
  readonly forms: Forms
  readonly submit: string
  readonly body?: (fields: Fields) => Content
  /** Of what is not easily undone. */
  readonly danger?: boolean
  readonly upload?: boolean
  /** Shows its fields, without a way to send them, to those who may not send it. */
  readonly readable?: boolean
}

/** A form that does something; the same form does it once, however often it is sent. Nothing for those who may not send it. */
export function actForm(options: FormOptions): Html {
  const { action, forms, submit, body = () => '', danger = false, upload = false, readable = false } = options
  const id = forms.issue(action)
  if (id === null)
    return when(readable, html`<fieldset class="readable" disabled>${presentFields(null, body)}</fieldset>`)
  const kept = forms.kept(action)
  return html`<form method="post" action="${action}"${when(upload, html` enctype="multipart/form-data"`)}>
<input type="hidden" name="form" value="${id}">
${presentFields(kept, body)}<button${when(danger, html` class="danger"`)}>${submit}</button></form>`
}

export interface SearchFormOptions {
  readonly action: string
  readonly forms: Pick<Forms, 'kept'>
  readonly body: (fields: Fields) => Content
  readonly submit?: string
}

/** A form that asks for another view of a page. */
export function searchForm({ action, forms, body, submit = 'Search' }: SearchFormOptions): Html {
  return html`<form method="get" action="${action}" class="search" role="search">${presentFields(forms.kept(action), body)}<button>${submit}</button></form>`
}
