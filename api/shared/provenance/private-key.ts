import { createHash, createPrivateKey, createPublicKey, generateKeyPairSync, type KeyObject } from 'node:crypto'
import { InvalidConfiguration } from '../process/config.ts'

/** An Ed25519 key that signs. */
export interface KeyPair {
  readonly privateKey: KeyObject
  readonly publicKey: KeyObject
  /** SHA-256 of the public key, as hex. */
  readonly fingerprint: string
  /** Whether it was made on start-up and is lost with the process. */
  readonly isMade: boolean
}

/**
 * The Ed25519 key in PEM of this variable; makes a key if it is empty.
 * @throws Error that says which variable is wrong, and what to do
 */
export function readKeyPair(pem: string, variable: string): KeyPair {
  const privateKey = pem === '' ? generateKeyPairSync('ed25519').privateKey : readPrivateKey(pem, variable)
  const publicKey = createPublicKey(privateKey)
  return { privateKey, publicKey, fingerprint: fingerprintOfKey(publicKey), isMade: pem === '' }
}

function readPrivateKey(pem: string, variable: string): KeyObject {
  const key = parse(pem)
  if (key === null) refuse(`${variable} must be an unencrypted private key in PEM`)
  if (key.asymmetricKeyType !== 'ed25519') {
    refuse(
      `${variable} must be an Ed25519 key, not ${key.asymmetricKeyType}. Make one with: openssl genpkey -algorithm ed25519`,
    )
  }
  return key
}

function parse(pem: string): KeyObject | null {
  try {
    return createPrivateKey(pem)
  } catch {
    return null
  }
}

function refuse(problem: string): never {
  throw new InvalidConfiguration([problem])
}

/** SHA-256 of a public key, as hex. */
export function fingerprintOfKey(publicKey: KeyObject): string {
  return createHash('sha256')
    .update(publicKey.export({ type: 'spki', format: 'der' }))
    .digest('hex')
}
