import { isIP } from 'node:net'

const PORTS = new Map([
  ['http:', 80],
  ['https:', 443],
])

/**
 * A permitted URL, with its host not yet resolved; or the reason why the URL is not permitted.
 * @param base base URL of a relative URL
 */
export function vetUrl(
  text: string,
  { allowPorts, base }: { allowPorts: readonly number[]; base?: URL },
): URL | string {
  const url = URL.parse(text, base?.href)
  if (!url || !PORTS.has(url.protocol)) return 'the URL is not a valid http or https URL'
  if (url.username || url.password) return 'the URL contains credentials'
  const port = url.port ? Number(url.port) : PORTS.get(url.protocol)
  return port !== undefined && allowPorts.includes(port) ? url : 'the port of the URL is not allowed'
}

/** IP address in the URL; null when the URL contains a host name. */
export function literalAddress({ hostname }: URL): string | null {
  const literal = hostname.replace(/^\[|\]$/g, '')
  return isIP(literal) ? literal : null
}
