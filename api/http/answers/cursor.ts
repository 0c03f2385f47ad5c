import { DrapeError } from '../../shared/contract/errors.ts'
import { isSigned, type SignedParts, type SigningSecret, sign } from '../../shared/signing/signing.ts'

interface CursorPlace {
  /** Name of the list. */
  readonly list: string
  readonly accountId: string
  readonly secret: SigningSecret
}

const SIGNATURE_BYTES = 16

/** Opaque, signed text for a position in an account's list. */
export function signCursor(position: string, place: CursorPlace): string {
  const signature = sign(place.secret, partsOf(position, place)).subarray(0, SIGNATURE_BYTES)
  return Buffer.concat([signature, Buffer.from(position)]).toString('base64url')
}

/** Position of a cursor. Throws `VALIDATION_FAILED` when the cursor does not belong to this list of this account. */
export function readCursor(cursor: string, place: CursorPlace): string {
  const bytes = Buffer.from(cursor, 'base64url')
  const position = bytes.subarray(SIGNATURE_BYTES).toString()
  const signature = bytes.subarray(0, SIGNATURE_BYTES)
  const isOurs = isSigned(place.secret, partsOf(position, place), { signature, bytes: SIGNATURE_BYTES })
  // Base64 has several spellings of the same bytes; accept only the canonical one.
  if (!isOurs || bytes.toString('base64url') !== cursor) {
    throw new DrapeError('VALIDATION_FAILED', 'The request is not valid.', {
      details: [{ path: 'cursor', message: 'must be the nextCursor of an earlier page' }],
    })
  }
  return position
}

function partsOf(position: string, { list, accountId }: CursorPlace): SignedParts {
  return ['cursor', list, accountId, position]
}
