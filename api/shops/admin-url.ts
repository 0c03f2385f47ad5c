import type { AddressRule } from '../shared/network/addresses.ts'
import { literalAddress } from '../shared/network/vet-url.ts'

/**
 * Reason why the token of a shop must not be sent to this address of a platform's API; null when it may: over https, or
 * over http to an IP address that `isPlainAllowed` allows.
 */
export function adminUrlProblem(text: string, isPlainAllowed: AddressRule): string | null {
  const url = URL.parse(text)
  if (url === null || !/^https?:$/.test(url.protocol)) return 'must be an https URL'
  if (url.username !== '' || url.password !== '') return 'must not contain credentials'
  if (url.search !== '' || url.hash !== '') return 'must not have a query or a fragment'
  if (url.protocol === 'https:') return null
  const address = literalAddress(url)
  if (address !== null && isPlainAllowed(address)) return null
  return 'must be https; http is allowed only to an IP address within FETCH_ALLOW_CIDRS'
}
