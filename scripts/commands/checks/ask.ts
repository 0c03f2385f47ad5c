import { CheckFailure } from '../failure.ts'

const ANSWER_MS = 15_000

/**
 * The response with that status; a redirect would take the key along. Throws a `CheckFailure` that describes any other response, or
 * none.
 */
export async function expectStatus(status: number, url: string, init: RequestInit = {}): Promise<Response> {
  const signal = AbortSignal.timeout(ANSWER_MS)
  const answer = await fetch(url, { ...init, redirect: 'manual', signal }).catch((cause: Error) => {
    const reason = cause.cause instanceof Error ? cause.cause.message : cause.message
    throw new CheckFailure(`${url} does not respond: ${reason}`)
  })
  if (answer.status === status) return answer
  const target = answer.headers.get('location')
  const text = target === null ? (await answer.text()).slice(0, 500) : `it redirects to ${target}`
  throw new CheckFailure(`${url} answers ${answer.status}, not ${status}: ${text}`)
}
