import { isIPv4 } from 'node:net'
import ipaddr from 'ipaddr.js'
import { DrapeError } from '../contract/errors.ts'

/** Whether a connection to this IP address, in any notation, is allowed. */
export type AddressRule = (address: string) => boolean

type Range = ReturnType<typeof ipaddr.parseCIDR>

/** All routed IPv6 addresses (RFC 4291). Outside are translations of IPv4 addresses and unassigned space. */
const GLOBAL_UNICAST = ipaddr.parseCIDR('2000::/3')
/**
 * Link-local addresses, also through NAT64, and the metadata services of clouds, which give credentials to every request. No
 * setting allows them. The default of the chart's `networkPolicy.deniedCidrs`.
 */
export const DENIED_CIDRS: readonly string[] = [
  ...['169.254.0.0/16', '168.63.129.16/32', '100.100.100.200/32', '192.0.0.192/32'],
  ...['fe80::/10', 'fd00:ec2::254/128', 'fd00:ec2::23/128', 'fd20:ce::254/128', '64:ff9b::a9fe:0/112'],
]
const isDenied = createRangeRule(DENIED_CIDRS)

/**
 * Allows public addresses and the addresses within the ranges, except `DENIED_CIDRS`. A mapped IPv4 address counts as IPv4.
 * @param allowCidrs e.g. `10.1.0.0/16` or `fd00:1::/32`
 * @throws DrapeError INTERNAL_ERROR for an invalid range
 */
export function createAddressRule(allowCidrs: readonly string[]): AddressRule {
  const isNamed = createNamedRule(allowCidrs)
  return (text) => isNamed(text) || (ipaddr.isValid(text) && isPublic(ipaddr.process(text)) && !isDenied(text))
}

/**
 * Allows only the addresses within the ranges, except `DENIED_CIDRS`.
 * @throws DrapeError INTERNAL_ERROR for an invalid range
 */
export function createNamedRule(allowCidrs: readonly string[]): AddressRule {
  const isInRange = createRangeRule(allowCidrs)
  return (text) => isInRange(text) && !isDenied(text)
}

/**
 * Allows only the addresses within the ranges. A mapped IPv4 address counts as IPv4.
 * @throws DrapeError INTERNAL_ERROR for an invalid range
 */
export function createRangeRule(cidrs: readonly string[]): AddressRule {
  const ranges = cidrs.map(parseRange)
  return (text) => {
    if (!ipaddr.isValid(text)) return false
    const address = ipaddr.process(text)
    return ranges.some((range) => isWithin(address, range))
  }
}

/** The address in its usual notation: a mapped IPv4 address without the IPv6 prefix. */
export function readableAddress(text: string): string {
  return ipaddr.isValid(text) ? ipaddr.process(text).toString() : text
}

/** Network that shares a rate limit: the IPv4 address itself, or the /64 of an IPv6 address, which one site owns. */
export function networkOf(text: string): string {
  // Almost every address; parsing it would take much longer.
  const unmapped = text.startsWith('::ffff:') ? text.slice(7) : text
  if (isIPv4(unmapped)) return unmapped
  if (!ipaddr.isValid(text)) return text
  const address = ipaddr.process(text)
  if (address instanceof ipaddr.IPv4) return address.toString()
  return `${address.parts
    .slice(0, 4)
    .map((part) => part.toString(16))
    .join(':')}::/64`
}

/** The /24 of an IPv4 address, or the /48 of an IPv6 address: one attacker easily has all addresses of it. */
export function siteOf(text: string): string {
  const network = networkOf(text)
  if (isIPv4(network)) return network.replace(/\d+$/, '0/24')
  return ipaddr.isValid(text) ? `${ipaddr.IPv6.networkAddressFromCIDR(`${ipaddr.process(text)}/48`)}/48` : text
}

function parseRange(text: string): Range {
  try {
    return ipaddr.parseCIDR(text)
  } catch (cause) {
    throw new DrapeError('INTERNAL_ERROR', `"${text}" is not a CIDR range such as 10.1.0.0/16.`, { cause })
  }
}

function isPublic(address: ipaddr.IPv4 | ipaddr.IPv6): boolean {
  if (address.range() !== 'unicast') return false
  return address.kind() === 'ipv4' || isWithin(address, GLOBAL_UNICAST)
}

function isWithin(address: ipaddr.IPv4 | ipaddr.IPv6, [network, bits]: Range): boolean {
  if (address instanceof ipaddr.IPv4) return network instanceof ipaddr.IPv4 && address.match(network, bits)
  return network instanceof ipaddr.IPv6 && address.match(network, bits)
}
