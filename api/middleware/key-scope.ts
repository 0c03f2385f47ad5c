import type { Middleware } from 'koa'
import { assertScope, type Scope } from '../keys/restrictions.ts'
import type { AppState } from '../state.ts'

/** The scopes of which a key needs one, by route: `GET /tryon/v1/generations/{id}`. */
export type ScopeTable = ReadonlyMap<string, readonly Scope[]>

/** Refuses keys without the scope of the route. A route that is not in the table is for keys without restrictions. Throws `FORBIDDEN`. */
export function keyScope(scopes: ScopeTable): Middleware<AppState> {
  return function authorize(ctx, next) {
    const { _matchedRoute: route = '' } = ctx as { _matchedRoute?: string }
    const method = ctx.method === 'HEAD' ? 'GET' : ctx.method
    assertScope(ctx.state.key, scopes.get(`${method} ${route.replace(/:(\w+)/g, '{$1}')}`) ?? [])
    return next()
  }
}
