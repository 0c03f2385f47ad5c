import { createAddressRule } from '../shared/addresses.ts'
import { literalAddress, vetUrl } from '../shared/guarded-request.ts'

export interface EndpointRules {
  readonly allowCidrs: readonly string[]
  readonly allowPorts: readonly number[]
}

/**
 * Why nothing can be delivered to this address; null when it can. Only what the URL itself says: what a name leads to is looked up
 * whenever something is sent.
 */
export function whyNoEndpoint(text: string, { allowCidrs, allowPorts }: EndpointRules): string | null {
  const url = vetUrl(text, { allowPorts })
  if (typeof url === 'string') return url
  const address = literalAddress(url)
  return address !== null && !createAddressRule(allowCidrs)(address) ? 'its address is not public' : null
}
