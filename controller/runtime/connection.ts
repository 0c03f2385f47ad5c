import { KubeConfig, type RequestContext } from '@kubernetes/client-node'

/** A connection to the API server with credentials. */
export interface Connection {
  readonly config: KubeConfig
  /** The namespace that the credentials belong to. */
  readonly namespace: string
  /** Aborts all requests. */
  close(): void
}

export interface ConnectionOptions {
  /** A kubeconfig file to use instead of `KUBECONFIG`, the home directory or the pod's credentials. */
  readonly kubeconfig?: string
  /** Directory that contains a pod's `/var/run/secrets`, to read credentials as a pod does. */
  readonly podRoot?: string
}

/**
 * Opens a connection with the default credentials. Re-reads tokens and certificates from files that may have changed. Throws an
 * Error that names the missing part.
 */
export function openConnection({ kubeconfig, podRoot }: ConnectionOptions = {}): Connection {
  const config = new LastingKubeConfig()
  if (kubeconfig !== undefined) config.loadFromFile(kubeconfig)
  else if (podRoot !== undefined) config.loadFromCluster(podRoot)
  else config.loadFromDefault(undefined, true)
  assertComplete(config)
  const { namespace = 'default' } = config.getContextObject(config.getCurrentContext()) ?? {}
  return { config, namespace: namespace.trim(), close: () => config.close() }
}

/** The package's HTTP dispatcher. */
export type Dispatcher = NonNullable<ReturnType<RequestContext['getDispatcher']>>

/** Interval after which connections are renewed with the current certificates and tokens. */
const FRESH_MS = 60_000

/** The package creates a connection per request; this class reuses them. */
class LastingKubeConfig extends KubeConfig {
  #lasting: { readonly dispatcher: Dispatcher; readonly since: number } | undefined
  /** The one before: its requests in progress continue. No request lasts longer than FRESH_MS, so earlier ones have none. */
  #previous: Dispatcher | undefined

  override async applySecurityAuthentication(context: RequestContext): Promise<void> {
    await super.applySecurityAuthentication(context)
    const made = context.getDispatcher()
    if (made && (this.#lasting === undefined || performance.now() - this.#lasting.since > FRESH_MS)) {
      this.#previous = this.#lasting?.dispatcher
      this.#lasting = { dispatcher: made.compose(overHttp1), since: performance.now() }
    }
    if (this.#lasting) context.setDispatcher(this.#lasting.dispatcher)
  }

  // Without certificates the package would share the connections of the whole process.
  override createDispatcherOptions(...given: Parameters<KubeConfig['createDispatcherOptions']>) {
    const options = super.createDispatcherOptions(...given)
    return options.type === 'none' ? { type: 'agent' as const, connect: {} } : options
  }

  close(): void {
    this.#lasting?.dispatcher.destroy()
    this.#previous?.destroy()
  }
}

/** HTTP/2 would send all requests over one connection: if it is dead, new requests would hang, too. */
function overHttp1(dispatch: Dispatcher['dispatch']): Dispatcher['dispatch'] {
  return (options, handler) => dispatch(Object.assign({ allowH2: false }, options), handler)
}

function assertComplete(config: KubeConfig): void {
  const name = config.getCurrentContext()
  // Without any configuration, the package assumes a default server.
  if (name === 'loaded-context')
    throw new Error(
      'No cluster configured: KUBECONFIG is not set, ~/.kube/config does not exist, and the process does not run in a pod',
    )
  const cluster = config.getCurrentCluster()
  if (!cluster || !URL.canParse(cluster.server))
    throw new Error(`The context ${name} does not exist or leads to no cluster`)
  const { token, certFile, certData, exec, authProvider, username } = config.getCurrentUser() ?? {}
  if (!(token || certFile || certData || exec || authProvider || username))
    throw new Error(
      `The user of the context ${name} needs a token, a client certificate, exec, an auth-provider or a username`,
    )
}
