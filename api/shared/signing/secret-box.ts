/**
 * Where a secret is stored. A sealed secret opens only in this place, so that secrets cannot be swapped between rows.
 */
export interface SecretPlace {
  readonly table: string
  readonly column: string
  /** ID of the row. */
  readonly id: string
}

/** The configured keys cannot decrypt a stored secret. */
export class SecretClosed extends Error {}

/** Encrypts secrets before they are stored, and decrypts stored secrets. */
export interface SecretBox {
  /** ID of the current encryption key; null without encryption. */
  readonly keyId: string | null
  /** Encrypts a secret for storage. */
  seal(secret: string, place: SecretPlace): Promise<string>
  /**
   * Decrypts a stored secret. A text that was stored before encryption was introduced is the secret itself.
   * @throws SecretClosed when its key is not configured, or when it was changed or belongs to another place
   */
  open(stored: string, place: SecretPlace): Promise<string>
  /** Encrypts a stored secret with the current key; null when it already is. */
  rewrap(stored: string, place: SecretPlace): Promise<string | null>
}

/** `v1.<key id>.<nonce>.<ciphertext and tag>`, the last two as base64url. */
const SEALED = /^v1\.(\w{16})\.([\w-]{16})\.([\w-]{22,})$/

/** Prefix of all texts that this key encrypts. */
export function sealedPrefix(keyId: string): string {
  return `v1.${keyId}.`
}

/** The parts of an encrypted secret; null when the text is not encrypted. */
export function readSealed(stored: string) {
  const [, keyId, nonce, ciphertext] = SEALED.exec(stored) ?? []
  return keyId === undefined ? null : { keyId, nonce, ciphertext }
}

/** Stores secrets unencrypted, for development and for tools that use no secrets. */
export const clearText: SecretBox = {
  keyId: null,
  seal: async (secret) => secret,
  open: async (stored, place) => {
    if (readSealed(stored) === null) return stored
    throw new SecretClosed(`${nameOf(place)} is encrypted. Set SECRETS_KEY to the value that the API uses.`)
  },
  rewrap: async () => null,
}

/** Name of a secret in error messages. */
export function nameOf({ table, column, id }: SecretPlace): string {
  return `${table}.${column} of ${id}`
}
