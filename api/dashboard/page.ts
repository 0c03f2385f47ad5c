import Router from '@koa/router'
import { DrapeError } from '../shared/contract/errors.ts'
import type { Listing } from '../shared/database/listing.ts'
import type { OperatorRole, Role } from './sign-in/operators.store.ts'
import type {
  DashboardContext,
  DashboardMiddleware,
  DashboardState,
  Done,
  PageIndex,
  SignedInContext,
} from './state.ts'

/** Whether an owner of this account may open a page with these parts of its path. */
export type Owns<O> = (accountId: string, params: Readonly<Record<string, string>>, options: O) => unknown

/** A page that shows and changes nothing but what the session says. */
export const anyOwner = () => true

/** A page whose `:id` is the account. */
export const ofAccount: Owns<unknown> = (accountId, { id }) => id === accountId

/** A page whose `:id` is in a list, among the rows of the account. */
export function listed<O>(listingOf: (options: O) => Listing<unknown>): Owns<O> {
  return async (accountId, { id }, options) =>
    (await listingOf(options).list({ only: { id, accountId } }, { limit: 1 })).length > 0
}

/** A page or a form of the dashboard. */
export type Page<O> = PageFacts &
  (
    | {
        /** Role that it needs, in addition to `admin`; every role includes `viewer`. */
        readonly role: Role
        /** Owners of accounts may open it where this returns true. Absent: never. */
        readonly owns?: Owns<O>
        readonly run: (ctx: SignedInContext, options: O) => unknown
      }
    | {
        /** Null: no session. */
        readonly role: null
        readonly run: (ctx: DashboardContext, options: O) => unknown
      }
  )

interface PageFacts {
  /** As `POST /accounts/:id/keys`. */
  readonly route: `${'GET' | 'POST'} /${string}`
  /** Of a POST: the page that shows the form. Default: the page with the longest path that the path of the action begins with. */
  readonly form?: string
  /** Of a POST, by the action in the audit log; a text is the message. */
  readonly done?: Readonly<Record<string, string | Done>>
  /** Name in the menu; as an object: that of owners too, if it differs. */
  readonly menu?: string | { readonly name: string; readonly ofOwners: string }
  /** Whether the page has a filter or search form. */
  readonly isSearch?: boolean
}

/** A page with its options. */
export type BoundPage = Page<never> & { readonly open: (ctx: DashboardContext) => unknown }

/** Declares the pages of one subject, which all need the same options. */
export function pages<O>(declared: readonly Page<O>[]): (options: O) => BoundPage[] {
  return (options) =>
    declared.map((page) => ({
      ...page,
      open: (ctx) => (page.role === null ? page.run(ctx, options) : openSignedIn(requireSignedIn(ctx), page, options)),
    }))
}

/** Owners find nothing of others, and no page that does not say that it is theirs. */
async function openSignedIn<O>(
  ctx: SignedInContext,
  { owns, run }: Extract<Page<O>, { role: Role }>,
  options: O,
): Promise<unknown> {
  const { accountId } = ctx.state.operator
  if (accountId !== null && !(await owns?.(accountId, ctx.params, options)))
    throw new DrapeError('ROUTE_NOT_FOUND', 'The page does not exist.')
  return run(ctx, options)
}

/** The middleware has refused all others already. */
function requireSignedIn(ctx: DashboardContext): SignedInContext {
  if (!isSignedIn(ctx)) throw new DrapeError('FORBIDDEN', 'Sign in first.')
  return ctx
}

function isSignedIn(ctx: DashboardContext): ctx is SignedInContext {
  return ctx.state.operator !== null
}

export function indexPages(all: readonly BoundPage[]): PageIndex {
  const shown = new Set(all.flatMap(({ route }) => (route.startsWith('GET ') ? route.slice('GET '.length) : [])))
  const entries = all.map((page) => {
    const [method, path] = page.route.split(' ')
    const form = method === 'POST' ? (page.form ?? findPageAbove(path, shown)) : undefined
    return { ...page, form, method, path, pattern: new RegExp(`^${path.replaceAll(/:\w+/g, '[^/]+')}$`) }
  })
  const dones = new Map(
    entries.flatMap(({ done = {} }) =>
      Object.entries(done).map(([action, one]) => [action, typeof one === 'string' ? { message: one } : one]),
    ),
  )
  const find = (method: string, path: string) => {
    const asked = method === 'HEAD' ? 'GET' : method
    return entries.filter((entry) => entry.method === asked && entry.pattern.test(path))
  }
  const rolesFor = (method: string, path: string): Role[] => find(method, path).flatMap(({ role }) => role ?? [])
  const isPermitted = (role: OperatorRole, method: string, path: string): boolean => {
    const needed = find(method, path).filter((page) => page.role !== null)
    return needed.length > 0 && needed.every((page) => mayOpen(role, page))
  }
  return {
    rolesFor,
    isPermitted,
    findFormPage: (action: string): string | null => {
      const form = find('POST', action).find((entry) => entry.form !== undefined)?.form
      const given = action.split('/')
      const parts = form?.split('/').map((part, i) => (part.startsWith(':') ? given[i] : part))
      return parts?.join('/') ?? null
    },
    isSearchPage: (path: string): boolean => find('GET', path).some(({ isSearch }) => isSearch === true),
    findDone: (action) => dones.get(action),
    menuOf: (role) =>
      entries.flatMap(({ path, menu }) => {
        if (menu === undefined || !isPermitted(role, 'GET', path)) return []
        const { name, ofOwners } = typeof menu === 'string' ? { name: menu, ofOwners: menu } : menu
        return [[path, role === 'owner' ? ofOwners : name] as const]
      }),
  }
}

function findPageAbove(path: string, shown: ReadonlySet<string>): string | undefined {
  if (path === '') return undefined
  return shown.has(path) ? path : findPageAbove(path.slice(0, path.lastIndexOf('/')), shown)
}

function mayOpen(
  role: OperatorRole,
  { role: needed, owns }: { readonly role: Role | null; readonly owns?: unknown },
): boolean {
  if (role === 'owner') return owns !== undefined
  return role === 'admin' || needed === 'viewer' || role === needed
}

/** Runs the pages. */
export function mountPages(all: readonly BoundPage[]): DashboardMiddleware {
  const router = new Router<DashboardState>({ sensitive: true, strict: true })
  for (const { route, open } of all) {
    const [method, path] = route.split(' ')
    const handle = (ctx: DashboardContext) => open(ctx) as Promise<void>
    if (method === 'GET') router.get(path, handle)
    else router.post(path, handle)
  }
  return router.routes() as unknown as DashboardMiddleware
}
