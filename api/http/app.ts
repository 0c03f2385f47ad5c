import type Router from '@koa/router'
import Koa from 'koa'
import { DrapeError, type ErrorCode } from '../shared/contract/errors.ts'
import type { Log } from '../shared/telemetry/log.ts'
import type { Metrics } from '../shared/telemetry/metrics.ts'
import { html } from './answers/html.ts'
import { pagePolicy, presentTextPage } from './answers/public-page.ts'
import { storefrontCors } from './middleware/cors.ts'
import { translateErrors } from './middleware/errors.ts'
import { trimForwarded } from './middleware/forwarded-headers.ts'
import { refuseByPage } from './middleware/refuse-by-page.ts'
import { refuseTarget } from './middleware/refuse-target.ts'
import { requestContext } from './middleware/request-context.ts'
import { traceRequest } from './middleware/trace.ts'
import type { RequestRecorder } from './request-recorder.ts'
import type { AppState } from './state.ts'

/** Routes with shared middleware. */
export type Routes = Router<AppState>

export interface AppOptions {
  readonly log: Log
  readonly metrics: Metrics
  readonly routes: readonly Routes[]
  readonly development?: boolean
  /** Number of trusted reverse proxies, each of which appends its client to `X-Forwarded-For`. */
  readonly proxyHops?: number
  /** Gets every request of an account. */
  readonly record?: RequestRecorder['record']
}

/** The API as a Koa application: context, errors, then the routes. Unknown paths return `ROUTE_NOT_FOUND`, or a page to browsers. */
export function createApp({
  log,
  metrics,
  routes,
  development = false,
  proxyHops = 0,
  record,
}: AppOptions): Koa<AppState> {
  // A caller can forge every address before those that our own proxies appended.
  const app = new Koa<AppState>({ proxy: proxyHops > 0, maxIpsCount: proxyHops })
  app.use(trimForwarded)
  app.use(traceRequest)
  app.use(requestContext({ log, metrics, record }))
  app.use(storefrontCors({ development }))
  app.use(translateErrors())
  app.use(refuseByPage({ present: presentMissing, policy: pagePolicy() }))
  app.use(refuseTarget)
  for (const group of routes) app.use(group.routes())
  app.use(refuseRoute)
  // All other errors have become responses; the remaining ones are sockets that callers closed.
  app.on('error', (error: Error & { code?: string }) => log.debug({ err: error }, 'connection error'))
  return app
}

/** For browsers; programs get the error as JSON. */
function presentMissing(code: ErrorCode): string | null {
  if (code !== 'ROUTE_NOT_FOUND') return null
  const content = html`
        <p>The address is wrong, or its content has been deleted.</p>
        <p><a href="/">To the start page</a></p>`
  return presentTextPage({ heading: 'Page not found', content, serviceName: 'Error 404', language: 'en' })
}

/** The interface has removed this route and promises 404, although the path supports other methods. */
const REMOVED = { method: 'PATCH', path: /^\/tryon\/v1\/products\/[^/]+\/?$/ }

/** Runs last: returns 405 with `Allow` if the path supports other methods, otherwise 404. */
const refuseRoute: Koa.Middleware<AppState> = (ctx) => {
  const matched = (ctx as { matched?: { methods: string[] }[] }).matched ?? []
  const methods = [...new Set(matched.flatMap((layer) => layer.methods))]
  const isRemoved = ctx.method === REMOVED.method && REMOVED.path.test(ctx.path)
  if (methods.length === 0 || isRemoved) throw new DrapeError('ROUTE_NOT_FOUND', 'The route does not exist.')
  ctx.set('Allow', methods.join(', '))
  throw new DrapeError('METHOD_NOT_ALLOWED', 'The route does not support this method.')
}
