import { randomUUID } from 'node:crypto'
import { type Html, html } from '../../http/answers/html.ts'
import type { FieldProblem } from '../../shared/contract/errors.ts'
import { type Content, when } from '../html/elements.ts'
import { KEPT_MARK, type RejectedForm } from './rejected-form.ts'

const NOTHING = html``

export interface FieldOptions {
  readonly name: string
  readonly label: string
  readonly type?: 'text' | 'email' | 'password' | 'number' | 'url' | 'search' | 'file' | 'datetime-local'
  readonly value?: string | number | null
  readonly hint?: string
  readonly required?: boolean
  readonly min?: number
  readonly max?: number
  readonly minLength?: number
  readonly autocomplete?: string
  /** Suggestions that match part of the typed value or of a label; other values may be typed too. */
  readonly suggestions?: readonly string[]
  /** Lines of a field for longer texts. */
  readonly rows?: number
}

export interface ChoiceOptions {
  readonly name: string
  readonly label: string
  /** Values and labels. */
  readonly options: readonly (readonly [string, string])[]
  readonly value?: string | null
}

export interface TickOptions {
  readonly name: string
  readonly label: string
  readonly value: string
  readonly checked: boolean
}

export interface GroupOptions {
  /** Name of the checkboxes. */
  readonly name: string
  readonly legend: string
  /** Values and labels. */
  readonly options: readonly (readonly [string, string])[]
  readonly checked: (value: string) => boolean
}

/** Creates the fields of one form. In a refused form they contain the typed values and error messages. */
export interface Fields {
  /** A labelled input. */
  field(options: FieldOptions): Html
  /** A labelled select. */
  choice(options: ChoiceOptions): Html
  /** A checkbox. */
  tick(options: TickOptions): Html
  /** A group of checkboxes with one name. */
  ticks(options: GroupOptions): Html
  /** Hidden fields: the edition of the settings that the operator saw, and the time of opening. */
  edition(edition: string): Html
  hidden(name: string, value: string): Html
}

/** Error message of a field, with the ID of its control. */
interface FieldMessage {
  readonly path: string
  readonly id: string
  readonly label: string
  readonly text: string
}

/** Why an operator acts; the audit log records it. */
export function reasonField({ field }: Fields): Html {
  return field({ name: 'reason', label: 'Reason', required: true, minLength: 3, hint: 'Recorded in the audit log.' })
}

/** Content of a form, headed by its errors. The first invalid field has the focus. */
export function presentFields(kept: RejectedForm | null, body: (fields: Fields) => Content): Html {
  const atFields: FieldMessage[] = []
  const { markup } = html`${body(createFields(kept, atFields))}`
  if (kept === null) return { markup }
  const inOrder = atFields.toSorted((a, b) => markup.indexOf(a.id) - markup.indexOf(b.id))
  const others = kept.problems.filter(({ path }) => !atFields.some((one) => one.path === path))
  const summary = presentSummary(kept, inOrder, others)
  const [first] = inOrder
  return html`${{ markup: KEPT_MARK }}${summary}${{ markup: first ? markup.replace(`id="${first.id}"`, `id="${first.id}" autofocus`) : markup }}`
}

/** Nothing for a single invalid field, which shows its own message. */
function presentSummary(
  { message }: RejectedForm,
  atFields: readonly FieldMessage[],
  others: readonly FieldProblem[],
): Html {
  const links = atFields.map(
    ({ id, label, text }) => html`<li><a href="#${id}">${text.startsWith(label) ? text : `${label}: ${text}`}</a></li>`,
  )
  const lines = others.map(({ path, message: why }) => html`<li>${describeProblem(path, why)}</li>`)
  const count = links.length + lines.length
  if (message === '' && lines.length === 0 && count === 1) return NOTHING
  const lead = message || (count === 1 ? 'There is a problem.' : `There are ${count} problems.`)
  // Without an invalid field, the summary gets the focus.
  const focus = when(atFields.length === 0, html` tabindex="-1" autofocus`)
  return html`<div class="problem" role="alert"${focus}><p>${lead}</p>${when(count > 0, html`<ul>${links}${lines}</ul>`)}</div>
`
}

/** Error message as a sentence that, if possible, says what to do. */
export function describeProblem(label: string, message: string): string {
  if (/^[A-Z“"]/.test(message)) return message
  const ended = /[.!?]$/.test(message) ? message : `${message}.`
  if (/^(is required|must not be empty)\.$/.test(ended)) return 'Enter a value.'
  if (/^must (be|have) /.test(ended)) return ended.replace(/^must (be|have) /, 'Enter ')
  return `${label} ${ended}`
}

function createFields(kept: RejectedForm | null, atFields: FieldMessage[]): Fields {
  const nameId = (name: string) => `${name}-${randomUUID().slice(0, 8)}`
  /** Error of the named field, as attributes of its control and as text. */
  const check = (
    { name, label }: { name: string; label: string },
    { id, hint = '', isSearch = false }: { id: string; hint?: string; isSearch?: boolean },
  ) => {
    const problem = kept?.problems.find(({ path }) => path === name || path.startsWith(`${name}[`))
    const text = problem && describeProblem(label, problem.message)
    if (problem && text) atFields.push({ path: problem.path, id, label, text })
    const described = [text && `${id}-wrong`, hint && `${id}-hint`].filter(Boolean).join(' ')
    return {
      attributes: html`${when(text, html` aria-invalid="true"`)}${when(described, html` aria-describedby="${described}"`)}`,
      text: when(
        text,
        html`<p class="wrong" id="${id}-wrong">${isSearch ? linkAccounts(text ?? '') : (text ?? '')}</p>`,
      ),
    }
  }
  const isTicked = ({ name, value, checked }: Pick<TickOptions, 'name' | 'value' | 'checked'>) =>
    kept === null ? checked : kept.values.getAll(name).includes(value)

  return {
    field: (options) => {
      const { name, label, type = 'text', hint, required, autocomplete = 'off', suggestions } = options
      const isSecret = type === 'password' || type === 'file'
      const value = isSecret ? null : kept === null ? options.value : (kept.values.get(name) ?? '')
      const id = nameId(name)
      const wrong = check({ name, label }, { id, hint, isSearch: type === 'search' })
      const set = (attribute: string, given: string | number | null | undefined) =>
        given === undefined || given === null ? NOTHING : html` ${{ markup: attribute }}="${String(given)}"`
      const attributes = [
        ...[set('value', value), set('min', options.min), set('max', options.max), set('minlength', options.minLength)],
        ...[set('list', suggestions && `${id}-list`), when(required, html` required`), wrong.attributes],
      ]
      if (options.rows !== undefined) {
        return html`<div class="field"><label for="${id}">${label}</label>
<textarea id="${id}" name="${name}" dir="auto" rows="${String(options.rows)}"${when(required, html` required`)}${wrong.attributes}>
${String(value ?? '')}</textarea>
${wrong.text}${when(hint, html`<p class="hint" id="${id}-hint">${hint ?? ''}</p>`)}</div>`
      }
      const list = html`<datalist id="${id}-list">${(suggestions ?? []).map((one) => html`<option value="${one}">`)}</datalist>`
      return html`<div class="field"><label for="${id}">${label}</label>
<input id="${id}" name="${name}" type="${type}" autocomplete="${autocomplete}"${attributes}>
${when(suggestions, list)}${wrong.text}${when(hint, html`<p class="hint" id="${id}-hint">${hint ?? ''}</p>`)}</div>`
    },

    choice: ({ name, label, options, value }) => {
      const id = nameId(name)
      const chosen = kept === null ? value : kept.values.get(name)
      const wrong = check({ name, label }, { id })
      const entries = options.map(
        ([key, title]) => html`<option value="${key}"${when(key === chosen, html` selected`)}>${title}</option>`,
      )
      return html`<div class="field"><label for="${id}">${label}</label><select id="${id}" name="${name}"${wrong.attributes}>${entries}</select>${wrong.text}</div>`
    },

    tick: ({ name, label, value, checked }) => {
      const id = nameId(name)
      const wrong = check({ name, label }, { id })
      const ticked = when(isTicked({ name, value, checked }), html` checked`)
      return html`<label class="tick"><input id="${id}" type="checkbox" name="${name}" value="${value}"${ticked}${wrong.attributes}> ${label}</label>${wrong.text}`
    },

    ticks: ({ name, legend, options, checked }) => {
      const id = nameId(name)
      const wrong = check({ name, label: legend }, { id })
      const boxes = options.map(([value, label], i) => {
        const ticked = when(isTicked({ name, value, checked: checked(value) }), html` checked`)
        const own = when(i === 0, html` id="${id}"`)
        return html`<label class="tick"><input${own} type="checkbox" name="${name}" value="${value}"${ticked}${wrong.attributes}> ${label}</label>`
      })
      return html`<fieldset><legend>${legend}</legend>${wrong.text}${boxes}</fieldset>`
    },

    edition: (edition) => {
      const [seen, opened] = [kept?.values.get('edition') ?? edition, kept?.values.get('opened') ?? now()]
      return html`<input type="hidden" name="edition" value="${seen}"><input type="hidden" name="opened" value="${opened}">`
    },

    hidden: (name, value) => html`<input type="hidden" name="${name}" value="${value}">`,
  }
}

/** Accounts that the message of a search names, as links that choose them. */
function linkAccounts(text: string): Html {
  const parts = text.split(/\((acc_[\w-]+)\)/)
  return html`${parts.map((part, i) => (i % 2 === 0 ? html`${part}` : html`(<a href="?account=${part}">${part}</a>)`))}`
}

function now(): string {
  return new Date().toISOString()
}
