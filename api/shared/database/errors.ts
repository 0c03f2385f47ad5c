import { BackendTerminatedError, BackendTerminatedUnexpectedlyError, ConnectionError } from 'slonik'
import { DrapeError } from '../errors.ts'

/**
 * Classes and codes that say that the database cannot do it now, and may in a moment: connections, resources such as the disk,
 * intervention (with statements that took too long), read only, serialisation, deadlock, lock not available.
 * https://www.postgresql.org/docs/current/errcodes-appendix.html
 */
const PASSING = /^(?:08|53|57|25006|40001|40P01|55P03)/
/** The error codes of a socket without an answer. */
const UNREACHABLE: ReadonlySet<string> = new Set(['ECONNREFUSED', 'ECONNRESET', 'EPIPE', 'ETIMEDOUT', 'ENOTFOUND'])

/**
 * Turns what the driver throws when Postgres is away, starting, full or at odds with itself into a retryable
 * `SERVICE_UNAVAILABLE`; anything else is thrown as it is.
 */
export function translateDatabaseError(error: unknown): unknown {
  return isPassing(error) ? unavailable(error) : error
}

function isPassing(error: unknown): boolean {
  if (!(error instanceof Error) || error instanceof DrapeError) return false
  if (
    error instanceof ConnectionError ||
    error instanceof BackendTerminatedError ||
    error instanceof BackendTerminatedUnexpectedlyError
  )
    return true
  const code = 'code' in error && typeof error.code === 'string' ? error.code : ''
  return UNREACHABLE.has(code) || (code.length === 5 && PASSING.test(code)) || isPassing(error.cause)
}

export function unavailable(cause: unknown): DrapeError {
  return new DrapeError('SERVICE_UNAVAILABLE', 'The service is temporarily unavailable.', { retryable: true, cause })
}
