import { randomUUID } from 'node:crypto'
import { type Html, html } from '../answers/html.ts'
import type { FormIssuer } from './issued-forms.ts'

export type Content = string | Html | readonly Html[]

const NOTHING = html``

/** Nothing at all, or what is given. */
export function when(condition: unknown, content: Html): Html {
  return condition ? content : NOTHING
}

/** A time, to the second, in UTC. */
export function time(date: Date | null): Html {
  if (date === null) return html`<span class="none">never</span>`
  const iso = date.toISOString()
  return html`<time datetime="${iso}">${iso.slice(0, 10)} ${iso.slice(11, 19)}</time>`
}

/** A whole number with its thousands apart. */
export function count(value: number): string {
  return value.toLocaleString('en-GB')
}

export type Tone = 'good' | 'bad' | 'quiet' | 'busy'

export function badge(text: string, tone: Tone): Html {
  return html`<span class="badge ${tone}">${text}</span>`
}

/** An id or another text for machines. */
export function code(text: string): Html {
  return html`<code>${text}</code>`
}

export interface TableOptions {
  readonly caption: string
  readonly head: readonly string[]
  readonly rows: readonly (readonly Content[])[]
  /** Said in the place of rows when there are none. */
  readonly empty: string
  /** Columns of numbers, by their place. */
  readonly numeric?: readonly number[]
}

/** A table that is scrolled sideways where it is wider than its place, also by keyboard. */
export function table({ caption, head, rows, empty, numeric = [] }: TableOptions): Html {
  if (rows.length === 0) return html`<p class="empty">${empty}</p>`
  const kind = (place: number) => (numeric.includes(place) ? 'number' : 'text')
  const headings = head.map((title, i) => html`<th scope="col" class="${kind(i)}">${title}</th>`)
  const lines = rows.map(
    (cells) => html`<tr>${cells.map((cell, i) => html`<td class="${kind(i)}">${cell}</td>`)}</tr>
`,
  )
  return html`<div class="scroll" role="region" aria-label="${caption}" tabindex="0"><table>
<caption class="unseen">${caption}</caption><thead><tr>${headings}</tr></thead><tbody>
${lines}</tbody></table></div>`
}

/** Names and what stands for them. */
export function facts(entries: readonly (readonly [string, Content])[]): Html {
  return html`<dl class="facts">${entries.map(([name, value]) => html`<div><dt>${name}</dt><dd>${value}</dd></div>`)}</dl>`
}

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
}

/** A labelled field. */
export function field(options: FieldOptions): Html {
  const { name, label, type = 'text', value, hint, required, min, max, minLength, autocomplete = 'off' } = options
  const id = `${name}-${randomUUID().slice(0, 8)}`
  const set = (attribute: string, given: string | number | null | undefined) =>
    given === undefined || given === null ? NOTHING : html` ${{ markup: attribute }}="${String(given)}"`
  return html`<div class="field"><label for="${id}">${label}</label>
<input id="${id}" name="${name}" type="${type}" autocomplete="${autocomplete}"${set('value', value)}${set('min', min)}${set('max', max)}${set('minlength', minLength)}${when(required, html` required`)}${when(hint, html` aria-describedby="${id}-hint"`)}>
${when(hint, html`<p class="hint" id="${id}-hint">${hint ?? ''}</p>`)}</div>`
}

export interface ChoiceOptions {
  readonly name: string
  readonly label: string
  /** Values and what they are called. */
  readonly options: readonly (readonly [string, string])[]
  readonly value?: string | null
}

/** A labelled list to choose one from. */
export function choice({ name, label, options, value }: ChoiceOptions): Html {
  const id = `${name}-${randomUUID().slice(0, 8)}`
  const entries = options.map(
    ([key, title]) => html`<option value="${key}"${when(key === value, html` selected`)}>${title}</option>`,
  )
  return html`<div class="field"><label for="${id}">${label}</label><select id="${id}" name="${name}">${entries}</select></div>`
}

/** A box to tick. */
export function tick({
  name,
  label,
  value,
  checked,
}: {
  name: string
  label: string
  value: string
  checked: boolean
}) {
  return html`<label class="tick"><input type="checkbox" name="${name}" value="${value}"${when(checked, html` checked`)}> ${label}</label>`
}

export interface FormOptions {
  readonly action: string
  readonly forms: FormIssuer
  readonly submit: string
  readonly body?: Content
  /** Of what is not easily undone. */
  readonly danger?: boolean
  readonly upload?: boolean
  /** Shows its fields, without a way to send them, to those who may not send it. */
  readonly readable?: boolean
}

/** A form that does something; the same form does it once, however often it is sent. Nothing for those who may not send it. */
export function actForm(options: FormOptions): Html {
  const { action, forms, submit, body = '', danger = false, upload = false, readable = false } = options
  const id = forms(action)
  if (id === null) return when(readable, html`<fieldset class="readable" disabled>${body}</fieldset>`)
  return html`<form method="post" action="${action}"${when(upload, html` enctype="multipart/form-data"`)}>
<input type="hidden" name="form" value="${id}">
${body}<button${when(danger, html` class="danger"`)}>${submit}</button></form>`
}

/** A form that asks for another view of a page. */
export function searchForm({
  action,
  body,
  submit = 'Search',
}: {
  action: string
  body: Content
  submit?: string
}): Html {
  return html`<form method="get" action="${action}" class="search" role="search">${body}<button>${submit}</button></form>`
}

/** Something that is shown when it is asked for. */
export function disclosure(summary: string, body: Content): Html {
  return html`<details><summary>${summary}</summary><div class="inside">${body}</div></details>`
}

/** A part of a page with its heading. */
export function section(heading: string, body: Content): Html {
  return html`<section><h2>${heading}</h2>${body}</section>`
}

/** A link to the page after this one, which begins with the last entry; nothing when there is none. */
export function nextPage(query: URLSearchParams, before: string | number | null): Html {
  if (before === null) return NOTHING
  const next = new URLSearchParams(query)
  next.set('before', String(before))
  return html`<p class="pages"><a href="?${next.toString()}">Older</a></p>`
}
