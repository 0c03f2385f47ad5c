import { randomUUID } from 'node:crypto'
import { type Html, html } from '../../http/answers/html.ts'
import { KEPT_MARK } from '../forms/rejected-form.ts'

export type Content = string | Html | readonly Html[]

const NOTHING = html``

/** The content if the condition is truthy, otherwise nothing. */
export function when(condition: unknown, content: Html): Html {
  return condition ? content : NOTHING
}

/** A whole number with thousands separators. */
export function count(value: number): string {
  return value.toLocaleString('en-GB')
}

export type Tone = 'good' | 'bad' | 'quiet' | 'busy'

export function badge(text: string, tone: Tone): Html {
  return html`<span class="badge ${tone}">${text}</span>`
}

/** An ID or another machine-readable text. */
export function code(text: string): Html {
  return html`<code>${text}</code>`
}

/** A secret on one line that can be selected with a click and copied with a button. */
export function copied(secret: string): Html {
  const id = `secret-${randomUUID().slice(0, 8)}`
  return html`<div class="secret"><code id="${id}" tabindex="0">${secret}</code><button type="button" data-copy="${id}" hidden>Copy</button><span role="status"></span></div>`
}

/** Title of a column, with content that does more than name it. */
export interface Heading {
  readonly title: string
  readonly content?: Html
  readonly sorted?: 'ascending' | 'descending'
}

export interface TableOptions {
  readonly caption: string
  readonly head: readonly (string | Heading)[]
  readonly rows: readonly (readonly Content[])[]
  /** Shown instead of rows when the table is empty: why, and what to do next. */
  readonly empty: Content
  /** Indices of numeric columns. */
  readonly numeric?: readonly number[]
  /** Whether the last column contains actions. It is absent if the operator may run none of them. */
  readonly actions?: boolean
  /** Whether the columns fit beside each other on a phone. */
  readonly narrow?: boolean
}

/** A table that scrolls horizontally when it is too wide, also with the keyboard. On a phone each row is a card, unless the table is narrow. */
export function table(options: TableOptions): Html {
  const { caption, rows, empty, numeric = [], actions = false, narrow = false } = options
  if (rows.length === 0) return html`<p class="empty">${empty}</p>`
  const kind = (place: number) => (numeric.includes(place) ? 'number' : 'text')
  const hasNoAction = actions && rows.every((cells) => isEmpty(cells.at(-1) ?? ''))
  const columns = hasNoAction ? options.head.length - 1 : options.head.length
  const head = options.head.slice(0, columns).map((one): Heading => (typeof one === 'string' ? { title: one } : one))
  const headings = head.map(
    ({ title, content, sorted }, i) =>
      html`<th scope="col" class="${kind(i)}"${when(sorted, html` aria-sort="${sorted ?? ''}"`)}>${content ?? title}</th>`,
  )
  const lines = rows.map(
    (
      cells,
    ) => html`<tr>${cells.slice(0, columns).map((cell, i) => html`<td class="${kind(i)}" data-label="${head[i].title}">${cell}</td>`)}</tr>
`,
  )
  return html`<div class="scroll" role="region" aria-label="${caption}" tabindex="0"><table class="${narrow ? 'narrow-table' : 'cards'}">
<caption class="unseen">${caption}</caption><thead><tr>${headings}</tr></thead><tbody>
${lines}</tbody></table></div>`
}

function isEmpty(content: Content): boolean {
  return html`${content}`.markup.trim() === ''
}

/** A list of labels and values. */
export function facts(entries: readonly (readonly [string, Content])[]): Html {
  return html`<dl class="facts">${entries.map(([name, value]) => html`<div><dt>${name}</dt><dd>${value}</dd></div>`)}</dl>`
}

/** Content that is collapsed, unless a form in it was refused. Nothing without content: the operator may not submit its form. */
export function disclosure(summary: string, body: Content): Html {
  if (isEmpty(body)) return NOTHING
  const isOpen = html`${body}`.markup.includes(KEPT_MARK)
  return html`<details${when(isOpen, html` open`)}><summary>${summary}</summary><div class="inside">${body}</div></details>`
}

/** A section with a heading. Nothing without content: the operator may not submit its form. */
export function section(heading: string, body: Content): Html {
  if (isEmpty(body)) return NOTHING
  return html`<section><h2>${heading}</h2>${body}</section>`
}
