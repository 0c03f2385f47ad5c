import { DrapeError } from '../../shared/contract/errors.ts'
import { Type } from '../../shared/contract/schema.ts'
import { splitWords } from '../../shared/contract/setting.ts'
import type { Listing, ListSearch } from '../../shared/database/listing.ts'
import { type AccountSearch, findAccountField, readAccount } from '../forms/account-field.ts'
import { fieldsReader, parseQuery, queryOf } from '../forms/form.ts'
import type { Owns, Page } from '../page.ts'
import type { Role } from '../sign-in/operators.store.ts'
import type { DashboardContext, SignedInContext } from '../state.ts'
import { allOf, sendCsv } from './csv-file.ts'
import { seeOther, showPage } from './layout.ts'
import { type ListShape, type OpenList, presentList, sortOf } from './list.view.ts'
import { Minute, readTime } from './times.ts'

/** Rows per page. */
const PAGE = 50

export interface List<O, R> extends ListShape<R> {
  readonly role?: Role
  /** As that of a page. An owner gets only the rows with the account, unless the path has the `:id` of what they belong to. */
  readonly owns?: Owns<O>
  readonly menu?: Page<O>['menu']
  readonly open: (ctx: SignedInContext, options: O) => OpenList<R> | Promise<OpenList<R>>
}

/** A list as a page that is counted, searched, sorted and filtered, and as a file of the same search. */
export function listPages<O, R extends { readonly id: string | number }>(
  list: List<O, R>,
): [file: Page<O>, page: Page<O>] {
  const { path, file = `${path}.csv`, role = 'viewer', owns, menu } = list
  const read = searchReader(list)
  return [
    {
      route: `GET ${file}`,
      role,
      owns,
      run: async (ctx, options) => exportList(ctx, { list, read, open: await openFor(ctx, options, list) }),
    },
    {
      route: `GET ${path}`,
      role,
      owns,
      menu,
      isSearch: true,
      run: async (ctx, options) => showList(ctx, { list, read, open: await openFor(ctx, options, list) }),
    },
  ]
}

/** What the list is to this operator: to an owner its rows with the account, unless the path names what the rows belong to. */
async function openFor<O, R>(ctx: SignedInContext, options: O, { open, path }: List<O, R>): Promise<OpenList<R>> {
  const opened = await open(ctx, options)
  const { accountId } = ctx.state.operator
  if (accountId === null || path.includes('/:')) return opened
  return { ...opened, accounts: undefined, listing: boundTo(accountId, opened.listing) }
}

function boundTo<R>(accountId: string, { list, count }: Listing<R>): Listing<R> {
  const bind = (search: ListSearch) => ({ ...search, only: { ...search.only, accountId } })
  return { list: (search, part) => list(bind(search), part), count: (search) => count(bind(search)) }
}

interface Request<O, R> {
  readonly list: List<O, R>
  readonly open: OpenList<R>
  readonly read: (query: URLSearchParams, accounts?: AccountSearch) => Promise<Asked>
}

/** What the query of a request asks for. */
interface Asked {
  readonly search: ListSearch
  readonly sort: string | null
  readonly isAscending: boolean
  /** From 1. */
  readonly page: number
}

function searchReader<O, R>({ columns, filters = [] }: List<O, R>): Request<O, R>['read'] {
  const sorts = columns.map(sortOf).flatMap((name) => (name === undefined ? [] : [name, `-${name}`]))
  const values = filters.map(({ of, options }) => [
    of,
    Type.Optional(options ? Type.Enum(options.map(([value]) => value)) : Type.String({ maxLength: 300 })),
  ])
  const readFilters = fieldsReader(Type.Object(Object.fromEntries(values)))
  const readFields = fieldsReader(
    Type.Object({
      q: Type.Optional(Type.String({ maxLength: 300 })),
      account: Type.Optional(Type.String({ maxLength: 300 })),
      sort: Type.Optional(Type.Enum(sorts)),
      page: Type.Integer({ minimum: 1, maximum: 10_000, default: 1 }),
      from: Minute,
      to: Minute,
    }),
  )
  return async (query, accounts) => {
    const { q: text, account, sort = null, page, ...times } = readFields(query)
    const only = readFilters(query) as Record<string, string>
    const accountId = account === undefined || accounts === undefined ? null : await readAccount(accounts, account)
    return {
      search: {
        text,
        only: accountId === null ? only : { ...only, accountId },
        from: readTime('from', times.from),
        to: readTime('to', times.to),
      },
      sort: sort?.replace(/^-/, '') ?? null,
      isAscending: !sort?.startsWith('-'),
      page,
    }
  }
}

async function showList<O, R extends { readonly id: string | number }>(
  ctx: DashboardContext,
  { list, open, read }: Request<O, R>,
): Promise<void> {
  const { listing, accounts, title, actions } = open
  const { kept, forms } = ctx.state
  const isRefused = forms.kept(`GET ${ctx.path}`) !== null
  // A refused form returns to the rows among which they were chosen.
  const query = viewOf(kept?.values) ?? queryOf(ctx)
  const asked = isRefused ? null : await read(query, accounts)
  const [rows, total] =
    asked === null
      ? [[], 0]
      : await Promise.all([
          listing.list(asked.search, { ...asked, limit: PAGE, skip: (asked.page - 1) * PAGE }),
          listing.count(asked.search),
        ])
  const accountId = asked?.search.only?.accountId
  const account = accounts && (await findAccountField(accounts, typeof accountId === 'string' ? accountId : null))
  const { only = {}, text, from, to } = asked?.search ?? {}
  const isSearched = text !== undefined || Object.keys(only).length > 0 || Boolean(from ?? to)
  const page = asked && { rows, total, size: PAGE, isSearched, ...asked }
  showPage(ctx, { title, actions, body: presentList({ list, open, page, query, account, forms, path: ctx.path }) })
}

function exportList<O, R extends { readonly id: string | number }>(
  ctx: DashboardContext,
  { list: { columns }, open, read }: Request<O, R>,
): Promise<void> {
  const names = [...new Set(columns.flatMap(({ of = [] }) => of))]
  const lines = async function* (search: ListSearch) {
    yield names.map((name) => splitWords(name, '_'))
    for await (const row of allOf<R>((last, limit) => open.listing.list(search, { before: last?.id ?? null, limit })))
      yield names.map((name) => textOf(row[name]))
  }
  return read(queryOf(ctx), open.accounts).then(({ search }) =>
    sendCsv(
      ctx,
      ctx.path
        .slice(1)
        .replace(/\.csv$/, '')
        .replaceAll('/', '-'),
      lines(search),
    ),
  )
}

function textOf(value: unknown): string {
  if (value === null || value === undefined) return ''
  if (value instanceof Date) return value.toISOString()
  return typeof value === 'object' ? JSON.stringify(value) : String(value)
}

/** The query of the page that a form was sent from; null: the form does not say. */
export function viewOf(form: URLSearchParams | undefined): URLSearchParams | null {
  const view = form?.get('view') ?? null
  return view === null ? null : parseQuery(view)
}

/** The IDs of the chosen rows. Throws `VALIDATION_FAILED` for none, and for more than a page has. */
export function readChosen({ state: { form } }: DashboardContext): string[] {
  // In one order, so that two operators do not wait for each other.
  const ids = [...new Set(form.getAll('id'))].toSorted()
  if (ids.length > 0 && ids.length <= PAGE) return ids
  const message = ids.length === 0 ? 'Choose at least one row.' : `Choose at most ${PAGE} rows.`
  throw new DrapeError('VALIDATION_FAILED', '', { details: [{ path: 'id', message }] })
}

/** Redirects to the rows among which they were chosen. */
export function seeList(ctx: DashboardContext, path: string, done: string): void {
  const view = viewOf(ctx.state.form) ?? new URLSearchParams()
  view.set('done', done)
  seeOther(ctx, `${path}?${view}`)
}
