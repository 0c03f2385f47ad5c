import type { Argument, Option } from 'commander'
import type { Database } from '../../api/shared/database/database.ts'
import { type Options, UsageError } from './options.ts'

export type Answer = Readonly<Record<string, unknown>>

interface Declaration {
  /** One line of the list of commands. */
  readonly summary: string
  readonly options?: readonly Option[]
  readonly argument?: Argument
}

/** A command over the database of DATABASE_URL. */
export interface DatabaseCommand extends Declaration {
  /**
   * What the audit log records: nothing of a command that reads; what changes, in the transaction of the change; and of work that
   * takes more than one transaction, before it starts.
   */
  readonly effect: 'reads' | 'changes' | 'changes in steps'
  readonly inDatabase: (database: Database, options: Options) => Promise<Answer>
}

/** Any other command; it opens what it needs. */
export interface FreeCommand extends Declaration {
  /** Returns nothing where the command prints while it runs. */
  readonly run: (options: Options & { readonly json?: string }) => Promise<Answer | undefined>
}

export type Command = DatabaseCommand | FreeCommand

/**
 * Imports the module of a command that images do without.
 * @throws UsageError where the module, or a package of the module, is not installed
 */
export async function inClone<T>(name: string, load: () => Promise<T>): Promise<T> {
  return load().catch((cause) => {
    if (cause.code !== 'ERR_MODULE_NOT_FOUND') throw cause
    throw new UsageError(`${name} is not in this image: run it in a clone of the repository`)
  })
}
