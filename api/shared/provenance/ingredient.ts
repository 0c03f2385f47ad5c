import { createHmac, randomBytes } from 'node:crypto'

const PREFIX = 'urn:drape:hmac-sha256:'

/** 256 random bits as a hex string, for one result. */
export function makeIngredientSalt(): string {
  return randomBytes(32).toString('hex')
}

/**
 * Salted hash that a manifest uses for an image that was used for a result. A plain hash would let anyone with a photo
 * find out whether a public result was made from it. Only the account of the generation can read the salt.
 */
export function nameIngredient(bytes: Uint8Array, salt: string): string {
  return PREFIX + createHmac('sha256', Buffer.from(salt, 'hex')).update(bytes).digest('hex')
}
