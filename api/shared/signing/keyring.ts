import { createPublicKey, generateKeyPairSync, type KeyObject, sign, verify } from 'node:crypto'
import { DrapeError } from '../contract/errors.ts'
import { InvalidConfiguration } from '../process/config.ts'
import { fingerprintOfKey, readPrivateKey } from '../provenance/private-key.ts'
import { createTransit, readTransits, type Transit } from './transit.ts'

/** One version of an Ed25519 key. */
export interface KeyVersion {
  readonly publicKey: KeyObject
  /** SHA-256 of the public key, as hex. */
  readonly fingerprint: string
  /**
   * The 64 bytes of the signature.
   * @throws DrapeError SERVICE_UNAVAILABLE while the key service cannot sign
   */
  sign(bytes: Uint8Array): Promise<Uint8Array>
}

/** A key that signs, in a PEM or in a key service. */
export interface Keyring {
  /** `made`: generated on start-up, lost with the process; `pem`: configured; `service`: in a key service. */
  readonly origin: 'made' | 'pem' | 'service'
  /**
   * All versions of the key, newest first: the first one signs. A rotation in the key service is noticed within `FRESH_MS`.
   * @throws DrapeError SERVICE_UNAVAILABLE while the key service does not respond
   * @throws Error if the key is not an Ed25519 key
   */
  list(): Promise<readonly [KeyVersion, ...KeyVersion[]]>
}

export interface KeyringVariables {
  /** Prefix of the variables: `<prefix>_KEY`, `<prefix>_TRANSIT_KEY` and so on. */
  readonly prefix: string
  readonly pem: string
  /** URL of a transit key; empty without one. */
  readonly transitKey: string
  readonly token: string
  readonly tokenFile: string
}

/** Max age of the list of versions. */
const FRESH_MS = 5000

/**
 * The keyring of these variables; generates a key if there is none.
 * @throws Error that lists every wrong variable, without its value
 */
export function readKeyring({ prefix, pem, transitKey, token, tokenFile }: KeyringVariables): Keyring {
  const problems: string[] = []
  const urls = transitKey === '' ? [] : [transitKey]
  const [options] = readTransits({ prefix, urls, token, tokenFile }, problems)
  if (transitKey !== '' && pem !== '') problems.push(`${prefix}_TRANSIT_KEY replaces ${prefix}_KEY: set one of the two`)
  if (problems.length > 0) throw new InvalidConfiguration(problems)
  if (options !== undefined) return createTransitKeyring(createTransit(options))
  if (pem === '') return createLocalKeyring(generateKeyPairSync('ed25519').privateKey, 'made')
  return createLocalKeyring(readPrivateKey(pem, `${prefix}_KEY`), 'pem')
}

function createLocalKeyring(privateKey: KeyObject, origin: 'made' | 'pem'): Keyring {
  const publicKey = createPublicKey(privateKey)
  const version: KeyVersion = {
    publicKey,
    fingerprint: fingerprintOfKey(publicKey),
    sign: async (bytes) => sign(null, bytes, privateKey),
  }
  return { origin, list: async () => [version] }
}

/** The fixed start of an Ed25519 key as SubjectPublicKeyInfo (RFC 8410). */
const SPKI = Buffer.from('302a300506032b6570032100', 'hex')

/** A keyring of a key service. */
export function createTransitKeyring(transit: Transit): Keyring {
  let listed: { readonly versions: Promise<readonly [KeyVersion, ...KeyVersion[]]>; readonly at: number } | null = null
  return {
    origin: 'service',
    list: () => {
      if (listed !== null && performance.now() - listed.at < FRESH_MS) return listed.versions
      const versions = listVersions(transit)
      const current = { versions, at: performance.now() }
      listed = current
      // The next call asks again.
      versions.catch(() => {
        if (listed === current) listed = null
      })
      return versions
    },
  }
}

async function listVersions(transit: Transit): Promise<readonly [KeyVersion, ...KeyVersion[]]> {
  const { type, derived, keys } = await transit.describe()
  if (type !== 'ed25519' || derived === true)
    throw new Error(`The key in the key service must be of the type ed25519 and not derived, but is ${type}`)
  const versions = Object.entries(Object(keys))
    .map(([number, key]) => ({ number: Number(number), raw: Buffer.from(String(Object(key).public_key), 'base64') }))
    .sort((a, b) => b.number - a.number)
    .map(({ number, raw }) => createVersion(transit, number, raw))
  const [first, ...others] = versions
  if (first === undefined) throw new Error('The key in the key service has no versions')
  return [first, ...others]
}

function createVersion(transit: Transit, number: number, raw: Buffer): KeyVersion {
  if (raw.length !== 32) throw new Error(`Version ${number} of the key in the key service is not an Ed25519 key`)
  const publicKey = createPublicKey({ key: Buffer.concat([SPKI, raw]), format: 'der', type: 'spki' })
  return {
    publicKey,
    fingerprint: fingerprintOfKey(publicKey),
    sign: async (bytes) => {
      const input = Buffer.from(bytes).toString('base64')
      const { signature } = await transit.call('sign', { input, key_version: number })
      const value = Buffer.from(String(signature).split(':').at(-1) ?? '', 'base64')
      if (verify(null, bytes, publicKey, value)) return value
      throw new DrapeError('SERVICE_UNAVAILABLE', 'The service is temporarily unavailable.', {
        retryable: true,
        cause: new Error(`The key service answered with a signature that is not of version ${number} of the key`),
      })
    },
  }
}
