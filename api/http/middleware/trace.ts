import type { Middleware } from 'koa'
import { activeTraceIds, isTracing, withRequestSpan } from '../../shared/telemetry/telemetry.ts'
import type { AppState } from '../state.ts'

/** Records every request as a span and returns its trace ID in `X-Trace-Id`. */
export const traceRequest: Middleware<AppState> = (ctx, next) => {
  if (!isTracing()) return next()
  return withRequestSpan({ method: ctx.method, headers: ctx.headers, scheme: ctx.protocol }, async () => {
    const { trace_id: traceId } = activeTraceIds()
    if (traceId !== undefined) ctx.set('X-Trace-Id', traceId)
    await next()
    const route = (ctx as { _matchedRoute?: string })._matchedRoute
    return { route, status: ctx.status, accountId: ctx.state.account?.id }
  })
}
