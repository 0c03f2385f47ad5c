import { createHmac, timingSafeEqual } from 'node:crypto'
import { splitList } from './config.ts'
import { DrapeError } from './errors.ts'

/**
 * `SIGNING_SECRET` as configured: one key, or several separated by commas. The first key signs; every key verifies, so that a
 * new key can be put first without breaking what older keys have signed.
 */
export type SigningSecret = string

/** What a signature covers. The first part names its purpose: a signature for one purpose is worthless for another. */
export type SignedParts = readonly [purpose: string, ...parts: (string | null)[]]

/** The keys of a signing secret, in order. */
export function signingKeysOf(secret: SigningSecret): string[] {
  return splitList(secret)
}

/**
 * HMAC-SHA256 with the first key.
 * @throws DrapeError INTERNAL_ERROR when the secret holds no key
 */
export function sign(secret: SigningSecret, parts: SignedParts): Buffer {
  return hmac(firstKeyOf(secret), JSON.stringify(parts))
}

/** Whether any key of the secret made the signature: all 32 bytes of it, or its first `bytes`. */
export function isSigned(
  secret: SigningSecret,
  parts: SignedParts,
  { signature, bytes = 32 }: { signature: Uint8Array; bytes?: number },
): boolean {
  if (signature.length !== bytes) return false
  const message = JSON.stringify(parts)
  // Every key is tried, so that the time does not show which one fits.
  const matches = signingKeysOf(secret).map((key) => timingSafeEqual(signature, hmac(key, message).subarray(0, bytes)))
  return matches.includes(true)
}

/** `sign` as base64url, for links. */
export function signText(secret: SigningSecret, parts: SignedParts): string {
  return sign(secret, parts).toString('base64url')
}

/** Whether any key of the secret made this text with `signText`. */
export function isSignedText(secret: SigningSecret, parts: SignedParts, text: string): boolean {
  const signature = Buffer.from(text, 'base64url')
  // Base64 has several spellings of the same bytes; only ours is accepted.
  return signature.toString('base64url') === text && isSigned(secret, parts, { signature })
}

/** A keyed hash of a text, by the first key, as base64url. It changes when another key becomes the first. */
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
