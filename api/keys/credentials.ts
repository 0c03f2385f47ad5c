import { createHash } from 'node:crypto'
import { crc32 } from 'node:zlib'
import { randomBase62, toBase62 } from '../base62.ts'

export type KeyKind = 'secret' | 'publishable'

const PREFIX = { secret: 'sk_', publishable: 'pk_' } as const
/** Of secret keys in test mode. */
const TEST_PREFIX = 'sk_test_'
const RANDOM_LENGTH = 30
const CHECK_LENGTH = 6

/** A new key: prefix, 30 random base62 characters, and their CRC-32 as 6 more, so that a typo is refused without a look-up. */
export function generateKey(kind: KeyKind, { isTest = false } = {}): string {
  const body = (isTest ? TEST_PREFIX : PREFIX[kind]) + randomBase62(RANDOM_LENGTH)
  return body + checksum(body)
}

/** Whether the text can be a key of this kind at all. */
export function isWellFormedKey(key: string, kind: KeyKind): boolean {
  const prefix = kind === 'secret' && key.startsWith(TEST_PREFIX) ? TEST_PREFIX : PREFIX[kind]
  if (key.length !== prefix.length + RANDOM_LENGTH + CHECK_LENGTH || !key.startsWith(prefix)) return false
  const body = key.slice(0, -CHECK_LENGTH)
  return /^[0-9A-Za-z]+$/.test(key.slice(prefix.length)) && checksum(body) === key.slice(-CHECK_LENGTH)
}

/** The end of a key, by which people recognise it. It belongs to the checksum: the random part stays unknown. */
export function lastFourOf(key: string): string {
  return key.slice(-4)
}

/** SHA-256: what is stored of a key. Keys are random and long, so a plain hash leaves nothing to guess. */
export function hashKey(key: string): Buffer {
  return createHash('sha256').update(key).digest()
}

function checksum(text: string): string {
  return toBase62(crc32(text), CHECK_LENGTH)
}
