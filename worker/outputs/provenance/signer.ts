import { setTimeout as sleep } from 'node:timers/promises'
import { createSignResult, type Made, type Signed, SigningUnavailable, type SignResult } from './provenance.ts'
import type { FindSigningKey, SigningKey } from './signing-key.ts'

export interface Signer {
  /** Throws SigningUnavailable after the last retry. */
  readonly sign: SignResult
  /** Whether the key can sign now. Asks the key service unless it has signed within `PROVEN_MS`. */
  check(): Promise<boolean>
  /** Why the key could not sign the last time; null if it could. */
  fault(): Error | null
}

export interface SignerOptions {
  readonly findKey: FindSigningKey
  /** Called with each key before it signs its first result. */
  readonly onKey: (key: SigningKey) => void
  /** Called when the key starts or stops being usable. */
  readonly onChange: (fault: Error | null) => void
  /** Pauses before a result is signed again: the inference costs more than the wait. */
  readonly retryMs?: readonly number[]
}

/** Time for which a signature proves that the key service can sign. */
const PROVEN_MS = 10_000
const PROBE = Buffer.from('drape: check that this key can sign')

/** Signs results with the key that is current at that time, and knows whether the key can sign. */
export function createSigner({ findKey, onKey, onChange, retryMs = [500, 2000] }: SignerOptions): Signer {
  const signs = new WeakMap<SigningKey, Promise<SignResult>>()
  let fault: Error | null = new Error('The signing key has not been checked yet')
  let provenAt = Number.NEGATIVE_INFINITY
  let checking: Promise<boolean> | null = null

  const note = (found: Error | null) => {
    provenAt = found === null ? performance.now() : Number.NEGATIVE_INFINITY
    const isChange = found?.message !== fault?.message
    fault = found
    if (isChange) onChange(fault)
  }
  const prepare = (key: SigningKey): Promise<SignResult> => {
    const known = signs.get(key)
    if (known !== undefined) return known
    const made = createSignResult(key).then((signResult) => {
      onKey(key)
      return signResult
    })
    signs.set(key, made)
    made.catch(() => signs.delete(key))
    return made
  }
  const check = async (): Promise<boolean> => {
    try {
      const key = await findKey()
      await prepare(key)
      await key.sign(PROBE)
      note(null)
    } catch (error) {
      note(new SigningUnavailable(error))
    } finally {
      checking = null
    }
    return fault === null
  }
  const sign = async (made: Made): Promise<Signed> => {
    const signResult = await findKey()
      .then(prepare)
      .catch((cause) => {
        throw new SigningUnavailable(cause)
      })
    const signed = await signResult(made)
    note(null)
    return signed
  }
  return {
    check: async () => {
      if (performance.now() - provenAt < PROVEN_MS) return true
      checking ??= check()
      return checking
    },
    sign: async (made) => {
      for (let retries = 0; ; retries++) {
        try {
          return await sign(made)
        } catch (error) {
          if (!(error instanceof SigningUnavailable)) throw error
          // The worker takes no other job until the key is checked again.
          note(error)
          if (retries === retryMs.length) throw error
          await sleep(retryMs[retries])
        }
      }
    },
    fault: () => fault,
  }
}
