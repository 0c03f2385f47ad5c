import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto'
import { createCache } from '../shared/process/cache.ts'
import {
  nameOf,
  readSealed,
  type SecretBox,
  SecretClosed,
  type SecretPlace,
  sealedPrefix,
} from '../shared/signing/secret-box.ts'
import type { KeyEncryptionKey } from './key.ts'

/** Cached unwrapped data keys, so that a key service is not called for each use of a secret. */
const MAX_DATA_KEYS = 1000
const KEY_BYTES = 32
const NONCE_BYTES = 12
const TAG_BYTES = 16

/**
 * Envelope encryption: each secret is encrypted by its own data key (AES-256-GCM, bound to its place), and the data key
 * is wrapped by a key-encryption key. The first key wraps; every key unwraps.
 */
export function createSecretBox(keys: readonly [KeyEncryptionKey, ...KeyEncryptionKey[]]): SecretBox {
  const [current] = keys
  const dataKeys = createCache<Promise<Buffer>>({ max: MAX_DATA_KEYS })

  function unwrap(keyId: string, wrapped: string, place: SecretPlace): Promise<Buffer> {
    const known = dataKeys.get(wrapped)
    if (known !== undefined) return known
    const key = keys.find(({ id }) => id === keyId)
    if (key === undefined) {
      const message = `${nameOf(place)} is encrypted by the key ${keyId}, which is not configured: add it to SECRETS_KEY.`
      throw new SecretClosed(message)
    }
    const unwrapped = key.unwrap(Buffer.from(wrapped, 'base64url'))
    dataKeys.set(wrapped, unwrapped)
    unwrapped.catch(() => dataKeys.delete(wrapped))
    return unwrapped
  }

  const box: SecretBox = {
    keyId: current.id,

    seal: async (secret, place) => {
      const dataKey = randomBytes(KEY_BYTES)
      const nonce = randomBytes(NONCE_BYTES)
      const cipher = createCipheriv('aes-256-gcm', dataKey, nonce).setAAD(boundTo(place))
      const ciphertext = Buffer.concat([cipher.update(secret, 'utf8'), cipher.final(), cipher.getAuthTag()])
      const wrapped = await current.wrap(dataKey)
      const parts = [wrapped, nonce, ciphertext].map((bytes) => bytes.toString('base64url'))
      return `${sealedPrefix(current.id)}${parts.join('.')}`
    },

    open: async (stored, place) => {
      const sealed = readSealed(stored)
      if (sealed === null) return stored
      const dataKey = await unwrap(sealed.keyId, sealed.wrapped, place)
      try {
        const bytes = Buffer.from(sealed.ciphertext, 'base64url')
        const decipher = createDecipheriv('aes-256-gcm', dataKey, Buffer.from(sealed.nonce, 'base64url'))
          .setAAD(boundTo(place))
          .setAuthTag(bytes.subarray(-TAG_BYTES))
        return decipher.update(bytes.subarray(0, -TAG_BYTES), undefined, 'utf8') + decipher.final('utf8')
      } catch (cause) {
        throw new SecretClosed(`${nameOf(place)} was changed or moved: set the secret again.`, {
          cause,
        })
      }
    },

    rewrap: async (stored, place) => {
      if (readSealed(stored)?.keyId === current.id) return null
      return box.seal(await box.open(stored, place), place)
    },
  }
  return box
}

function boundTo({ table, column, id }: SecretPlace): Buffer {
  return Buffer.from(JSON.stringify(['drape secret', table, column, id]))
}
