import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'
import { createCache } from '../../shared/process/cache.ts'
import type { Metrics, RequestObserver } from '../../shared/telemetry/metrics.ts'
import { requestIdOf } from '../middleware/request-context.ts'
import type { AppContext } from '../state.ts'

export interface RepeatedAnswers {
  /** Caches the response of a request that is authenticated by its URL alone; ignores other requests. */
  keep(ctx: AppContext): void
  /** Serves cached responses; passes other requests to the listener. */
  before(listener: RequestListener): RequestListener
}

/** Lifetime of a cached response. Equals the lifetime of a cached shop. */
const CACHE_MS = 3000
const MAX_CACHED = 10_000

/** A request with one of these headers is not authenticated by its URL. */
const OTHER_CREDENTIALS = ['x-drape-signature', 'x-drape-shop']

interface CachedResponse {
  /** Alternating names and values. */
  readonly headers: readonly string[]
  readonly body: string
  readonly observer: RequestObserver
}

/**
 * A proxy signs shop, customer and second, so all guests who open a shop within the same second send the same URL and
 * get the same response. Cached responses are counted in metrics, but neither logged nor traced.
 */
export function createRepeatedAnswers({
  metrics,
  now,
}: {
  metrics: Pick<Metrics, 'observerOf'>
  now?: () => number
}): RepeatedAnswers {
  const cache = createCache<CachedResponse>({ max: MAX_CACHED, ms: CACHE_MS, now })
  const find = ({ method, url = '', headers }: IncomingMessage): CachedResponse | undefined => {
    const known = method === 'GET' ? cache.get(url) : undefined
    return known && !OTHER_CREDENTIALS.some((name) => name in headers) ? known : undefined
  }
  return {
    keep: (ctx) => {
      if (ctx.method !== 'GET' || ctx.state.shop?.platform !== 'shopify') return
      const route = (ctx as { _matchedRoute?: string })._matchedRoute ?? 'unknown'
      const observer = metrics.observerOf({ route, method: ctx.method, status: ctx.status })
      const body = JSON.stringify(ctx.body)
      cache.set(ctx.url, { headers: headersOf(ctx, body), body, observer })
    },
    before: (listener) => (request, response) => {
      const known = find(request)
      if (known === undefined) return listener(request, response)
      const started = performance.now()
      repeat(known, request, response)
      known.observer((performance.now() - started) / 1000)
    },
  }
}

function repeat({ headers, body }: CachedResponse, request: IncomingMessage, response: ServerResponse): void {
  response.writeHead(200, [...headers, 'X-Request-Id', requestIdOf(request.headers['x-request-id'])])
  // The body is ASCII; Latin-1 avoids a scan for other characters.
  response.end(body, 'latin1')
}

/** Headers of the response, except those that identify a single request. */
function headersOf(ctx: AppContext, body: string): string[] {
  const named = Object.entries(ctx.response.headers).filter(([name]) => !['x-request-id', 'x-trace-id'].includes(name))
  return [...named.flatMap(([name, value]) => [name, String(value)]), 'content-length', String(Buffer.byteLength(body))]
}
