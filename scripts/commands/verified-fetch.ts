import { readBounded } from '../../api/shared/network/bounded-body.ts'

/** Time limit of the check in ms. */
const CHECK_MS = 5000
/** Max bytes of the response to the check that are read. */
const MAX_BYTES = 65_536
/** Misdirected Request: not retried. */
export const MISDIRECTED = 421

const TRANSIENT_STATUSES = [429, 500, 502, 503, 504]

/**
 * A `fetch` for the service at `url`. Before its first request there it checks, without the key and without data, that the
 * program at the address is Drape: a request without a key must be refused as Drape refuses it. Otherwise nothing is sent,
 * and the response is 421 with the code `UNEXPECTED_ANSWER`. Requests to other addresses, such as links to images, are not
 * checked.
 */
export function createVerifiedFetch(url: string, { checkMs = CHECK_MS }: { checkMs?: number } = {}): typeof fetch {
  const base = `${url.replace(/\/+$/, '')}/`
  let isVerified = false
  return async (input, init) => {
    if (!String(input).startsWith(base)) return fetch(input, init)
    if (!isVerified) {
      const refusal = await checkIdentity(base, { checkMs, signal: init?.signal ?? undefined })
      if (refusal !== null) return refusal
      isVerified = true
    }
    return fetch(input, init)
  }
}

/**
 * Null when the program is Drape; otherwise the response of the call, which says so. A transient error of the program, or of a
 * proxy before it, is the response as it is, so that the caller retries it. Throws as `fetch` does.
 */
async function checkIdentity(
  base: string,
  { checkMs, signal }: { checkMs: number; signal: AbortSignal | undefined },
): Promise<Response | null> {
  const timedOut = AbortSignal.timeout(checkMs)
  try {
    const response = await fetch(`${base}tryon/v1/account/credits`, {
      headers: { accept: 'application/json' },
      redirect: 'manual',
      signal: signal ? AbortSignal.any([signal, timedOut]) : timedOut,
    })
    const { status, headers } = response
    if (TRANSIENT_STATUSES.includes(status)) return new Response(await readStart(response), { status, headers })
    const location = headers.get('location')
    if (location !== null && status < 400) {
      await response.body?.cancel()
      return misdirected(`The program at ${base} redirects to another address.`)
    }
    const isDrape = codeOf(await readStart(response)) === 'MISSING_API_KEY' && status === 401
    return isDrape ? null : misdirected(`The program at ${base} is not Drape (status ${status}).`)
  } catch (error) {
    if (!timedOut.aborted || signal?.aborted) throw error
    return misdirected(`The program at ${base} did not identify itself as Drape within ${checkMs / 1000} s.`)
  }
}

function misdirected(message: string): Response {
  const text = `${message} Neither the key nor data was sent. Set DRAPE_URL to the address of the service.`
  return Response.json({ code: 'UNEXPECTED_ANSWER', message: text }, { status: MISDIRECTED })
}

/** At most the first bytes of the body. */
async function readStart({ body }: Response): Promise<string> {
  return (await readBounded(body, MAX_BYTES)).bytes.toString()
}

function codeOf(text: string): unknown {
  try {
    return (JSON.parse(text) as { code?: unknown } | null)?.code
  } catch {
    return undefined
  }
}
