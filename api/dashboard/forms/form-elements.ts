import { type Html, html } from '../../http/answers/html.ts'
import { type Content, when } from '../html/elements.ts'
import { type Fields, presentFields } from './fields.ts'
import type { Forms } from './issued-forms.ts'

export interface FormOptions {
  readonly action: string
  /** For fields outside of the form. */
  readonly id?: string
  readonly forms: Forms
  readonly submit: string
  readonly body?: (fields: Fields) => Content
  /** Style of an action that is hard to undo. */
  readonly danger?: boolean
  readonly upload?: boolean
  /** Shows its fields without a submit button to operators who may not submit the form. */
  readonly readable?: boolean
}

/**
 * A form for an action that runs once, however often the form is submitted. Empty for operators who may not submit it.
 */
export function actForm(options: FormOptions): Html {
  const { action, id: name, forms, submit, body = () => '', danger = false, upload = false, readable = false } = options
  const id = forms.issue(action)
  if (id === null)
    return when(readable, html`<fieldset class="readable" disabled>${presentFields(null, body)}</fieldset>`)
  const kept = forms.kept(action)
  return html`<form method="post" action="${action}"${when(name, html` id="${name ?? ''}"`)}${when(upload, html` enctype="multipart/form-data"`)}>
<input type="hidden" name="form" value="${id}">
${presentFields(kept, body)}<button${when(danger, html` class="danger"`)}>${submit}</button></form>`
}

/** A link to a page that not every operator may open; `otherwise` for the others. */
export function permittedLink(
  { forms, path, className }: { forms: Pick<Forms, 'canOpen'>; path: `/${string}`; className?: string },
  text: Content,
  otherwise: Content = '',
): Content {
  const [page = ''] = path.split('?')
  if (!forms.canOpen(page)) return otherwise
  return html`<a${when(className, html` class="${className ?? ''}"`)} href="${path}">${text}</a>`
}

export interface SearchFormOptions {
  readonly action: string
  readonly forms: Pick<Forms, 'kept'>
  readonly body: (fields: Fields) => Content
  readonly submit?: string
}

/** A form that filters or searches a page. */
export function searchForm({ action, forms, body, submit = 'Search' }: SearchFormOptions): Html {
  return html`<form method="get" action="${action}" class="search" role="search">${presentFields(forms.kept(`GET ${action}`), body)}<button>${submit}</button></form>`
}
