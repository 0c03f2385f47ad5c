import { constants } from 'node:fs'
import { access, readFile, stat } from 'node:fs/promises'
import { dirname } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { Argument, Option } from 'commander'

/** Values of the options by declared name; a boolean flag is `true`. */
export type Options = Readonly<Record<string, string | undefined>>

/** Invalid arguments. `command` is the name of the command, for example `shop create`; empty for the program. */
export class UsageError extends Error {
  readonly command: string | undefined

  constructor(message: string, command?: string) {
    super(message)
    this.command = command
  }
}

/** Declares an option, for example `option('--name <name>', 'name of the account')`; without a value it is a boolean flag. */
export function option(flags: string, description: string): Option {
  return new Option(flags, description)
}

/** Declares a required option. */
export function mandatory(flags: string, description: string): Option {
  return option(flags, description).makeOptionMandatory()
}

/** Declares an option that can be repeated, or have several values separated by commas. */
export function list(flags: string, description: string): Option {
  return option(flags, description).argParser<string>((value, before) => (before ? `${before},${value}` : value))
}

export function argument(name: string, description: string): Argument {
  return new Argument(name, description)
}

const PAGE_ROWS = 50

/** Options of a list that is newest first. */
export const PAGE_OPTIONS: readonly Option[] = [
  option('--limit <n>', `number of rows (default: ${PAGE_ROWS})`),
  option('--before <id>', 'ID of the last row of the previous page'),
]

export function readPage({ limit, before }: Options): { limit: number; before: string | null } {
  return { limit: limit === undefined ? PAGE_ROWS : wholeNumber(limit, 'limit', 1, 1000), before: before ?? null }
}

export function required<T extends string>(value: T | undefined, name: string): T {
  if (value === undefined || value === '') throw new UsageError(`--${name} is required`)
  return value
}

/** The content of a file; - is standard input. */
export async function readGiven(path: string): Promise<Buffer> {
  // /dev/stdin cannot be opened if it is a socket, as in a process that Node starts.
  return (path === '-' ? buffer(process.stdin) : readFile(path)).catch((error: NodeJS.ErrnoException) => {
    throw new UsageError(`${path} cannot be read${error.code === undefined ? '' : ` (${error.code})`}`)
  })
}

/** Call before the work whose result the file receives. Does not create the file. Throws if the path cannot be written. */
export async function requireWritable(path: string): Promise<void> {
  try {
    const found = await stat(path).catch(() => null)
    if (found?.isDirectory()) throw Object.assign(new Error(), { code: 'EISDIR' })
    await access(found === null ? `${dirname(path)}/.` : path, constants.W_OK)
  } catch (error) {
    throw new UsageError(`${path} cannot be written (${(error as NodeJS.ErrnoException).code})`)
  }
}

export function wholeNumber(text: string, name: string, minimum: number, maximum = Infinity): number {
  const value = /^-?\d+$/.test(text) ? Number(text) : Number.NaN
  if (Number.isSafeInteger(value) && value >= minimum && value <= maximum) return value
  const range = maximum < Infinity ? `from ${minimum} to ${maximum}` : `of at least ${minimum}`
  throw new UsageError(`--${name} must be a whole number ${range}`)
}

export function readSwitch(text: string | undefined, name: string): boolean | undefined {
  if (text === undefined) return undefined
  if (text !== 'true' && text !== 'false') throw new UsageError(`--${name} must be true or false`)
  return text === 'true'
}
