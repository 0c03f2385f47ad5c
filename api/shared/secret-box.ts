/** Where a secret is stored. A sealed secret opens in its own place only, so that secrets cannot be swapped between rows. */
export interface SecretPlace {
  readonly table: string
  readonly column: string
  /** Of the row. */
  readonly id: string
}

/** A stored secret cannot be opened with the keys that are configured. */
export class SecretClosed extends Error {}

/** Seals secrets before they are stored and opens stored ones. */
export interface SecretBox {
  /** Of the key that encrypts; null when none does. */
  readonly keyId: string | null
  /** Text to store instead of the secret. */
  seal(secret: string, place: SecretPlace): Promise<string>
  /**
   * The secret behind a stored text. A text that was stored before secrets were sealed is the secret itself.
   * @throws SecretClosed when its key is not configured, or when it was changed or belongs elsewhere
   * @throws DrapeError SERVICE_UNAVAILABLE while the key service does not answer
   */
  open(stored: string, place: SecretPlace): Promise<string>
  /** The text to store instead of this one: sealed with the current key. Null when it is so already. */
  rewrap(stored: string, place: SecretPlace): Promise<string | null>
}

/** `v1.<key id>.<wrapped data key>.<nonce>.<ciphertext and tag>`, the last three as base64url. */
const SEALED = /^v1\.([\w-]{1,64})\.([\w-]{40,4000})\.([\w-]{16})\.([\w-]{22,})$/

/** What every text that is sealed with this key starts with. */
export function sealedPrefix(keyId: string): string {
  return `v1.${keyId}.`
}

/** The parts of a sealed text; null for one that is not sealed. */
export function readSealed(stored: string) {
  const [, keyId, wrapped, nonce, ciphertext] = SEALED.exec(stored) ?? []
  return keyId === undefined ? null : { keyId, wrapped, nonce, ciphertext }
}

/** Stores secrets as they are, for development and for tools that touch none. */
export const clearText: SecretBox = {
  keyId: null,
  seal: async (secret) => secret,
  open: async (stored, place) => {
    if (readSealed(stored) === null) return stored
    throw new SecretClosed(`${nameOf(place)} is encrypted. Set SECRETS_KEY, as the API has it.`)
  },
  rewrap: async () => null,
}

/** What errors call a secret. */
export function nameOf({ table, column, id }: SecretPlace): string {
  return `${table}.${column} of ${id}`
}
