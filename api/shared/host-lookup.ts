import { Resolver } from 'node:dns/promises'
import { readFile } from 'node:fs/promises'

/** All addresses of a host name; empty when it has none. Rejects with the reason of `signal` when it aborts first. */
export type LookUpHost = (hostname: string, signal: AbortSignal) => Promise<readonly string[]>

export interface HostLookupSettings {
  /** DNS servers such as `10.0.0.10` or `[::1]:5353`; empty: those of resolv.conf. */
  readonly servers: readonly string[]
  readonly hostsPath?: string
  readonly resolvConfPath?: string
  /** For all queries of one look-up together; default 5 s. */
  readonly timeoutMs?: number
}

const QUERY_MS = 1500
const QUERY_TRIES = 2
const MAX_SEARCH_DOMAINS = 6
/** Answers of a server that are no fault of the look-up: the name has no such address. */
const WITHOUT_ADDRESS = ['ENODATA', 'ENOTFOUND']

/**
 * Looks hosts up without the thread pool: `getaddrinfo` occupies one of its threads for as long as a name server is silent, so a
 * few slow names stop every look-up, file access and image of the process. Each look-up has a resolver of its own, whose
 * queries end with it. Reads hosts and search domains from the system's files, as Kubernetes writes them.
 */
export function createHostLookup({
  servers,
  hostsPath = '/etc/hosts',
  resolvConfPath = '/etc/resolv.conf',
  timeoutMs = 5000,
}: HostLookupSettings): LookUpHost {
  const system = readBriefly(async () => ({
    hosts: parseHosts(await readFile(hostsPath, 'utf8').catch(() => '')),
    searchDomains: parseSearchDomains(await readFile(resolvConfPath, 'utf8').catch(() => '')),
  }))

  return async (hostname, signal) => {
    const name = hostname.toLowerCase()
    const { hosts, searchDomains } = await system()
    const known = hosts.get(name.replace(/\.$/, ''))
    if (known) return known
    // Never asked of a DNS server (RFC 6761).
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
      // Not with what the resolver says of its cancelled queries, which depends on how far they were.
      throw ending.aborted ? ending.reason : error
    } finally {
      ending.removeEventListener('abort', cancel)
    }
  }
}

/**
 * The names to try, in order. A name with dots is first tried as it is, whatever `ndots` says: callers mean hosts of the
 * Internet, and each search domain would cost a query for each of them.
 */
function candidatesOf(name: string, searchDomains: readonly string[]): string[] {
  if (name.endsWith('.')) return [name.slice(0, -1)]
  const searched = searchDomains.map((domain) => `${name}.${domain}`)
  return name.includes('.') ? [name, ...searched] : [...searched, name]
}

/** Of both families; a family without an answer is left out as long as the other has one. */
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

const BRIEF_MS = 5000

/** The files change while the process runs, but not for every look-up. */
function readBriefly<T>(read: () => Promise<T>): () => Promise<T> {
  let known: { value: Promise<T>; until: number } | null = null
  return () => {
    if (known === null || known.until < Date.now()) known = { value: read(), until: Date.now() + BRIEF_MS }
    return known.value
  }
}
