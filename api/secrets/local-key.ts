import { createCipheriv, createDecipheriv, createHash, randomBytes } from 'node:crypto'
import type { KeyEncryptionKey } from './key.ts'

const KEY_BYTES = 32
const NONCE_BYTES = 12
const TAG_BYTES = 16

/** Decodes 32 bytes from base64, base64url or a hex string; null for any other text. */
export function readKeyBytes(text: string): Buffer | null {
  if (/^[0-9a-f]{64}$/i.test(text)) return Buffer.from(text, 'hex')
  if (!/^[\w+/-]{43}=?$/.test(text)) return null
  const bytes = Buffer.from(text, 'base64')
  return bytes.length === KEY_BYTES ? bytes : null
}

/** A key that this process holds. Its ID is derived from its bytes, so keys cannot be confused. */
export function createLocalKey(key: Buffer): KeyEncryptionKey {
  const id = `local-${createHash('sha256').update('drape key id:').update(key).digest('hex').slice(0, 16)}`
  const bound = Buffer.from(`drape data key of ${id}`)
  return {
    id,
    wrap: async (dataKey) => {
      const nonce = randomBytes(NONCE_BYTES)
      const cipher = createCipheriv('aes-256-gcm', key, nonce).setAAD(bound)
      return Buffer.concat([nonce, cipher.update(dataKey), cipher.final(), cipher.getAuthTag()])
    },
    unwrap: async (wrapped) => {
      try {
        const decipher = createDecipheriv('aes-256-gcm', key, wrapped.subarray(0, NONCE_BYTES))
          .setAAD(bound)
          .setAuthTag(wrapped.subarray(-TAG_BYTES))
        return Buffer.concat([decipher.update(wrapped.subarray(NONCE_BYTES, -TAG_BYTES)), decipher.final()])
      } catch (cause) {
        throw new Error(`A data key of ${id} was changed: set the secret again.`, { cause })
      }
    },
  }
}
