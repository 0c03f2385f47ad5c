import { DrapeError } from '../../shared/contract/errors.ts'
import { compileCheck, Type } from '../../shared/contract/schema.ts'

/** Decides whether a person solved a challenge. Implement this interface for another provider. */
export interface CaptchaProvider {
  /**
   * Whether the provider confirms the response of its challenge.
   * @throws DrapeError SERVICE_UNAVAILABLE (retryable) when the provider does not respond
   */
  verify(response: string, address: string): Promise<boolean>
}

const TIMEOUT_MS = 5000
const checkResponse = compileCheck(Type.Object({ success: Type.Boolean() }))

/**
 * A provider with a verification endpoint that takes `secret`, `response` and `remoteip` as a form and returns `{
 * "success": boolean }`: Cloudflare Turnstile, hCaptcha, reCAPTCHA.
 */
export function createSiteVerify({ url, secret }: { url: string; secret: string }): CaptchaProvider {
  return {
    verify: async (response, remoteip) => {
      const answer = await fetch(url, {
        method: 'POST',
        body: new URLSearchParams({ secret, response, remoteip }),
        redirect: 'error',
        signal: AbortSignal.timeout(TIMEOUT_MS),
      })
        .then((received) => (received.ok ? received.json() : Promise.reject(new Error(`answered ${received.status}`))))
        .catch((cause) => {
          throw unavailable(cause)
        })
      const checked = checkResponse(answer)
      if (!checked.ok) throw unavailable(new Error('unexpected response format'))
      return checked.value.success
    },
  }
}

function unavailable(cause: unknown): DrapeError {
  const message = 'The CAPTCHA provider is unavailable. Try again later.'
  return new DrapeError('SERVICE_UNAVAILABLE', message, { retryable: true, cause })
}
