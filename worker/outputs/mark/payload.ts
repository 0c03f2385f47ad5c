import { randomBytes } from 'node:crypto'
import { CHECK_BITS, DATA_BITS, decodeBch, encodeBch } from './bch.ts'

/** Bits that TrustMark embeds. */
export const MARK_BITS = 100

const CODE_BITS = DATA_BITS + CHECK_BITS
/** Of the last 4 bits, which name the schema BCH_SUPER as 0, at most this many may be wrong. */
const MAX_SCHEMA_ERRORS = 1

/**
 * ID that a mark carries: 10 hex digits, random. Never 0: models return only zeros for an image of one colour, and zeros are a code
 * word.
 */
export function createMarkId(): string {
  const id = randomBytes(DATA_BITS / 8).toString('hex')
  return isZero(id) ? createMarkId() : id
}

/** The bits of an ID as TrustMark's encoder takes them: 40 of the ID, 56 check bits, and 4 of the schema, each 0 or 1. */
export function encodeMarkId(id: string): Float32Array {
  const data = [...id].flatMap((digit) => [...Number.parseInt(digit, 16).toString(2).padStart(4, '0')].map(Number))
  const bits = new Float32Array(MARK_BITS)
  bits.set(encodeBch(data))
  return bits
}

/**
 * The ID in the output of TrustMark's decoder, one number per bit, positive for 1; null if the bits are no ID. Of random bits, 6 in
 * 10 million are an ID.
 */
export function decodeMarkId(output: ArrayLike<number>): string | null {
  const bits = Array.from({ length: MARK_BITS }, (_, i) => (output[i] > 0 ? 1 : 0))
  const schemaErrors = bits.slice(CODE_BITS).reduce<number>((sum, bit) => sum + bit, 0)
  if (schemaErrors > MAX_SCHEMA_ERRORS) return null
  const data = decodeBch(bits.slice(0, CODE_BITS))
  const id = data && Array.from({ length: DATA_BITS / 4 }, (_, i) => toDigit(data.slice(4 * i, 4 * i + 4))).join('')
  return id === null || isZero(id) ? null : id
}

function toDigit(bits: readonly number[]): string {
  return Number.parseInt(bits.join(''), 2).toString(16)
}

function isZero(id: string): boolean {
  return /^0+$/.test(id)
}
