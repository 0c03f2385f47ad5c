import { createAddressRule } from '../shared/network/addresses.ts'
import { literalAddress, vetUrl } from '../shared/network/vet-url.ts'

export interface EndpointRules {
  readonly allowCidrs: readonly string[]
  readonly allowPorts: readonly number[]
}

/**
 * Reason why this URL cannot be an endpoint; null when it can. Checks the URL alone; the address of its host is checked
 * at each delivery.
 */
export function endpointUrlProblem(text: string, { allowCidrs, allowPorts }: EndpointRules): string | null {
  const url = vetUrl(text, { allowPorts })
  if (typeof url === 'string') return url
  const address = literalAddress(url)
  return address !== null && !createAddressRule(allowCidrs)(address) ? 'its address is not public' : null
}
