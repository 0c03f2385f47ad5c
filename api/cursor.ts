import { createHmac, timingSafeEqual } from 'node:crypto'
import { DrapeError } from './shared/errors.ts'

interface CursorPlace {
  /** The list that is paged through. */
  readonly list: string
  readonly accountId: string
  readonly secret: string
}

const SIGNATURE_BYTES = 16

/** An opaque text that stands for a position in an account's list. */
export function signCursor(position: string, place: CursorPlace): string {
  return Buffer.concat([signatureOf(position, place), Buffer.from(position)]).toString('base64url')
}

/** The position that a cursor stands for. Throws `VALIDATION_FAILED` when it was not made for this list of this account. */
export function readCursor(cursor: string, place: CursorPlace): string {
  const bytes = Buffer.from(cursor, 'base64url')
  const position = bytes.subarray(SIGNATURE_BYTES).toString()
  const given = bytes.subarray(0, SIGNATURE_BYTES)
  const isOurs = given.length === SIGNATURE_BYTES && timingSafeEqual(given, signatureOf(position, place))
  // Base64 has several spellings of the same bytes; ours is one of them.
  if (!isOurs || bytes.toString('base64url') !== cursor) {
    throw new DrapeError('VALIDATION_FAILED', 'The request is not valid.', {
      details: [{ path: 'cursor', message: 'must be the nextCursor of an earlier page' }],
    })
  }
  return position
}

function signatureOf(position: string, { list, accountId, secret }: CursorPlace): Buffer {
  // The first part keeps these signatures apart from others made with the same secret; JSON keeps the parts apart.
  const signed = JSON.stringify(['cursor', list, accountId, position])
  return createHmac('sha256', secret).update(signed).digest().subarray(0, SIGNATURE_BYTES)
}
