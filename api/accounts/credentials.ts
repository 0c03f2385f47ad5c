import { createHash } from 'node:crypto'
import { crc32 } from 'node:zlib'
import { randomBase62, toBase62 } from '../shared/process/base62.ts'

export type KeyKind = 'secret' | 'publishable'

const PREFIX = { secret: 'sk_', publishable: 'pk_' } as const
/** Prefix of secret keys in test mode. */
const TEST_PREFIX = 'sk_test_'
const RANDOM_LENGTH = 30
const CHECK_LENGTH = 6

/**
 * Generates a key: prefix, 30 random base62 characters, and their CRC-32 as 6 more, so that a typo is rejected without
 * a lookup.
 */
export function generateKey(kind: KeyKind, { isTest = false } = {}): string {
  const body = (isTest ? TEST_PREFIX : PREFIX[kind]) + randomBase62(RANDOM_LENGTH)
  return body + checksum(body)
}

/** Whether the text has the format of a key of this kind. */
export function isWellFormedKey(key: string, kind: KeyKind): boolean {
  const prefix = kind === 'secret' && key.startsWith(TEST_PREFIX) ? TEST_PREFIX : PREFIX[kind]
  if (key.length !== prefix.length + RANDOM_LENGTH + CHECK_LENGTH || !key.startsWith(prefix)) return false
  const body = key.slice(0, -CHECK_LENGTH)
  return /^[0-9A-Za-z]+$/.test(key.slice(prefix.length)) && checksum(body) === key.slice(-CHECK_LENGTH)
}

/**
 * The last 4 characters of a key, for recognition. They belong to the checksum and reveal nothing of the random part.
 */
export function lastFourOf(key: string): string {
  return key.slice(-4)
}

/** SHA-256 of a key, for storage. Keys are long and random, so a plain hash is safe against guessing. */
export function hashKey(key: string): Buffer {
  return createHash('sha256').update(key).digest()
}

function checksum(text: string): string {
  return toBase62(crc32(text), CHECK_LENGTH)
}
