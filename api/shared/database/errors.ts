import { BackendTerminatedError, BackendTerminatedUnexpectedlyError, ConnectionError } from 'slonik'
import { DrapeError } from '../contract/errors.ts'

/**
 * Classes and codes of transient errors: connection, insufficient resources (e.g. disk), operator intervention
 * (includes statement timeout), read-only transaction, serialization failure, deadlock, lock not available.
 * https://www.postgresql.org/docs/current/errcodes-appendix.html
 */
const TRANSIENT = /^(?:08|53|57|25006|40001|40P01|55P03)/
/** Error codes of a socket that cannot connect or was closed. */
const UNREACHABLE: ReadonlySet<string> = new Set(['ECONNREFUSED', 'ECONNRESET', 'EPIPE', 'ETIMEDOUT', 'ENOTFOUND'])

/**
 * Converts an error of an unavailable, starting or full Postgres, or of a serialization failure or deadlock, into a
 * retryable `SERVICE_UNAVAILABLE`. Returns any other error unchanged.
 */
export function translateDatabaseError(error: unknown): unknown {
  return isTransient(error) ? unavailable(error) : error
}

function isTransient(error: unknown): boolean {
  if (!(error instanceof Error) || error instanceof DrapeError) return false
  if (
    error instanceof ConnectionError ||
    error instanceof BackendTerminatedError ||
    error instanceof BackendTerminatedUnexpectedlyError
  )
    return true
  const code = 'code' in error && typeof error.code === 'string' ? error.code : ''
  return UNREACHABLE.has(code) || (code.length === 5 && TRANSIENT.test(code)) || isTransient(error.cause)
}

export function unavailable(cause: unknown): DrapeError {
  return new DrapeError('SERVICE_UNAVAILABLE', 'The service is temporarily unavailable.', { retryable: true, cause })
}
