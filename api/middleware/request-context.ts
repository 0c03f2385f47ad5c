import { randomUUID } from 'node:crypto'
import type { Middleware } from 'koa'
import type { Log } from '../shared/log.ts'
import type { Metrics, RequestObserver } from '../shared/metrics.ts'
import type { AppState } from '../state.ts'

const USABLE_ID = /^[\w.:-]{1,128}$/

/** Gives every request an id (the caller's `X-Request-Id` when it is plain) and a log, measures it and writes one line at its end. */
export function requestContext({ log, metrics }: { log: Log; metrics: Metrics }): Middleware<AppState> {
  let inFlight = 0
  metrics.watch({ name: 'drape_http_requests_in_flight', help: 'HTTP requests in progress' }, () => [
    { value: inFlight },
  ])
  const observers = new Map<string, RequestObserver>()
  function observerOf(labels: { route: string; method: string; status: number }) {
    const name = `${labels.method} ${labels.status} ${labels.route}`
    const observer = observers.get(name) ?? metrics.observerOf(labels)
    observers.set(name, observer)
    return observer
  }

  return async function context(ctx, next) {
    const requestId = requestIdOf(ctx.req.headers['x-request-id'])
    ctx.state.requestId = requestId
    tellLater(ctx.state, () => log.child({ requestId }))
    ctx.set('X-Request-Id', requestId)
    const started = performance.now()
    inFlight++
    try {
      await next()
    } finally {
      inFlight--
      const ms = performance.now() - started
      const route = (ctx as { _matchedRoute?: string })._matchedRoute ?? 'unknown'
      if (!ctx.state.isSimulated) observerOf({ route, method: ctx.method, status: ctx.status })(ms / 1000)
      const accountId = ctx.state.account?.id
      log.info({ requestId, method: ctx.method, route, status: ctx.status, ms: Math.round(ms), accountId }, 'request')
    }
  }
}

/** The one that was sent, if it is plain, or a new one. */
export function requestIdOf(sent: string | readonly string[] | undefined): string {
  return typeof sent === 'string' && USABLE_ID.test(sent) ? sent : `req_${randomUUID()}`
}

/** Few requests write more than their last line. */
function tellLater(state: AppState, createLog: () => Log): void {
  let log: Log | undefined
  Object.defineProperty(state, 'log', {
    get: () => {
      log ??= createLog()
      return log
    },
  })
}
