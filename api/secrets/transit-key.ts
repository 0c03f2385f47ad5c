import { createHash } from 'node:crypto'
import { DrapeError } from '../shared/errors.ts'
import type { KeyEncryptionKey } from './key.ts'

export interface TransitKeyOptions {
  /** URL of the server and the key, e.g. `https://bao.example:8200/v1/transit/keys/drape`. */
  readonly url: string
  /** Called for each request: an agent renews the token. */
  readonly readToken: () => Promise<string>
  readonly timeoutMs?: number
}

/** `https://host[/base]/v1/<mount>/keys/<name>` */
export const TRANSIT_KEY_URL = /^(https?:\/\/.+\/v1\/.+)\/keys\/([\w.-]+)$/

/**
 * A key of the transit engine of OpenBao or HashiCorp Vault: the key never leaves the server. Key rotation on the
 * server needs no change here, since its ciphertexts name the key version.
 */
export function createTransitKey({ url, readToken, timeoutMs = 5000 }: TransitKeyOptions): KeyEncryptionKey {
  const [, mount, name] = TRANSIT_KEY_URL.exec(url) ?? []
  if (mount === undefined) throw new Error(`${url} is not the URL of a transit key: https://host/v1/transit/keys/NAME`)

  async function call(action: 'encrypt' | 'decrypt', body: Record<string, string>): Promise<Record<string, unknown>> {
    const token = await readToken().catch((cause) => {
      throw unavailable('needs a token, and its file cannot be read', cause)
    })
    const response = await fetch(`${mount}/${action}/${name}`, {
      method: 'POST',
      headers: { 'x-vault-token': token, 'content-type': 'application/json' },
      body: JSON.stringify(body),
      redirect: 'error',
      signal: AbortSignal.timeout(timeoutMs),
    }).catch((cause) => {
      throw unavailable('does not respond', cause)
    })
    const answer = (await response.json().catch(() => null)) as TransitAnswer | null
    if (response.ok && answer?.data) return answer.data
    if (response.status === 400) {
      throw new Error(`The key service refused to ${action} a data key: ${answer?.errors}`)
    }
    throw unavailable(`answered ${response.status}`, new Error(String(answer?.errors ?? 'no reason given')))
  }

  return {
    id: `transit-${createHash('sha256').update(url).digest('hex').slice(0, 16)}`,
    wrap: async (dataKey) => {
      const { ciphertext } = await call('encrypt', { plaintext: dataKey.toString('base64') })
      return Buffer.from(String(ciphertext))
    },
    unwrap: async (wrapped) => {
      const { plaintext } = await call('decrypt', { ciphertext: wrapped.toString() })
      return Buffer.from(String(plaintext), 'base64')
    },
  }
}

interface TransitAnswer {
  readonly data?: Record<string, unknown>
  readonly errors?: readonly string[]
}

/** Callers can read the message of a DrapeError, so the reason is in the cause. */
function unavailable(what: string, reason: unknown): DrapeError {
  const cause = new Error(`The key service ${what}`, { cause: reason })
  return new DrapeError('SERVICE_UNAVAILABLE', 'The service is temporarily unavailable.', { retryable: true, cause })
}
