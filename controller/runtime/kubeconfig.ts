import { existsSync, readFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { delimiter, dirname, join, resolve } from 'node:path'
// By themselves: the package's own door brings every type of the API along, a hundred megabytes of them.
import {
  type Cluster,
  newClusters,
  newContexts,
  newUsers,
  type User,
} from '@kubernetes/client-node/dist/config_types.js'
import { readYaml } from './yaml.ts'

/** Where the API server is, and in whose name it is called. */
export interface Kubeconfig {
  /** The one that the credentials belong to. */
  readonly namespace: string
  readonly cluster: Cluster
  readonly user: User
  /** The file that holds the token, where one does; what it holds may change. */
  readonly tokenFile?: string
}

export interface KubeconfigSource {
  /** A file to read instead of what is found otherwise. */
  readonly kubeconfig?: string
  readonly env?: Readonly<Record<string, string | undefined>>
  readonly home?: string
  /** What a pod is given. */
  readonly serviceAccount?: string
}

const SERVICE_ACCOUNT = '/var/run/secrets/kubernetes.io/serviceaccount'

/**
 * Reads the files that `KUBECONFIG` names, otherwise the one in the home folder, otherwise what a pod is given. Throws an Error that
 * says what is missing or not supported.
 */
export function findKubeconfig(source: KubeconfigSource): Kubeconfig {
  const { kubeconfig, env = {}, home = homedir(), serviceAccount = SERVICE_ACCOUNT } = source
  if (kubeconfig !== undefined) return readFiles([kubeconfig])
  const named = (env.KUBECONFIG ?? '').split(delimiter).filter(Boolean)
  if (named.length > 0) return readFiles(named.filter(existsSync))
  const own = join(home, '.kube/config')
  if (existsSync(own)) return readFiles([own])
  if (existsSync(join(serviceAccount, 'token'))) return readServiceAccount(env, serviceAccount)
  throw new Error(
    'No cluster configured: KUBECONFIG is not set, ~/.kube/config does not exist, and the process does not run in a pod',
  )
}

interface File {
  readonly 'current-context'?: string
  readonly clusters?: readonly unknown[]
  readonly contexts?: readonly unknown[]
  readonly users?: readonly { readonly name?: string; readonly user?: { readonly tokenFile?: string } }[]
}

/** What an earlier file says counts, as it does for kubectl. */
function readFiles(paths: readonly string[]): Kubeconfig {
  const files = paths.map(readFile)
  const all = <T>(of: (file: (typeof files)[number]) => readonly T[]) => files.flatMap(of)
  const current = files.find((file) => file.current)?.current
  const context = all(({ contexts }) => contexts).find(({ name }) => name === current)
  if (context === undefined) throw new Error(`Unknown context ${current ?? ''} in ${paths.join(delimiter)}`)
  const cluster = all(({ clusters }) => clusters).find(({ name }) => name === context.cluster)
  if (cluster === undefined) throw new Error(`Unknown cluster ${context.cluster} in ${paths.join(delimiter)}`)
  const user: User = all(({ users }) => users).find(({ name }) => name === context.user) ?? { name: context.user }
  if (user.authProvider?.name)
    throw new Error(`The auth-provider ${user.authProvider.name} is not supported: use exec instead`)
  const tokenFile = all(({ tokenFiles }) => tokenFiles).find(({ name }) => name === context.user)?.path
  return { namespace: context.namespace ?? 'default', cluster, user, ...(tokenFile !== undefined && { tokenFile }) }
}

function readFile(path: string) {
  const [document = {}] = readYaml(readFileSync(path, 'utf8'))
  const { clusters = [], contexts = [], users = [], 'current-context': current } = document as File
  // Paths are relative to the file's folder.
  const placed = (file: string | undefined) => file && resolve(dirname(path), file)
  return {
    current,
    clusters: newClusters(clusters).map((cluster) => ({ ...cluster, caFile: placed(cluster.caFile) })),
    contexts: newContexts(contexts),
    users: newUsers(users.map(withoutTokenFile)).map((user) => ({
      ...user,
      certFile: placed(user.certFile),
      keyFile: placed(user.keyFile),
    })),
    tokenFiles: users.flatMap(({ name, user }) => (user?.tokenFile ? [{ name, path: placed(user.tokenFile) }] : [])),
  }
}

// The package would read the token once and for ever.
function withoutTokenFile<T extends { user?: object }>(entry: T): T {
  return { ...entry, user: { ...entry.user, tokenFile: undefined } }
}

function readServiceAccount(env: Readonly<Record<string, string | undefined>>, folder: string): Kubeconfig {
  const { KUBERNETES_SERVICE_HOST: host = '', KUBERNETES_SERVICE_PORT: port = '443' } = env
  if (host === '') throw new Error('This is a pod, but KUBERNETES_SERVICE_HOST is missing')
  const namespace = join(folder, 'namespace')
  return {
    namespace: existsSync(namespace) ? readFileSync(namespace, 'utf8').trim() : 'default',
    cluster: {
      name: 'in-cluster',
      server: `https://${host.includes(':') ? `[${host}]` : host}:${port}`,
      caFile: join(folder, 'ca.crt'),
      skipTLSVerify: false,
    },
    user: { name: 'service-account' },
    tokenFile: join(folder, 'token'),
  }
}
