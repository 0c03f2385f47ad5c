import { ApiException } from '@kubernetes/client-node'

/** An error response of the API server. `status` is 0 without a response. */
export class KubernetesError extends Error {
  readonly status: number
  readonly reason: string
  /** Seconds to wait before the next request, as requested by the server. */
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

/** Converts an error of the package, which has three shapes: a response, a watch, a request without a response. */
export function kubernetesErrorOf(error: unknown): KubernetesError {
  if (error instanceof KubernetesError) return error
  if (error instanceof ApiException) return refusedBy(error)
  const { message = String(error), statusCode = 0, cause } = error as Error & { statusCode?: number }
  // The fence throws within the request.
  if (cause instanceof KubernetesError) return cause
  const text = cause instanceof Error && cause.message ? cause.message : message
  return new KubernetesError(statusCode, text, { reason: statusCode === 0 ? 'Unreachable' : '', cause: error })
}

function refusedBy({ code, body, headers }: ApiException<unknown>): KubernetesError {
  const text = typeof body === 'string' ? body : ''
  const { message = text || `The API server answered ${code}`, reason = '' } = readStatus(text)
  const seconds = Number(headers['retry-after'])
  return new KubernetesError(code, message, { reason, retryAfterSeconds: seconds > 0 ? seconds : null })
}

function readStatus(body: string): { message?: string; reason?: string } {
  try {
    return JSON.parse(body)
  } catch {
    return {}
  }
}
