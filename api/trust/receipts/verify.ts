import { createPublicKey, verify } from 'node:crypto'
import { Receipt, type Statement, signedBytes } from '../../erasure/receipt.ts'
import { compileCheck } from '../../shared/contract/schema.ts'
import { fingerprintOfKey } from '../../shared/provenance/private-key.ts'
import { leafOf, rootOf } from './merkle.ts'

export interface ReceiptReport {
  /** `invalid`: the receipt is incomplete, was changed or was not signed. `foreign`: unchanged, but signed with none of the known keys. */
  readonly status: 'valid' | 'foreign' | 'invalid'
  readonly problems: readonly string[]
  /** What the receipt says; null unless its signature is right. */
  readonly statement: Statement | null
  readonly keyId: string | null
}

const checkReceipt = compileCheck(Receipt)

/** Checks a receipt with the IDs of the keys of an installation. Never throws for what is in the text. */
export function verifyReceipt(text: string, knownKeyIds: readonly string[]): ReceiptReport {
  const read = readReceipt(text)
  if (typeof read === 'string') return invalid(read)
  const { statement, signature, leaves } = read
  if (!isSigned(read)) return invalid('The receipt was changed after it was signed, or was never signed.')
  if (!hasLeaves(statement, leaves))
    return invalid('The list of leaves was changed: it does not lead to the Merkle root.')
  const { keyId } = signature
  if (knownKeyIds.includes(keyId)) return { status: 'valid', problems: [], statement, keyId }
  const problem = `The receipt names ${statement.installation} as its issuer, but is signed with none of the keys that were given: it is of another installation, or forged.`
  return { status: 'foreign', problems: [problem], statement, keyId }
}

/** Whether a receipt lists an object, by its key or a link to it. MUST be called for valid receipts alone. */
export function listsObject(text: string, keyOrLink: string): boolean {
  const read = readReceipt(text)
  const key = /(?:held\/)?(?:persons|results|uploads)\/[\w/-]+\.\w+/.exec(keyOrLink)?.[0] ?? keyOrLink
  return typeof read !== 'string' && read.leaves.includes(leafOf(key))
}

/** The receipt, or what is wrong with it. The answer of the API, which has the receipt as its member, is read too. */
function readReceipt(text: string): Receipt | string {
  const parsed = parse(text)
  if (parsed === undefined) return 'The file is not valid JSON: it is truncated or not a receipt.'
  if (hasRepeatedNames(text)) return 'The JSON repeats a member name, so programs may read different values.'
  const { erasureId, statement, receipt } = Object(parsed)
  if (erasureId !== undefined && receipt === null)
    return 'The receipt is not issued yet. Fetch the erasure again when its status is ISSUED.'
  const checked = checkReceipt(erasureId === undefined ? parsed : receipt)
  if (!checked.ok) return 'The file is not a receipt of an erasure of version 1.'
  // What is beside the receipt is not signed, and must not be taken for it.
  if (erasureId !== undefined && (erasureId !== checked.value.statement.id || statement !== undefined))
    return 'The receipt belongs to another erasure than the erasureId of the response.'
  return checked.value
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** JSON.parse keeps the last of equal names, other readers the first; a name of the signed part must mean one thing. */
function hasRepeatedNames(text: string): boolean {
  const strings = [...text.matchAll(/"(?:[^"\\]|\\.)*"(\s*:)?/g)]
  return strings.filter(([, colon]) => colon !== undefined).length !== countNames(JSON.parse(text))
}

function countNames(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0
  const own = Array.isArray(value) ? 0 : Object.keys(value).length
  return Object.values(value).reduce((sum, member) => sum + countNames(member), own)
}

/** The fixed start of an Ed25519 key as SubjectPublicKeyInfo (RFC 8410). */
const SPKI = Buffer.from('302a300506032b6570032100', 'hex')

function isSigned({ statement, signature }: Receipt): boolean {
  const raw = Buffer.from(signature.publicKey, 'base64')
  if (raw.length !== 32) return false
  try {
    const key = createPublicKey({ key: Buffer.concat([SPKI, raw]), format: 'der', type: 'spki' })
    const isRight = verify(null, signedBytes(statement), key, Buffer.from(signature.value, 'base64'))
    return isRight && fingerprintOfKey(key) === signature.keyId
  } catch {
    return false
  }
}

function hasLeaves({ objects }: Statement, leaves: readonly string[]): boolean {
  return leaves.length === objects.count && rootOf(leaves) === objects.merkleRoot
}

function invalid(problem: string): ReceiptReport {
  return { status: 'invalid', problems: [problem], statement: null, keyId: null }
}
