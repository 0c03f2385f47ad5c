import { argon2, randomBytes, timingSafeEqual } from 'node:crypto'
import { promisify } from 'node:util'
import { createFairLimiter } from '../../shared/process/fair-limiter.ts'

const derive = promisify(argon2)

/** Argon2id with 64 MiB and 3 passes: the second recommended option of RFC 9106, with 1 lane instead of 4. */
const COST = { memory: 65_536, passes: 3, parallelism: 1 } as const
const SALT_BYTES = 16
const HASH_BYTES = 32

/** Each run takes 64 MiB and a thread, so concurrent attempts wait for each other without blocking the process. */
const inTurn = createFairLimiter(2)

/** In characters. Shorter passwords are refused; longer ones only cost time. */
export const PASSWORD_LENGTH = { min: 12, max: 200 } as const

/** Hashes a password for storage: parameters, salt and hash in the PHC string format. */
export async function hashPassword(password: string): Promise<string> {
  const salt = randomBytes(SALT_BYTES)
  const hash = await run(password, salt, COST)
  const { memory, passes, parallelism } = COST
  return `$argon2id$v=19$m=${memory},t=${passes},p=${parallelism}$${encode(salt)}$${encode(hash)}`
}

/**
 * Whether the password matches the stored hash. With null, for an unknown operator, takes the same time and returns
 * false, so that the duration does not reveal whether the operator exists. Throws when the stored text is not such a
 * hash.
 */
export async function verifyPassword(password: string, stored: string | null): Promise<boolean> {
  const { cost, salt, hash } = stored === null ? DUMMY_HASH : readStored(stored)
  const given = await run(password, salt, cost)
  return timingSafeEqual(given, hash) && stored !== null
}

const DUMMY_HASH = { cost: COST, salt: Buffer.alloc(SALT_BYTES), hash: Buffer.alloc(HASH_BYTES) }

const STORED = /^\$argon2id\$v=19\$m=(\d+),t=(\d+),p=(\d+)\$([\w+/-]+)\$([\w+/-]+)$/

function readStored(stored: string): typeof DUMMY_HASH | { cost: Cost; salt: Buffer; hash: Buffer } {
  const parts = STORED.exec(stored)
  if (parts === null) throw new Error('The stored password is not an Argon2id hash')
  const [memory, passes, parallelism] = parts.slice(1, 4).map(Number)
  return {
    cost: { memory, passes, parallelism },
    salt: Buffer.from(parts[4], 'base64'),
    hash: Buffer.from(parts[5], 'base64'),
  }
}

interface Cost {
  readonly memory: number
  readonly passes: number
  readonly parallelism: number
}

function run(password: string, nonce: Buffer, cost: Cost): Promise<Buffer> {
  // The same letters may be typed as different code points.
  const message = Buffer.from(password.normalize('NFKC'))
  return inTurn(() => derive('argon2id', { ...cost, message, nonce, tagLength: HASH_BYTES }))
}

function encode(bytes: Buffer): string {
  return bytes.toString('base64').replaceAll('=', '')
}
