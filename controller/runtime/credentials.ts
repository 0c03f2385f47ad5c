import { readFileSync } from 'node:fs'
import type { RequestOptions } from 'node:https'
import { ExecAuth } from '@kubernetes/client-node/dist/exec_auth.js'
import type { Kubeconfig } from './kubeconfig.ts'

/** What each call of the API server is sent with. */
export type Credentials = () => Promise<RequestOptions>

/** Files that change are read again after so long. */
const FRESH_MS = 60_000

/** Certificates, tokens and names by which the API server is known and knows the caller; files are read again from time to time. */
export function createCredentials(kubeconfig: Kubeconfig, now = () => performance.now()): Credentials {
  const exec = new ExecAuth()
  let last: { readonly at: number; readonly options: RequestOptions } | null = null
  return async () => {
    if (last === null || now() - last.at > FRESH_MS) last = { at: now(), options: readOptions(kubeconfig) }
    const options = { ...last.options, headers: { ...last.options.headers } }
    if (exec.isAuthProvider(kubeconfig.user)) await exec.applyAuthentication(kubeconfig.user, options)
    return options
  }
}

function readOptions({ cluster, user, tokenFile }: Kubeconfig): RequestOptions {
  const token = tokenFile === undefined ? user.token : readFileSync(tokenFile, 'utf8').trim()
  const { username, password = '', impersonateUser } = user
  const [ca, cert, key] = [
    bytesOf(cluster.caFile, cluster.caData),
    bytesOf(user.certFile, user.certData),
    bytesOf(user.keyFile, user.keyData),
  ]
  return {
    ...(ca && { ca }),
    ...(cert && { cert }),
    ...(key && { key }),
    ...(cluster.tlsServerName && { servername: cluster.tlsServerName }),
    ...(cluster.skipTLSVerify && { rejectUnauthorized: false }),
    ...(username && { auth: `${username}:${password}` }),
    headers: {
      ...(token && { authorization: `Bearer ${token}` }),
      ...(impersonateUser && { 'impersonate-user': impersonateUser }),
    },
  }
}

function bytesOf(file: string | undefined, base64: string | undefined): Buffer | undefined {
  if (file) return readFileSync(file)
  return base64 ? Buffer.from(base64, 'base64') : undefined
}
