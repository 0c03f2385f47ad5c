import { randomInt } from 'node:crypto'

const DIGITS = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'

/** `length` random base62 digits, 5.95 bits each. */
export function randomBase62(length: number): string {
  return Array.from({ length }, () => DIGITS[randomInt(DIGITS.length)]).join('')
}

/** The last `length` base62 digits of a whole number, padded with zeros. */
export function toBase62(value: number, length: number): string {
  let rest = value
  let digits = ''
  for (let i = 0; i < length; i++) {
    digits = DIGITS[rest % DIGITS.length] + digits
    rest = Math.floor(rest / DIGITS.length)
  }
  return digits
}
