import type { IncomingMessage } from 'node:http'
import { Agent, type RequestOptions, request } from 'node:https'
import { text } from 'node:stream/consumers'
import { createCredentials } from './credentials.ts'
import { findKubeconfig, type KubeconfigSource } from './kubeconfig.ts'

/** One call of the API. */
export interface Call {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  readonly path: string
  readonly query?: Readonly<Record<string, string | number | boolean | undefined>>
  readonly body?: unknown
  readonly contentType?: string
  readonly signal?: AbortSignal
  /** Called at the last moment before anything is sent; nothing is when it throws. */
  readonly beforeSent?: () => void
}

/** A connection to the API server with credentials. */
export interface Connection {
  /** The namespace that the credentials belong to. */
  readonly namespace: string
  /** Resolves with the answer's head; the caller reads or destroys the rest. Throws a `KubernetesError` where it is no success. */
  open(call: Call): Promise<IncomingMessage>
  close(): void
}

/** What the API server, or the way to it, said instead of an answer. `status` is 0 when nothing came back. */
export class KubernetesError extends Error {
  readonly status: number
  readonly reason: string
  /** When the server asks to be left alone for so long. */
  readonly retryAfterSeconds: number | null

  constructor(
    status: number,
    message: string,
    options: { reason?: string; retryAfterSeconds?: number | null; cause?: unknown } = {},
  ) {
    super(message, { cause: options.cause })
    this.name = 'KubernetesError'
    this.status = status
    this.reason = options.reason ?? ''
    this.retryAfterSeconds = options.retryAfterSeconds ?? null
  }
}

/**
 * Opens a connection: with the file `kubeconfig`, or what `findKubeconfig` finds in its stead. Tokens and certificates that change in
 * their files are read again.
 */
export function openConnection(source: KubeconfigSource = {}): Connection {
  const kubeconfig = findKubeconfig(source)
  const { server, proxyUrl } = kubeconfig.cluster
  const proxyEnv = proxyUrl ? { proxyEnv: { HTTPS_PROXY: proxyUrl } } : {}
  const agent = new Agent({ keepAlive: true, maxSockets: 64, ...proxyEnv })
  const credentials = createCredentials(kubeconfig)
  return {
    namespace: kubeconfig.namespace,
    open: async (call) => succeeded(await send(server, call, { ...(await credentials()), agent })),
    close: () => agent.destroy(),
  }
}

function send(server: string, call: Call, options: RequestOptions): Promise<IncomingMessage> {
  const { method, path, query = {}, body, contentType = 'application/json', signal, beforeSent = () => {} } = call
  const url = new URL(server.replace(/\/$/, '') + path)
  for (const [name, value] of Object.entries(query)) if (value !== undefined) url.searchParams.set(name, String(value))
  const bytes = body === undefined ? undefined : Buffer.from(JSON.stringify(body))
  const headers = {
    ...(options.headers as Record<string, string>),
    accept: 'application/json',
    ...(bytes && { 'content-type': contentType, 'content-length': bytes.length }),
  }
  return new Promise((resolve, reject) => {
    const sent = request(url, { ...options, method, headers, signal })
    sent.on('response', (response) => {
      // It also ends the reading; without a listener it would end the process when there is no reader.
      response.on('error', () => {})
      resolve(response)
    })
    sent.on('error', (cause) => {
      reject(
        cause instanceof KubernetesError
          ? cause
          : new KubernetesError(0, cause.message, { reason: 'Unreachable', cause }),
      )
    })
    const send = () => {
      try {
        beforeSent()
        sent.end(bytes)
      } catch (error) {
        sent.destroy(error as Error)
      }
    }
    // To connect takes time, in which a process may be frozen.
    sent.once('socket', (socket) => {
      if (socket.connecting) socket.once('secureConnect', send)
      else send()
    })
  })
}

async function succeeded(response: IncomingMessage): Promise<IncomingMessage> {
  const status = response.statusCode ?? 0
  if (status >= 200 && status < 300) return response
  const body = await text(response).catch(() => '')
  const { message = body, reason = '' } = readStatus(body)
  const seconds = Number(response.headers['retry-after'])
  const retryAfterSeconds = Number.isFinite(seconds) && seconds > 0 ? seconds : null
  throw new KubernetesError(status, message, { reason, retryAfterSeconds })
}

function readStatus(body: string): { message?: string; reason?: string } {
  try {
    return JSON.parse(body)
  } catch {
    return {}
  }
}
