import { createHmac, timingSafeEqual } from 'node:crypto'
import { DrapeError } from '../contract/errors.ts'
import { splitList } from '../process/config.ts'

/**
 * Value of `SIGNING_SECRET`: one key, or several separated by commas. The first key signs and every key verifies, so
 * that a new key can be put first without invalidating earlier signatures.
 */
export type SigningSecret = string

/** Signed content. The first part names the purpose: a signature for one purpose is invalid for another. */
export type SignedParts = readonly [purpose: string, ...parts: (string | null)[]]

/** The keys of a signing secret, in order. */
export function signingKeysOf(secret: SigningSecret): string[] {
  return splitList(secret)
}

/**
 * HMAC-SHA256 with the first key.
 * @throws DrapeError INTERNAL_ERROR when the secret contains no key
 */
export function sign(secret: SigningSecret, parts: SignedParts): Buffer {
  return hmac(firstKeyOf(secret), JSON.stringify(parts))
}

/** Whether any key of the secret created the signature: all 32 bytes, or its first `bytes`. */
export function isSigned(
  secret: SigningSecret,
  parts: SignedParts,
  { signature, bytes = 32 }: { signature: Uint8Array; bytes?: number },
): boolean {
  if (signature.length !== bytes) return false
  const message = JSON.stringify(parts)
  // Try every key, so that the duration does not reveal which one matches.
  const matches = signingKeysOf(secret).map((key) => timingSafeEqual(signature, hmac(key, message).subarray(0, bytes)))
  return matches.includes(true)
}

/** `sign` as base64url, for links. */
export function signText(secret: SigningSecret, parts: SignedParts): string {
  return sign(secret, parts).toString('base64url')
}

/** Whether any key of the secret created this text with `signText`. */
export function isSignedText(secret: SigningSecret, parts: SignedParts, text: string): boolean {
  const signature = Buffer.from(text, 'base64url')
  // Base64 has several spellings of the same bytes; accept only the canonical one.
  return signature.toString('base64url') === text && isSigned(secret, parts, { signature })
}

/** A keyed hash of a text as base64url, with the first key. Changes when another key becomes the first. */
export function hashText(secret: SigningSecret, text: string): string {
  return hmac(firstKeyOf(secret), text).toString('base64url')
}

function firstKeyOf(secret: SigningSecret): string {
  const [key] = signingKeysOf(secret)
  if (key === undefined)
    throw new DrapeError('INTERNAL_ERROR', 'SIGNING_SECRET is missing. It signs URLs of stored images.')
  return key
}

function hmac(key: string, message: string): Buffer {
  return createHmac('sha256', key).update(message).digest()
}
