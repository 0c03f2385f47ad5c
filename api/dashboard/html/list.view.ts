import { randomUUID } from 'node:crypto'
import { type Html, html } from '../../http/answers/html.ts'
import { type Listing, MAX_COUNTED } from '../../shared/database/listing.ts'
import type { AccountField, AccountSearch } from '../forms/account-field.ts'
import type { Fields } from '../forms/fields.ts'
import { actForm, searchForm } from '../forms/form-elements.ts'
import type { Forms } from '../forms/issued-forms.ts'
import { type Content, count, type Heading, table, when } from './elements.ts'
import { time, timeFields } from './times.ts'

export interface Column<R> {
  readonly head: string
  /** Properties of the row, all of which the file has; the first one sorts the list. Absent: not in the file. */
  readonly of?: readonly (keyof R & string)[]
  /** Whether the store computes it after it has chosen the rows. */
  readonly isUnsorted?: boolean
  /** Default: the first property. */
  readonly cell?: (row: R, forms: Forms) => Content
}

export interface Filter<R> {
  readonly of: keyof R & string
  readonly label: string
  /** Values and labels; absent: those that `open` returns, otherwise any text. */
  readonly options?: Options
}

type Options = readonly (readonly [string, string])[]

/** An action on the rows that an operator has ticked. Its form has their IDs. */
export interface Chosen<R> {
  readonly action: string
  readonly submit: string
  readonly danger?: boolean
  readonly isChoosable?: (row: R) => boolean
  readonly body?: (fields: Fields) => Content
}

/** What a list shows to this request. */
export interface OpenList<R> {
  readonly title: string
  readonly caption: string
  readonly listing: Listing<R>
  /** Shown while the list has no row at all: what fills it. */
  readonly empty: Content
  /** Absent: the list has no accounts to search for. */
  readonly accounts?: AccountSearch
  /** Values of filters without fixed ones. */
  readonly choices?: Readonly<Record<string, Options>>
  /** Main actions, beside the title. */
  readonly actions?: Content
  readonly before?: Content
  readonly after?: Content
  readonly chosen?: Chosen<R>
  /** Columns after those of the list, which are not in the file. */
  readonly columns?: readonly Column<R>[]
}

/** What a list is, whatever it shows. */
export interface ListShape<R> {
  readonly path: `/${string}`
  /** Path of the file, where it is not that of the page with `.csv`. */
  readonly file?: `/${string}`
  readonly columns: readonly Column<R>[]
  readonly filters?: readonly Filter<R>[]
  /** Whether rows have no time of creation. */
  readonly isTimeless?: boolean
}

export interface ListView<R> {
  readonly list: ListShape<R>
  readonly open: OpenList<R>
  /** Null: the search was refused. */
  readonly page: ListPage<R> | null
  readonly query: URLSearchParams
  /** The field of the account; absent: there is none. */
  readonly account?: AccountField
  readonly forms: Forms
  readonly path: string
}

interface ListPage<R> {
  readonly rows: readonly R[]
  readonly total: number
  readonly size: number
  /** Whether the list may have other rows than these. */
  readonly isSearched: boolean
  readonly page: number
  readonly sort: string | null
  readonly isAscending: boolean
}

export function presentList<R extends { readonly id: string | number }>(view: ListView<R>): Html {
  const { open, page, path, forms } = view
  return html`${open.before ?? ''}${searchForm({ action: path, forms, body: (fields) => searchFields(fields, view) })}
${page === null ? '' : presentPage(view, page)}${open.after ?? ''}`
}

function searchFields<R>({ field, choice }: Fields, { list, open, query, account }: ListView<R>): Content {
  const { filters = [], isTimeless = false } = list
  const inputs = filters.map(({ of: name, label, options = open.choices?.[name] }) => {
    const value = query.get(name) ?? ''
    if (options === undefined) return field({ name, label, type: 'search', value })
    return choice({ name, label, options: [['', 'any'], ...options], value })
  })
  const sort = query.get('sort')
  return html`${field({ name: 'q', label: 'Text or end of an ID', type: 'search', value: query.get('q') })}
${account === undefined ? '' : field({ name: 'account', label: 'Account', type: 'search', ...account })}
${inputs}${isTimeless ? '' : timeFields({ field }, query)}${sort === null ? '' : html`<input type="hidden" name="sort" value="${sort}">`}`
}

function presentPage<R extends { readonly id: string | number }>(view: ListView<R>, page: ListPage<R>): Html {
  const { list, open, query, path, forms } = view
  const { rows, isSearched } = page
  const { chosen } = open
  const id = `chosen-${randomUUID().slice(0, 8)}`
  const body =
    chosen && ((fields: Fields) => html`${fields.hidden('view', query.toString())}${chosen.body?.(fields) ?? ''}`)
  const isChoosable = (row: R) => chosen?.isChoosable?.(row) !== false
  const form = chosen && rows.some(isChoosable) ? html`${actForm({ ...chosen, id, forms, body })}` : html``
  const isChoosing = form.markup !== ''
  const kept = new Set(chosen && forms.kept(chosen.action)?.values.getAll('id'))
  const tick = (row: R): Content =>
    !isChoosable(row)
      ? ''
      : html`<input type="checkbox" name="id" value="${String(row.id)}" form="${id}" aria-label="Choose ${String(row.id)}"${when(kept.has(String(row.id)), html` checked`)}>`
  const ticks: Column<R>[] = isChoosing ? [{ head: 'Choose', cell: tick }] : []
  return html`${when(rows.length > 0, presentCount(view, page))}
${presentRows({
  caption: open.caption,
  columns: [...ticks, ...list.columns, ...(open.columns ?? [])],
  rows,
  forms,
  empty: page.page > 1 || isSearched ? html`Nothing matches. <a href="${path}">Show all</a>` : open.empty,
  heading: (column) => (column === ticks[0] ? allTick(id) : headingOf(column, view, page)),
})}${form}${presentPages(view, page)}`
}

export interface Rows<R> {
  readonly caption: string
  readonly columns: readonly Column<R>[]
  readonly rows: readonly R[]
  readonly forms: Forms
  readonly empty: Content
  readonly heading?: (column: Column<R>) => Heading
}

/** Rows as a table that is no list of its own. */
export function presentRows<R>({ caption, columns, rows, forms, empty, heading }: Rows<R>): Html {
  return table({
    caption,
    head: columns.map((column) => heading?.(column) ?? column.head),
    rows: rows.map((row) =>
      columns.map(({ of: [name] = [], cell }) => cell?.(row, forms) ?? (name === undefined ? '' : present(row[name]))),
    ),
    empty,
    numeric: columns.flatMap(({ of: [name] = [] }, i) =>
      name !== undefined && rows.some((row) => typeof row[name] === 'number') ? [i] : [],
    ),
  })
}

/** Ticks all rows of the page. Needs the script, which shows it. */
function allTick(form: string): Heading {
  return {
    title: 'Choose',
    content: html`<input type="checkbox" data-choose="${form}" aria-label="Choose all rows of the page" hidden><span class="unseen">Choose</span>`,
  }
}

/** The property that sorts the list by this column. */
export function sortOf<R>({ of: [name] = [], isUnsorted = false }: Column<R>): (keyof R & string) | undefined {
  return isUnsorted ? undefined : name
}

/** A link that sorts by the column; a second one reverses the order. */
function headingOf<R>(column: Column<R>, { query }: ListView<R>, page: ListPage<R>): Heading {
  const { head } = column
  const name = sortOf(column)
  if (name === undefined) return { title: head }
  const isSorted = page.sort === name
  const isText = page.rows.some((row) => typeof row[name] === 'string')
  const isNextAscending = isSorted ? !page.isAscending : isText
  const href = `?${withQuery(query, { sort: `${isNextAscending ? '' : '-'}${name}`, page: null })}`
  return {
    title: head,
    content: html`<a href="${href}">${head}</a>`,
    ...(isSorted && { sorted: page.isAscending ? 'ascending' : 'descending' }),
  }
}

function presentCount<R>({ list, query, path }: ListView<R>, { rows, total, size, page }: ListPage<R>): Html {
  const first = (page - 1) * size + 1
  const all = total > MAX_COUNTED ? `more than ${count(MAX_COUNTED)}` : count(total)
  const search = withQuery(query, { page: null, sort: null })
  const file = list.file === undefined ? `${path}.csv` : `${path}${list.file.slice(list.path.length)}`
  return html`<p class="actions"><span>${count(first)}–${count(first + rows.length - 1)} of ${all}</span> <a href="${search === '' ? file : `${file}?${search}`}">Download as CSV</a></p>`
}

function presentPages<R>({ query }: ListView<R>, { rows, total, size, page }: ListPage<R>): Html {
  const link = (to: number, name: string) => html`<a href="?${withQuery(query, { page: String(to) })}">${name}</a>`
  const hasNext = rows.length === size && (total > MAX_COUNTED || page * size < total)
  if (page === 1 && !hasNext) return html``
  return html`<p class="pages">${when(page > 1, link(page - 1, 'Previous'))} ${when(hasNext, link(page + 1, 'Next'))}</p>`
}

function withQuery(query: URLSearchParams, changes: Readonly<Record<string, string | null>>): string {
  const changed = new URLSearchParams(query)
  for (const [name, value] of Object.entries({ done: null, ...changes })) {
    if (value === null) changed.delete(name)
    else changed.set(name, value)
  }
  return changed.toString()
}

function present(value: unknown): Content {
  if (value === null || value === undefined) return ''
  if (value instanceof Date) return time(value)
  return typeof value === 'number' ? count(value) : String(value)
}
