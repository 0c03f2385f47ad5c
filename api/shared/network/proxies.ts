import { isIPv6 } from 'node:net'
import { type Dispatcher, EnvHttpProxyAgent, Pool, setGlobalDispatcher } from 'undici'
import { InvalidConfiguration } from '../process/config.ts'

// HTTPS_PROXY, HTTP_PROXY and NO_PROXY, also in lower case, as undici reads them from the environment of the process.

type Environment = Readonly<Record<string, string | undefined>>

const VARIABLES = ['http_proxy', 'HTTP_PROXY', 'https_proxy', 'HTTPS_PROXY']

/**
 * Sends requests of `fetch` through the proxies that the environment names.
 * @throws InvalidConfiguration that names the variable of another proxy than an HTTP proxy
 */
export function useProxies(env: Environment): void {
  const named = VARIABLES.filter((variable) => env[variable])
  // A SOCKS proxy would resolve the names of callers' URLs itself.
  const wrong = named.filter((variable) => !isProxyUrl(env[variable] ?? ''))
  if (wrong.length > 0)
    throw new InvalidConfiguration(
      wrong.map(
        (variable) =>
          `${variable} must be the URL of a proxy: http://HOST:PORT or http://USER:PASSWORD@HOST:PORT, with reserved characters percent-encoded`,
      ),
    )
  if (named.length === 0) return
  // Proxies rarely open tunnels to the port of http. Without a tunnel, some close connections unannounced after each response, such as
  // tinyproxy, so that another request over the same connection would be lost.
  const factory = (origin: string | URL, options: object) => new Pool(origin, { ...options, pipelining: 0 })
  setGlobalDispatcher(new EnvHttpProxyAgent({ proxyTunnel: false, factory }))
}

/** Without a password, undici sends no user either. */
function isProxyUrl(text: string): boolean {
  const url = URL.parse(text)
  if (url === null || !/^https?:$/.test(url.protocol) || (url.username === '') !== (url.password === '')) return false
  try {
    decodeURIComponent(url.username + url.password)
    return true
  } catch {
    return false
  }
}

/**
 * Dispatcher for one host whose addresses were checked. Connects to one of them without another DNS query, directly or through a proxy:
 * a proxy that receives the name could resolve it to another address. TLS verifies the name.
 */
export function createPinnedAgent(addresses: readonly string[], { maxHeaderSize }: { maxHeaderSize: number }) {
  const found = addresses.map((address) => ({ address, family: isIPv6(address) ? 6 : 4 }))
  const [{ address, family }] = found
  const host = family === 6 ? `[${address}]` : address
  const pin: Dispatcher.DispatcherComposeInterceptor = (dispatch) => (sent, handler) => {
    const target = `${host}:${sent.path.slice(sent.path.lastIndexOf(':') + 1)}`
    return dispatch({ ...sent, path: target, headers: { ...sent.headers, host: target } }, handler)
  }
  return new EnvHttpProxyAgent({
    connect: {
      lookup: (_, { all }, callback) => {
        if (all) callback(null, found)
        else callback(null, address, family)
      },
    },
    maxHeaderSize,
    // Without a tunnel, requests for http would name the host to the proxy.
    proxyTunnel: true,
    clientFactory: (proxy, options) => new Pool(proxy, options).compose(pin),
  })
}

/** Options for Node's own agents: for them as for undici, HTTP_PROXY is the default of HTTPS_PROXY, and NO_PROXY covers subdomains. */
export function agentOptions(env: Environment = process.env) {
  const HTTP_PROXY = env.http_proxy ?? env.HTTP_PROXY
  const names = (env.no_proxy ?? env.NO_PROXY ?? '').split(/[,\s]+/).map((name) => name.replace(/^\*?\.(?=.)/, ''))
  const proxyEnv = {
    HTTP_PROXY,
    HTTPS_PROXY: (env.https_proxy ?? env.HTTPS_PROXY) || HTTP_PROXY,
    NO_PROXY: names.flatMap((name) => (name === '*' ? name : [name, `.${name}`])).join(','),
  }
  return { httpAgent: { proxyEnv, keepAlive: !HTTP_PROXY }, httpsAgent: { proxyEnv } }
}
