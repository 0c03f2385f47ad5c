import { KubeConfig, type RequestContext } from '@kubernetes/client-node'

/** A connection to the API server with credentials. */
export interface Connection {
  readonly config: KubeConfig
  /** The namespace that the credentials belong to. */
  readonly namespace: string
  /** Ends all requests. */
  close(): void
}

export interface ConnectionOptions {
  /** A file to read instead of what `KUBECONFIG`, the home folder or the pod offer. */
  readonly kubeconfig?: string
  /** The folder that holds a pod's `/var/run/secrets`, to be read as a pod does. */
  readonly podRoot?: string
}

/**
 * Opens a connection with the credentials that the package finds. Tokens and certificates in files are read again when they may have
 * changed. Throws an Error that says what is missing.
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

/** The package's way to the network. */
export type Dispatcher = NonNullable<ReturnType<RequestContext['getDispatcher']>>

/** So often connections are made with what certificates and tokens are by then. */
const FRESH_MS = 60_000

/** The package makes connections of its own for each request; this keeps them for the next one. */
class LastingKubeConfig extends KubeConfig {
  #lasting: { readonly dispatcher: Dispatcher; readonly since: number } | undefined

  override async applySecurityAuthentication(context: RequestContext): Promise<void> {
    await super.applySecurityAuthentication(context)
    const made = context.getDispatcher()
    if (made && (this.#lasting === undefined || performance.now() - this.#lasting.since > FRESH_MS))
      this.#lasting = { dispatcher: made.compose(overHttp1), since: performance.now() }
    if (this.#lasting) context.setDispatcher(this.#lasting.dispatcher)
  }

  // Without certificates the package would share the connections of the whole process.
  override createDispatcherOptions(...given: Parameters<KubeConfig['createDispatcherOptions']>) {
    const options = super.createDispatcherOptions(...given)
    return options.type === 'none' ? { type: 'agent' as const, connect: {} } : options
  }

  close(): void {
    this.#lasting?.dispatcher.destroy()
  }
}

/** HTTP/2 would send everything over one connection: when that one is dead, new requests would wait for it too. */
function overHttp1(dispatch: Dispatcher['dispatch']): Dispatcher['dispatch'] {
  return (options, handler) => dispatch(Object.assign({ allowH2: false }, options), handler)
}

function assertComplete(config: KubeConfig): void {
  const name = config.getCurrentContext()
  // Where it finds nothing, the package takes a server of its own for granted.
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
