import { createPublicKey, generateKeyPairSync, type KeyObject, sign } from 'node:crypto'
import { fingerprintOfKey, readPrivateKey } from '../shared/provenance/private-key.ts'
import { leafOf, rootOf } from './merkle.ts'
import { type Receipt, type Statement, signedBytes } from './receipt.ts'

export interface ReceiptKey {
  readonly privateKey: KeyObject
  /** SHA-256 of the public key, as hex. */
  readonly keyId: string
  /** Base64. */
  readonly publicKey: string
  /** Whether the key was made now, and ends with the process. */
  readonly isMade: boolean
}

/**
 * The key that signs receipts, as configured in PEM; one is made where it is empty.
 * @throws Error that says what is wrong
 */
export function readReceiptKey(pem: string): ReceiptKey {
  const privateKey = pem === '' ? generateKeyPairSync('ed25519').privateKey : readPrivateKey(pem, 'RECEIPT_KEY')
  const publicKey = createPublicKey(privateKey)
  const raw = publicKey.export({ type: 'spki', format: 'der' }).subarray(-32)
  return { privateKey, keyId: fingerprintOfKey(publicKey), publicKey: raw.toString('base64'), isMade: pem === '' }
}

/** What a statement says except of the objects, which are given by their keys. */
export type Facts = Omit<Statement, 'type' | 'version' | 'objects'> & {
  readonly objects: Omit<Statement['objects'], 'merkleRoot' | 'count'>
}

export function signReceipt(
  facts: Facts,
  keys: readonly string[],
  { privateKey, keyId, publicKey }: ReceiptKey,
): Receipt {
  const leaves = keys.map(leafOf).sort()
  const statement: Statement = {
    ...{ type: 'drape/erasure-receipt', version: 1 },
    ...facts,
    objects: { ...facts.objects, count: leaves.length, merkleRoot: rootOf(leaves) },
  }
  const value = sign(null, signedBytes(statement), privateKey).toString('base64')
  return { statement, signature: { algorithm: 'Ed25519', keyId, publicKey, value }, leaves }
}
