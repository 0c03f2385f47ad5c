import Router from '@koa/router'
import type { Middleware } from 'koa'
import compress from 'koa-compress'
import type { Route } from './route.ts'
import type { AppContext, AppState } from './state.ts'

/** Union of the parts that all routes need. */
type PartsOf<R> = (R extends Route<infer Parts> ? (parts: Parts) => void : never) extends (parts: infer All) => void
  ? All
  : never

/**
 * Creates a router of these routes and passes `parts` to guards and handlers. Guards find the matched route in
 * `ctx.state.route`.
 */
export function mount<R extends Route<never>>(routes: readonly R[], parts: PartsOf<R>): Router<AppState>
export function mount<Parts>(routes: readonly Route<Parts>[], parts: Parts): Router<AppState> {
  const router = new Router<AppState>({ sensitive: true })
  for (const route of routes) {
    const enter = (ctx: AppContext, next: () => Promise<unknown>) => {
      ctx.state.route = route
      return next()
    }
    const answer = (ctx: AppContext) => route.answer(ctx, parts)
    const encode = route.compressed ? [keepUnencodable, compressJson] : []
    router.register(patternOf(route.path), [route.method], [...encode, enter, ...route.guards(parts), answer])
  }
  return router
}

/** Leaves bodies below 1 kB as they are. All clients know gzip, so that deflate and zstd are not needed. */
const compressJson = compress({ deflate: false, zstd: false })

/** Clients that accept no encoding at all receive the body as it is; the package would fail. */
const keepUnencodable: Middleware<AppState> = (ctx, next) => {
  if (!ctx.acceptsEncodings('br', 'gzip', 'identity')) ctx.compress = false
  return next()
}

/** `/tryon/v1/generations/{id}` in the router's syntax: `/tryon/v1/generations/:id`. */
function patternOf(path: string): string {
  return path.replace(/\{(\w+)\}/g, ':$1')
}
