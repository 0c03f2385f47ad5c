import { createHmac, randomBytes } from 'node:crypto'

const PREFIX = 'urn:drape:hmac-sha256:'

/** 256 bits as hex, for one result. */
export function makeIngredientSalt(): string {
  return randomBytes(32).toString('hex')
}

/**
 * How a manifest names an image that went into a result. A plain hash would let everybody who has a photo find out whether a public
 * result was made from it; this one says nothing without the salt, which only the account of the generation can read.
 */
export function nameIngredient(bytes: Uint8Array, salt: string): string {
  return PREFIX + createHmac('sha256', Buffer.from(salt, 'hex')).update(bytes).digest('hex')
}
