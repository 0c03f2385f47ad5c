import type { Middleware } from 'koa'
import { assertScope } from '../../accounts/restrictions.ts'
import type { AppState } from '../state.ts'

/**
 * Rejects keys without a scope of the route. A route without scopes requires an unrestricted key. Throws `FORBIDDEN`.
 */
export function keyScope(): Middleware<AppState> {
  return function authorize({ state }, next) {
    assertScope(state.key, state.route.scopes ?? [])
    return next()
  }
}
