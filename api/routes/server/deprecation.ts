import type { AppContext } from '../../state.ts'
import type { Translated } from './legacy.ts'

/** The day on which version 1.4.0 of the interface replaced the older shapes, in the form of RFC 9745: `@` and Unix seconds. */
const DEPRECATED_SINCE = `@${Date.UTC(2026, 5, 17) / 1000}`

/** Sets the `Deprecation` header on the answer to a request in an older shape. */
export function markDeprecated(ctx: AppContext, { isDeprecated }: Translated): void {
  if (isDeprecated) ctx.set('Deprecation', DEPRECATED_SINCE)
}
