import type { Argument, Option } from 'commander'
import type { Database } from '../../api/shared/database/database.ts'
import { type Options, UsageError } from './options.ts'

export type Answer = Readonly<Record<string, unknown>>

interface Declaration {
  /** One line in the list of commands. */
  readonly summary: string
  readonly options?: readonly Option[]
  readonly argument?: Argument
}

/** A command that uses the database of DATABASE_URL. Resolves to undefined if the command prints its output itself. */
export interface DatabaseCommand extends Declaration {
  /**
   * Entry in the audit log: none for a command that reads; in the transaction of the change for a command that changes; before
   * the start for work that takes more than one transaction.
   */
  readonly effect: 'reads' | 'changes' | 'changes in steps'
  readonly inDatabase: (database: Database, options: Options) => Promise<Answer | undefined>
}

/** Any other command, which opens its own resources. */
export interface FreeCommand extends Declaration {
  /** Resolves to undefined if the command prints its output itself. */
  readonly run: (options: Options & { readonly json?: string }) => Promise<Answer | undefined>
}

export type Command = DatabaseCommand | FreeCommand

/**
 * Imports the module of a command that images may not contain.
 * @throws UsageError if the module, or one of its packages, is not installed
 */
export async function inClone<T>(name: string, load: () => Promise<T>): Promise<T> {
  return load().catch((cause) => {
    if (cause.code !== 'ERR_MODULE_NOT_FOUND') throw cause
    throw new UsageError(`${name} is not in this image: run it in a clone of the repository`)
  })
}
