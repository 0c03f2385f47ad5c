import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'
import { requestIdOf } from '../middleware/request-context.ts'
import { createCache } from '../shared/cache.ts'
import type { Metrics, RequestObserver } from '../shared/metrics.ts'
import type { AppContext } from '../state.ts'

export interface RepeatedAnswers {
  /** Keeps the answer of a request whose URL alone proves who sent it; of any other it does nothing. */
  keep(ctx: AppContext): void
  /** Gives answers that were kept, and leaves the rest to the listener. */
  before(listener: RequestListener): RequestListener
}

/** As long as a shop is believed to be what it was when it was looked up. */
const KEPT_MS = 3000
const KEPT_ANSWERS = 10_000

/** Such a request is to be proved in another way than by its URL. */
const OTHER_PROOFS = ['x-drape-signature', 'x-drape-shop']

interface Kept {
  /** Names and values in turn. */
  readonly headers: readonly string[]
  readonly body: string
  readonly observer: RequestObserver
}

/**
 * A proxy signs shop, customer and second: all guests that open a shop in the same second ask by the same URL, and are due the
 * same answer. Repeated ones are measured, but leave neither a line in the log nor a span.
 */
export function createRepeatedAnswers({
  metrics,
  now,
}: {
  metrics: Pick<Metrics, 'observerOf'>
  now?: () => number
}): RepeatedAnswers {
  const kept = createCache<Kept>({ max: KEPT_ANSWERS, ms: KEPT_MS, now })
  const find = ({ method, url = '', headers }: IncomingMessage): Kept | undefined => {
    const known = method === 'GET' ? kept.get(url) : undefined
    return known && !OTHER_PROOFS.some((name) => name in headers) ? known : undefined
  }
  return {
    keep: (ctx) => {
      if (ctx.method !== 'GET' || ctx.state.shop?.platform !== 'shopify') return
      const route = (ctx as { _matchedRoute?: string })._matchedRoute ?? 'unknown'
      const observer = metrics.observerOf({ route, method: ctx.method, status: ctx.status })
      const body = JSON.stringify(ctx.body)
      kept.set(ctx.url, { headers: headersOf(ctx, body), body, observer })
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

function repeat({ headers, body }: Kept, request: IncomingMessage, response: ServerResponse): void {
  response.writeHead(200, [...headers, 'X-Request-Id', requestIdOf(request.headers['x-request-id'])])
  // It is ASCII, and as Latin-1 it needs no scan for other characters.
  response.end(body, 'latin1')
}

/** Those of the answer, but for what names a single request. */
function headersOf(ctx: AppContext, body: string): string[] {
  const named = Object.entries(ctx.response.headers).filter(([name]) => !['x-request-id', 'x-trace-id'].includes(name))
  return [...named.flatMap(([name, value]) => [name, String(value)]), 'content-length', String(Buffer.byteLength(body))]
}
