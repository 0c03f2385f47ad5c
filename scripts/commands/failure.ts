import { DrapeError } from '../../api/shared/errors.ts'
import { SecretClosed } from '../../api/shared/secret-box.ts'
import { UsageError } from './options.ts'

/** The installation is not as it should be, or the service refused. */
export class CheckFailure extends Error {}

export interface Failure {
  /** What is wrong, then what to do. */
  readonly line: string
  readonly exitCode: 1 | 2
}

/** One line for any error of a command. */
export function describeFailure(error: unknown): Failure {
  const message = error instanceof Error ? error.message : String(error)
  if (error instanceof UsageError)
    return { line: `${sentence(message)} Help: drape ${error.command ? `${error.command} ` : ''}--help`, exitCode: 2 }
  if (error instanceof CheckFailure || error instanceof SecretClosed) return { line: sentence(message), exitCode: 1 }
  if (message.startsWith('The configuration is not valid:')) return { line: sentence(message), exitCode: 1 }
  if (error instanceof DrapeError) return { line: describeRefusal(error), exitCode: 1 }
  return { line: `${sentence(message)} Run the command with LOG_LEVEL=debug to see where.`, exitCode: 1 }
}

/** The API says no more than that it is unavailable; the operator can do something about the reason. */
function describeRefusal({ code, message, cause }: DrapeError): string {
  if (code !== 'SERVICE_UNAVAILABLE' || !(cause instanceof Error)) return sentence(message)
  return `${sentence(`Postgres does not answer: ${reasonOf(cause)}`)} Check DATABASE_URL, and that Postgres runs.`
}

/** Of an error that several attempts led to, the reason of each. */
export function reasonOf(error: Error): string {
  const reasons =
    error instanceof AggregateError ? error.errors.map(({ message }) => message).join('; ') : error.message
  const cause = error.cause instanceof Error ? `: ${error.cause.message}` : ''
  return `${reasons}${cause}`
}

function sentence(text: string): string {
  const line = text.trim().replaceAll(/\s*\n\s*/g, ' ')
  return /[.!?]$/.test(line) ? line : `${line}.`
}
