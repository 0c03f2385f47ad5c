import { DrapeError } from '../shared/contract/errors.ts'
import { compileInputCheck, Type } from '../shared/contract/schema.ts'

export const HEADER = 'X-Receipt-Email'

const checkAddress = compileInputCheck(
  Type.Object({ [HEADER]: Type.String({ format: 'email', maxLength: 254, pattern: '^[\\x21-\\x7e]+$' }) }),
)

/**
 * The address in the header, to which a receipt is sent; null without one.
 * @throws DrapeError VALIDATION_FAILED if the text is anything but one address
 */
export function readMailAddress(header: string): string | null {
  const address = header.trim()
  if (address === '') return null
  if (!checkAddress({ [HEADER]: address }).ok) throw invalid('must be one e-mail address of ASCII characters.')
  return address
}

export function invalid(message: string): DrapeError {
  return new DrapeError('VALIDATION_FAILED', 'The request is not valid.', { details: [{ path: HEADER, message }] })
}

/** The mailbox of an address: many addresses, such as `anna+1@` and `Anna@`, lead to one mailbox and share its limits. */
export function mailboxOf(address: string): string {
  const at = address.lastIndexOf('@')
  const local = address.slice(0, at)
  return `${local.split('+')[0] || local}@${address.slice(at + 1)}`.toLowerCase()
}
