import { Pool } from 'undici'
import { bySize } from './size.ts'

type Headers = Readonly<Record<string, string>>

export interface Load {
  readonly url: string
  readonly method: 'GET' | 'POST'
  /** A function creates a new path per request. */
  readonly path: string | (() => string)
  /** A function creates new headers per request, and is called before that of the body. */
  readonly headers: Headers | (() => Headers)
  /** A function creates a new body per request. */
  readonly body?: string | (() => string)
}

/** Number of concurrent requests. */
export const AT_ONCE = 16
export const SECONDS = bySize({ smallest: 0.2, usual: 2 })

/** Responses per second of a server with `atOnce` concurrent requests. Throws if a request is rejected. */
export async function measureThroughput(
  { url, path, headers, body: sent, ...request }: Load,
  { atOnce = AT_ONCE, seconds = SECONDS }: { atOnce?: number; seconds?: number } = {},
): Promise<number> {
  const pool = new Pool(url, { connections: atOnce })
  const started = performance.now()
  const until = started + seconds * 1000
  let answers = 0
  const ask = async () => {
    while (performance.now() < until) {
      const { statusCode, body } = await pool.request({
        ...request,
        path: typeof path === 'function' ? path() : path,
        headers: typeof headers === 'function' ? headers() : headers,
        body: typeof sent === 'function' ? sent() : sent,
      })
      const text = await body.text()
      if (statusCode >= 300) throw new Error(`${request.method} ${url}: ${statusCode} ${text}`)
      answers++
    }
  }
  try {
    await Promise.all(Array.from({ length: atOnce }, ask))
    return (answers * 1000) / (performance.now() - started)
  } finally {
    await pool.close()
  }
}
