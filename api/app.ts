import type Router from '@koa/router'
import Koa from 'koa'
import { storefrontCors } from './middleware/cors.ts'
import { translateErrors } from './middleware/errors.ts'
import { trimForwarded } from './middleware/forwarded-headers.ts'
import { requestContext } from './middleware/request-context.ts'
import { traceRequests } from './middleware/trace.ts'
import type { RequestRecorder } from './request-recorder.ts'
import { DrapeError } from './shared/errors.ts'
import type { Log } from './shared/log.ts'
import type { Metrics } from './shared/metrics.ts'
import type { AppState } from './state.ts'

/** A group of routes with the middleware they share. */
export type Routes = Router<AppState>

export interface AppOptions {
  readonly log: Log
  readonly metrics: Metrics
  readonly routes: readonly Routes[]
  readonly development?: boolean
  /** Reverse proxies before us, each of which adds whom it serves to `X-Forwarded-For`. */
  readonly proxyHops?: number
  /** Gets every request of an account. */
  readonly record?: RequestRecorder['record']
}

/** The API as a Koa application: context, errors, then every group of routes; what none of them knows is `ROUTE_NOT_FOUND`. */
export function createApp({
  log,
  metrics,
  routes,
  development = false,
  proxyHops = 0,
  record,
}: AppOptions): Koa<AppState> {
  // What stands before the addresses that our own proxies have added is the caller's invention.
  const app = new Koa<AppState>({ proxy: proxyHops > 0, maxIpsCount: proxyHops })
  app.use(trimForwarded)
  app.use(traceRequests())
  app.use(requestContext({ log, metrics, record }))
  app.use(storefrontCors({ development }))
  app.use(translateErrors())
  app.use(refuseTarget)
  for (const group of routes) app.use(group.routes())
  app.use(refuseRoute)
  // Everything that belongs in an answer has been translated; what remains are sockets that callers closed.
  app.on('error', (error: Error & { code?: string }) => log.debug({ err: error }, 'connection error'))
  return app
}

/** Koa reads a query in a time that grows with the square of the parameters of one name. */
const MAX_PARAMETERS = 200

const refuseTarget: Koa.Middleware<AppState> = (ctx, next) => {
  // Nothing has U+0000 in its name, and Postgres refuses to look for it.
  if (ctx.path.includes('%00')) throw new DrapeError('ROUTE_NOT_FOUND', 'The route does not exist.')
  if (ctx.querystring.split('&', MAX_PARAMETERS + 1).length > MAX_PARAMETERS) {
    throw new DrapeError('VALIDATION_FAILED', `The query has more than ${MAX_PARAMETERS} parameters.`)
  }
  return next()
}

/** The interface has removed it and promises 404, although the path knows other methods. */
const REMOVED = { method: 'PATCH', path: /^\/tryon\/v1\/products\/[^/]+\/?$/ }

/** Comes last: a path that some route has under another method is 405 with `Allow`, any other is 404. */
const refuseRoute: Koa.Middleware<AppState> = (ctx) => {
  const matched = (ctx as { matched?: { methods: string[] }[] }).matched ?? []
  const methods = [...new Set(matched.flatMap((layer) => layer.methods))]
  const isRemoved = ctx.method === REMOVED.method && REMOVED.path.test(ctx.path)
  if (methods.length === 0 || isRemoved) throw new DrapeError('ROUTE_NOT_FOUND', 'The route does not exist.')
  ctx.set('Allow', methods.join(', '))
  throw new DrapeError('METHOD_NOT_ALLOWED', 'The route does not support this method.')
}
