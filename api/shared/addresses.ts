import ipaddr from 'ipaddr.js'
import { DrapeError } from './errors.ts'

/** Whether a connection to this IP address, in any notation, is allowed. */
export type AddressRule = (address: string) => boolean

type Range = ReturnType<typeof ipaddr.parseCIDR>

/** Every IPv6 address that is routed lies here (RFC 4291); beside it are translations of IPv4 and unassigned space. */
const GLOBAL_UNICAST = ipaddr.parseCIDR('2000::/3')
/** Looks public, but answers machines of one cloud with what only they may know. */
const CLOUD_INTERNAL = ipaddr.parseCIDR('168.63.129.16/32')

/**
 * Allows public addresses, and those within the ranges. An IPv4 address in IPv6 clothes counts as what it is.
 * @param allowCidrs such as `10.1.0.0/16` or `fd00:1::/32`
 * @throws DrapeError INTERNAL_ERROR for a range that is none
 */
export function createAddressRule(allowCidrs: readonly string[]): AddressRule {
  const isInRange = createRangeRule(allowCidrs)
  return (text) => ipaddr.isValid(text) && (isPublic(ipaddr.process(text)) || isInRange(text))
}

/**
 * Allows the addresses within the ranges and no others. An IPv4 address in IPv6 clothes counts as what it is.
 * @throws DrapeError INTERNAL_ERROR for a range that is none
 */
export function createRangeRule(cidrs: readonly string[]): AddressRule {
  const ranges = cidrs.map(parseRange)
  return (text) => {
    if (!ipaddr.isValid(text)) return false
    const address = ipaddr.process(text)
    return ranges.some((range) => isWithin(address, range))
  }
}

/** The address as people write it: a mapped IPv4 address without its IPv6 prefix. */
export function readableAddress(text: string): string {
  return ipaddr.isValid(text) ? ipaddr.process(text).toString() : text
}

/** The network whose members share a limit: an IPv4 address alone, of an IPv6 address the /64 that one site has. */
export function networkOf(text: string): string {
  if (!ipaddr.isValid(text)) return text
  const address = ipaddr.process(text)
  if (address instanceof ipaddr.IPv4) return address.toString()
  return `${address.parts
    .slice(0, 4)
    .map((part) => part.toString(16))
    .join(':')}::/64`
}

function parseRange(text: string): Range {
  try {
    return ipaddr.parseCIDR(text)
  } catch (cause) {
    throw new DrapeError('INTERNAL_ERROR', `"${text}" is not a CIDR range such as 10.1.0.0/16.`, { cause })
  }
}

function isPublic(address: ipaddr.IPv4 | ipaddr.IPv6): boolean {
  if (address.range() !== 'unicast' || isWithin(address, CLOUD_INTERNAL)) return false
  return address.kind() === 'ipv4' || isWithin(address, GLOBAL_UNICAST)
}

function isWithin(address: ipaddr.IPv4 | ipaddr.IPv6, [network, bits]: Range): boolean {
  if (address instanceof ipaddr.IPv4) return network instanceof ipaddr.IPv4 && address.match(network, bits)
  return network instanceof ipaddr.IPv6 && address.match(network, bits)
}
