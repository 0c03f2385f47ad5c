import { Resolver } from 'node:dns/promises'
import { readFile } from 'node:fs/promises'

/** All addresses of a host name; empty when it has none. Throws the reason of `signal` when it aborts first. */
export type LookUpHost = (hostname: string, signal: AbortSignal) => Promise<readonly string[]>

export interface HostLookupSettings {
  /** DNS servers, e.g. `10.0.0.10` or `[::1]:5353`. Empty: the servers of resolv.conf. */
  readonly servers: readonly string[]
  readonly hostsPath?: string
  readonly resolvConfPath?: string
  /** Time limit for all queries of one lookup. Default 5 s. */
  readonly timeoutMs?: number
}

const QUERY_MS = 1500
const QUERY_TRIES = 2
const MAX_SEARCH_DOMAINS = 6
/** Server responses that are not lookup failures: the name has no such address. */
const WITHOUT_ADDRESS = ['ENODATA', 'ENOTFOUND']

/**
 * Resolves hosts without the libuv thread pool: `getaddrinfo` occupies a thread while a name server does not respond,
 * so a few slow names would block every lookup, file access and image of the process. Each lookup has its own resolver,
 * whose queries end with the lookup. Reads hosts and search domains from the system's files, as Kubernetes writes them.
 */
export function createHostLookup({
  servers,
  hostsPath = '/etc/hosts',
  resolvConfPath = '/etc/resolv.conf',
  timeoutMs = 5000,
}: HostLookupSettings): LookUpHost {
  const system = cacheRead(async () => ({
    hosts: parseHosts(await readFile(hostsPath, 'utf8').catch(() => '')),
    searchDomains: parseSearchDomains(await readFile(resolvConfPath, 'utf8').catch(() => '')),
  }))

  return async (hostname, signal) => {
    const name = hostname.toLowerCase()
    const { hosts, searchDomains } = await system()
    const known = hosts.get(name.replace(/\.$/, ''))
    if (known) return known
    // Never queried via DNS (RFC 6761).
    if (/(^|\.)localhost\.?$/.test(name)) return ['127.0.0.1', '::1']
    const resolver = new Resolver({ timeout: QUERY_MS, tries: QUERY_TRIES })
    if (servers.length > 0) resolver.setServers(servers)
    const ending = AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)])
    const cancel = () => resolver.cancel()
    ending.addEventListener('abort', cancel, { once: true })
    try {
      for (const candidate of candidatesOf(name, searchDomains)) {
        ending.throwIfAborted()
        const addresses = await resolveAll(resolver, candidate)
        if (addresses.length > 0) return addresses
      }
      return []
    } catch (error) {
      // Not the resolver's error about its cancelled queries, which depends on their progress.
      throw ending.aborted ? ending.reason : error
    } finally {
      ending.removeEventListener('abort', cancel)
    }
  }
}

/**
 * Names to try, in order. A name with dots is first tried unchanged, whatever `ndots` says: callers mean hosts on the
 * Internet, and each search domain would cost a query.
 */
function candidatesOf(name: string, searchDomains: readonly string[]): string[] {
  if (name.endsWith('.')) return [name.slice(0, -1)]
  const searched = searchDomains.map((domain) => `${name}.${domain}`)
  return name.includes('.') ? [name, ...searched] : [...searched, name]
}

/** Resolves both address families. Ignores a failed family if the other one succeeds. */
async function resolveAll(resolver: Resolver, name: string): Promise<string[]> {
  const answers = await Promise.allSettled([resolver.resolve4(name), resolver.resolve6(name)])
  const addresses = answers.flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []))
  const failed = answers.find((answer) => answer.status === 'rejected' && !WITHOUT_ADDRESS.includes(answer.reason.code))
  if (addresses.length === 0 && failed?.status === 'rejected') throw failed.reason
  return addresses
}

function parseHosts(text: string): Map<string, readonly string[]> {
  const hosts = new Map<string, readonly string[]>()
  for (const line of text.split('\n')) {
    const [address, ...names] = line.replace(/#.*/, '').trim().split(/\s+/)
    for (const name of names) hosts.set(name.toLowerCase(), [...(hosts.get(name.toLowerCase()) ?? []), address])
  }
  return hosts
}

function parseSearchDomains(text: string): string[] {
  const [, domains = ''] = [...text.matchAll(/^\s*(?:search|domain)\s+(.*)$/gm)].at(-1) ?? []
  const named = domains.split(/\s+/).map((domain) => domain.replace(/\.$/, ''))
  return named.filter((domain) => domain !== '').slice(0, MAX_SEARCH_DOMAINS)
}

const CACHE_MS = 5000

/** Caches briefly: the files can change at run time, but need not be read for every lookup. */
function cacheRead<T>(read: () => Promise<T>): () => Promise<T> {
  let known: { value: Promise<T>; until: number } | null = null
  return () => {
    if (known === null || known.until < Date.now()) known = { value: read(), until: Date.now() + CACHE_MS }
    return known.value
  }
}
