import { sign } from 'node:crypto'
import { type Receipt, type Statement, signedBytes } from '../../erasure/receipt.ts'
import type { KeyPair } from '../../shared/provenance/private-key.ts'
import { leafOf, rootOf } from './merkle.ts'

/** ID and public key of a key of receipts: SHA-256 as hex, and the 32 bytes as base64. */
export function presentKey({ fingerprint, publicKey }: KeyPair) {
  const raw = publicKey.export({ type: 'spki', format: 'der' }).subarray(-32)
  return { keyId: fingerprint, publicKey: raw.toString('base64') }
}

/** A statement without its objects, which are computed from their keys. */
export type Facts = Omit<Statement, 'type' | 'version' | 'objects'> & {
  readonly objects: Omit<Statement['objects'], 'merkleRoot' | 'count'>
}

/** The receipt of these facts and the keys of the erased objects. */
export function signReceipt(facts: Facts, keys: readonly string[], key: KeyPair): Receipt {
  const leaves = keys.map(leafOf).sort()
  const statement: Statement = {
    type: 'drape/erasure-receipt',
    version: 1,
    ...facts,
    objects: { ...facts.objects, count: leaves.length, merkleRoot: rootOf(leaves) },
  }
  const value = sign(null, signedBytes(statement), key.privateKey).toString('base64')
  return { statement, signature: { algorithm: 'Ed25519', ...presentKey(key), value }, leaves }
}
