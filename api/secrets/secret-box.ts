import { createCipheriv, createDecipheriv, createHash, randomBytes } from 'node:crypto'
import {
  nameOf,
  readSealed,
  type SecretBox,
  SecretClosed,
  type SecretPlace,
  sealedPrefix,
} from '../shared/signing/secret-box.ts'

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

/** Encrypts each secret with the first key (AES-256-GCM, bound to its place); every key decrypts. */
export function createSecretBox(keys: readonly [Buffer, ...Buffer[]]): SecretBox {
  const [currentId] = keys.map(idOf)

  const box: SecretBox = {
    keyId: currentId,

    seal: async (secret, place) => {
      const nonce = randomBytes(NONCE_BYTES)
      const cipher = createCipheriv('aes-256-gcm', keys[0], nonce).setAAD(boundTo(place))
      const ciphertext = Buffer.concat([cipher.update(secret, 'utf8'), cipher.final(), cipher.getAuthTag()])
      return `${sealedPrefix(currentId)}${nonce.toString('base64url')}.${ciphertext.toString('base64url')}`
    },

    open: async (stored, place) => {
      const sealed = readSealed(stored)
      if (sealed === null) return stored
      const key = keys.find((bytes) => idOf(bytes) === sealed.keyId)
      if (key === undefined) {
        const message = `${nameOf(place)} is encrypted by the key ${sealed.keyId}, which is not configured: add it to SECRETS_KEY.`
        throw new SecretClosed(message)
      }
      try {
        const bytes = Buffer.from(sealed.ciphertext, 'base64url')
        const decipher = createDecipheriv('aes-256-gcm', key, Buffer.from(sealed.nonce, 'base64url'))
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
      if (readSealed(stored)?.keyId === currentId) return null
      return box.seal(await box.open(stored, place), place)
    },
  }
  return box
}

/** Derived from the bytes, so keys cannot be confused. */
function idOf(key: Buffer): string {
  return createHash('sha256').update('drape key id:').update(key).digest('hex').slice(0, 16)
}

function boundTo({ table, column, id }: SecretPlace): Buffer {
  return Buffer.from(JSON.stringify(['drape secret', table, column, id]))
}
