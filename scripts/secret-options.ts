import { readFile } from 'node:fs/promises'
import { text } from 'node:stream/consumers'
import { UsageError } from './command-options.ts'

/** Options whose value is a secret; each has a second form, `--NAME-file PATH`, with `-` for standard input. */
const SECRET_OPTIONS = ['secret', 'admin-token', 'key'] as const

export const SECRET_FILE_OPTIONS = SECRET_OPTIONS.map(fileOption)

/** Takes a setting away, so it is no secret. */
const NONE = 'none'

type Values = Record<string, string | boolean | undefined>

/**
 * Reads the secrets that options name a file for. Other users of the machine can read the arguments of a process, so a secret
 * among the arguments is accepted with a warning.
 * @throws UsageError when a file cannot be read, or an option is given in both forms
 */
export async function readSecretOptions(values: Values, warn: (line: string) => void): Promise<Values> {
  const read = { ...values }
  let isInputRead = false
  for (const name of SECRET_OPTIONS) {
    const path = values[fileOption(name)]
    if (path === undefined) {
      if (values[name] !== undefined && values[name] !== NONE) warn(warningOf(name))
      continue
    }
    if (values[name] !== undefined) throw new UsageError(`Give one of --${name} and --${name}-file`)
    if (path === '-' && isInputRead) throw new UsageError('Standard input holds one secret: give a file for the other')
    isInputRead ||= path === '-'
    read[name] = await readSecret(String(path), name)
  }
  return read
}

async function readSecret(path: string, name: string): Promise<string> {
  const content = await (path === '-' ? text(process.stdin) : readFile(path, 'utf8')).catch(() => {
    throw new UsageError(`--${name}-file cannot be read: ${path}`)
  })
  return content.replace(/\r?\n$/, '')
}

function warningOf(name: string): string {
  return `warning: --${name} is deprecated: other users can read arguments. Use --${name}-file PATH, or --${name}-file - for standard input.`
}

function fileOption(name: (typeof SECRET_OPTIONS)[number]): string {
  return `${name}-file`
}
