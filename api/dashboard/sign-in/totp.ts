import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto'

/**
 * Time-based one-time passwords with the defaults of authenticator apps: HMAC-SHA1, 6 digits, 30 s.
 * https://www.rfc-editor.org/rfc/rfc6238
 */
const STEP_SECONDS = 30
const DIGITS = 6
/** Maximum clock difference in steps. */
const DRIFT_STEPS = 1
/** Length of the hash output, as RFC 4226 recommends. */
const SECRET_BYTES = 20

/** Generates a secret in base32, for typing and for apps. */
export function generateTotpSecret(): string {
  return toBase32(randomBytes(SECRET_BYTES))
}

/** The code of a time step. */
export function codeAt(secret: string, step: number): string {
  const counter = Buffer.alloc(8)
  counter.writeBigUInt64BE(BigInt(step))
  const hash = createHmac('sha1', fromBase32(secret)).update(counter).digest()
  const offset = hash[hash.length - 1] & 0xf
  const number = hash.readUInt32BE(offset) & 0x7fffffff
  return String(number % 10 ** DIGITS).padStart(DIGITS, '0')
}

/** Time step of this code, among the current, previous and next one; null when none matches. `time` in ms. */
export function findStep(secret: string, code: string, time: number): number | null {
  const now = Math.floor(time / 1000 / STEP_SECONDS)
  const steps = Array.from({ length: 2 * DRIFT_STEPS + 1 }, (_, i) => now - DRIFT_STEPS + i)
  // Compares all steps, so that the duration reveals nothing.
  return steps.filter((step) => isEqual(codeAt(secret, step), code)).at(-1) ?? null
}

/** URI for an authenticator app. https://github.com/google/google-authenticator/wiki/Key-Uri-Format */
export function presentTotpUri(secret: string, { issuer, account }: { issuer: string; account: string }): string {
  const label = `${encodeURIComponent(issuer)}:${encodeURIComponent(account)}`
  return `otpauth://totp/${label}?secret=${secret}&issuer=${encodeURIComponent(issuer)}`
}

function isEqual(wanted: string, given: string): boolean {
  const [a, b] = [Buffer.from(wanted), Buffer.from(given)]
  return a.length === b.length && timingSafeEqual(a, b)
}

/** https://www.rfc-editor.org/rfc/rfc4648#section-6 */
const BASE32 = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'

function toBase32(bytes: Buffer): string {
  const bits = [...bytes].map((byte) => byte.toString(2).padStart(8, '0')).join('')
  return (bits.match(/.{1,5}/g) ?? []).map((part) => BASE32[Number.parseInt(part.padEnd(5, '0'), 2)]).join('')
}

function fromBase32(text: string): Buffer {
  const bits = [...text].map((letter) => BASE32.indexOf(letter).toString(2).padStart(5, '0')).join('')
  return Buffer.from((bits.match(/.{8}/g) ?? []).map((part) => Number.parseInt(part, 2)))
}
