import { DrapeError } from '../../api/shared/contract/errors.ts'
import { InvalidConfiguration } from '../../api/shared/process/config.ts'
import { SecretClosed } from '../../api/shared/signing/secret-box.ts'
import { UsageError } from './options.ts'

/** A failed check, or a rejected request. */
export class CheckFailure extends Error {}

export interface Failure {
  /** The problem, then the fix. */
  readonly line: string
  readonly exitCode: 1 | 2
}

/** Describes any error of a command in one line. */
export function describeFailure(error: unknown): Failure {
  const message = error instanceof Error ? error.message : String(error)
  if (error instanceof UsageError)
    return { line: `${sentence(message)} Help: drape ${error.command ? `${error.command} ` : ''}--help`, exitCode: 2 }
  if (error instanceof CheckFailure || error instanceof SecretClosed) return { line: sentence(message), exitCode: 1 }
  if (error instanceof InvalidConfiguration) return { line: sentence(error.line), exitCode: 2 }
  if (error instanceof DrapeError) return { line: describeRefusal(error), exitCode: 1 }
  return { line: `${sentence(message)} Run the command with LOG_LEVEL=debug to see where.`, exitCode: 1 }
}

/** The API's message is generic; an operator needs the cause. */
function describeRefusal({ code, message, cause }: DrapeError): string {
  if (code !== 'SERVICE_UNAVAILABLE' || !(cause instanceof Error)) return sentence(message)
  return `${sentence(`Postgres does not respond: ${reasonOf(cause)}`)} Check DATABASE_URL, and that Postgres runs.`
}

/** The reasons of all attempts, for an aggregate error. */
export function reasonOf(error: Error): string {
  const reasons =
    error instanceof AggregateError && error.message === ''
      ? error.errors.map(({ message }) => message).join('; ')
      : error.message
  const cause = error.cause instanceof Error ? `: ${error.cause.message}` : ''
  return `${reasons}${cause}`
}

function sentence(text: string): string {
  const line = text.trim().replaceAll(/\s*\n\s*/g, ' ')
  return /[.!?]$/.test(line) ? line : `${line}.`
}
