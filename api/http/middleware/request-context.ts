import { randomUUID } from 'node:crypto'
import type { Middleware } from 'koa'
import type { Log } from '../../shared/telemetry/log.ts'
import type { Metrics, RequestObserver } from '../../shared/telemetry/metrics.ts'
import type { RequestRecorder } from '../request-recorder.ts'
import type { AppState } from '../state.ts'

const USABLE_ID = /^[\w.:-]{1,128}$/

/**
 * Gives every request an ID (the caller's `X-Request-Id` when it has a simple format) and a logger, records metrics and
 * logs one line at its end. No response is stored unless its route allows it. `record` receives the requests of accounts, without bodies, path values, queries and addresses.
 */
export function requestContext({
  log,
  metrics,
  record = () => {},
}: {
  log: Log
  metrics: Metrics
  record?: RequestRecorder['record']
}): Middleware<AppState> {
  // None of the fields of the last line is a secret, and looking for secrets takes longer than writing it.
  const lines = log.child({}, { redact: [] })
  const prototype = {
    requestId: '',
    // Most requests log only their last line.
    get log() {
      return log.child({ requestId: this.requestId })
    },
  }
  const observers = new Map<string, RequestObserver>()
  function observerOf(labels: { route: string; method: string; status: number }) {
    const name = `${labels.method} ${labels.status} ${labels.route}`
    const observer = observers.get(name) ?? metrics.observerOf(labels)
    observers.set(name, observer)
    return observer
  }

  return async function context(ctx, next) {
    const requestId = requestIdOf(ctx.req.headers['x-request-id'])
    ctx.state = Object.create(prototype)
    ctx.state.requestId = requestId
    ctx.set('X-Request-Id', requestId)
    // Unless the route says otherwise. Some proxies store every response without this header, also of callers with keys.
    ctx.set('Cache-Control', 'no-store')
    const started = performance.now()
    ctx.state.receivedAt = started
    const createdAt = new Date()
    try {
      await next()
    } finally {
      const ms = performance.now() - started
      const route = (ctx as { _matchedRoute?: string })._matchedRoute ?? 'unknown'
      if (!ctx.state.isSimulated) observerOf({ route, method: ctx.method, status: ctx.status })(ms / 1000)
      const { account, key, errorCode, route: operation }: Partial<AppState> = ctx.state
      const accountId = account?.id
      if (accountId !== undefined)
        record({
          requestId,
          accountId,
          createdAt,
          route: operation?.path ?? 'unknown',
          method: ctx.method,
          status: ctx.status,
          errorCode: errorCode ?? null,
          keyLastFour: key?.lastFour ?? null,
          durationMs: Math.round(ms),
        })
      lines.info({ requestId, method: ctx.method, route, status: ctx.status, ms: Math.round(ms), accountId }, 'request')
    }
  }
}

/** The sent ID if it has a simple format, otherwise a new one. */
export function requestIdOf(sent: string | readonly string[] | undefined): string {
  return typeof sent === 'string' && USABLE_ID.test(sent) ? sent : `req_${randomUUID()}`
}
