import Router from '@koa/router'
import { DrapeError } from '../shared/contract/errors.ts'
import type { Role } from './operators.store.ts'
import type {
  DashboardContext,
  DashboardMiddleware,
  DashboardState,
  Done,
  PageIndex,
  SignedInContext,
} from './state.ts'

/** A page or a form of the dashboard. */
export type Page<O> = PageFacts &
  (
    | {
        /** Role that it needs, in addition to `admin`; every role includes `viewer`. */
        readonly role: Role
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
  /** Of a POST: the page that shows the form. Its path is a prefix of the path of the action. */
  readonly form?: string
  /** Of a POST: by the action in the audit log. */
  readonly done?: Readonly<Record<string, Done>>
  /** Name in the menu. */
  readonly menu?: string
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
      open: (ctx) => (page.role === null ? page.run(ctx, options) : page.run(requireSignedIn(ctx), options)),
    }))
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
  const entries = all.map((page) => {
    const [method, path] = page.route.split(' ')
    return { ...page, method, path, pattern: new RegExp(`^${path.replaceAll(/:\w+/g, '[^/]+')}$`) }
  })
  const dones = new Map(entries.flatMap(({ done = {} }) => Object.entries(done)))
  const find = (method: string, path: string) => {
    const asked = method === 'HEAD' ? 'GET' : method
    return entries.filter((entry) => entry.method === asked && entry.pattern.test(path))
  }
  const rolesFor = (method: string, path: string): Role[] => find(method, path).flatMap(({ role }) => role ?? [])
  return {
    rolesFor,
    isPermitted: (role: Role, method: string, path: string): boolean => {
      const needed = rolesFor(method, path)
      return needed.length > 0 && needed.every((one) => hasRole(role, one))
    },
    findFormPage: (action: string): string | null => {
      const form = find('POST', action).find((entry) => entry.form !== undefined)?.form
      const given = action.split('/')
      const parts = form?.split('/').map((part, i) => (part.startsWith(':') ? given[i] : part))
      return parts?.join('/') ?? null
    },
    isSearchPage: (path: string): boolean => find('GET', path).some(({ isSearch }) => isSearch === true),
    findDone: (action) => dones.get(action),
    menu: entries.flatMap(({ path, menu }) => (menu === undefined ? [] : [[path, menu] as const])),
  }
}

function hasRole(role: Role, needed: Role): boolean {
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
