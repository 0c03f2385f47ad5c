import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Log } from '../telemetry/log.ts'
import type { Metrics } from '../telemetry/metrics.ts'
import { createHttpServer } from './http-server.ts'

/** A named readiness check: resolves if the condition holds, throws the reason otherwise. */
export type ReadyChecks = Readonly<Record<string, () => Promise<void>>>

/** Answers requests for one more path, such as figures for other programs. */
export type Page = () => Promise<{ readonly status: number; readonly body: unknown }>

/** Query of `/readyz` for startup probes: a process that waits for its files is alive. */
export const ACCEPT_WAITING = 'accept=waiting'

/** A probe is one short request. */
const REQUEST_MS = 10_000

/**
 * Serves `/healthz` (the process responds), `/readyz` (all checks pass; 503 names the failed checks), `/readyz?accept=waiting`
 * (all checks pass or the process waits for its files), `/metrics` and `pages`, by path. A check that takes longer than 1 s counts as failed.
 */
export function createProbeServer({
  metrics,
  checks,
  isWaiting = () => false,
  pages = {},
  log,
}: {
  metrics: Metrics
  checks: ReadyChecks
  /** Whether the process cannot be ready yet, because its files are downloaded. */
  isWaiting?: () => boolean
  pages?: Readonly<Record<string, Page>>
  log: Pick<Log, 'error'>
}): Server {
  const handle = async (request: IncomingMessage, response: ServerResponse) => {
    const url = URL.parse(request.url ?? '/', 'http://probe')
    const path = url?.pathname
    if (path === '/healthz') return answer(response, 200, { status: 'ok' })
    if (path === '/readyz') {
      const mayWait = url?.search === `?${ACCEPT_WAITING}`
      if (mayWait && isWaiting()) return answer(response, 200, { status: 'waiting' })
      const failed = await failedChecks(checks)
      const ready = Object.keys(failed).length === 0
      for (const check of Object.keys(checks)) metrics.ready.set({ check }, check in failed ? 0 : 1)
      return answer(response, ready ? 200 : 503, ready ? { status: 'ready' } : { status: 'not ready', failed })
    }
    if (path === '/metrics') {
      const { type, text } = await metrics.scrape(request.headers.accept)
      response.writeHead(200, { 'content-type': type })
      return response.end(text)
    }
    const page = path !== undefined && Object.hasOwn(pages, path) ? pages[path] : undefined
    const { status, body } = page ? await page() : { status: 404, body: { status: 'unknown' } }
    return answer(response, status, body)
  }
  return createHttpServer(handle, { name: 'probes', log, headersMs: REQUEST_MS, requestMs: REQUEST_MS })
}

async function failedChecks(checks: ReadyChecks): Promise<Record<string, string>> {
  const results = await Promise.all(
    Object.entries(checks).map(async ([name, check]) => {
      try {
        await within(1000, check())
        return null
      } catch (error) {
        return [name, error instanceof Error ? error.message : String(error)] as const
      }
    }),
  )
  return Object.fromEntries(results.filter((result) => result !== null))
}

function within(ms: number, promise: Promise<void>): Promise<void> {
  let timer: NodeJS.Timeout
  const late = new Promise<void>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`no response within ${ms} ms`)), ms)
  })
  return Promise.race([promise, late]).finally(() => clearTimeout(timer))
}

function answer(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json' })
  response.end(JSON.stringify(body))
}
