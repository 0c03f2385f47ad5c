import { readFile } from 'node:fs/promises'
import { text } from 'node:stream/consumers'
import type { Option } from 'commander'
import { type Options, option, UsageError } from './options.ts'

const SECRETS = ['secret', 'admin-token', 'key'] as const

type Secret = (typeof SECRETS)[number]

/** An option for a secret has a second form, `--NAME-file PATH`, with `-` for standard input; the help lists only this form. */
export function secretOptions(name: Secret, description: string): Option[] {
  return [secretFileOption(name, description), option(`--${name} <secret>`, description).hideHelp()]
}

export function secretFileOption(name: Secret, description: string): Option {
  return option(`--${fileOption(name)} <path|->`, `file of the ${description}; - for standard input`)
}

/** Whether the option contains a secret, or the path of a secret. */
export function isSecret(name: string): boolean {
  return SECRETS.some((secret) => name === secret || name === fileOption(secret))
}

/** Removes a setting, so it is not a secret. */
const NONE = 'none'

/**
 * Reads the secrets from the files that options name. Other users of the machine can read the arguments of a process, so a
 * secret in an argument is accepted with a warning.
 * @throws UsageError if a file cannot be read, or an option is given in both forms
 */
export async function readSecretOptions(values: Options, warn: (line: string) => void): Promise<Options> {
  const read = { ...values }
  let isInputRead = false
  for (const name of SECRETS) {
    const path = values[fileOption(name)]
    if (path === undefined) {
      if (values[name] !== undefined && values[name] !== NONE) warn(warningOf(name))
      continue
    }
    if (values[name] !== undefined) throw new UsageError(`Give one of --${name} and --${name}-file`)
    if (path === '-' && isInputRead)
      throw new UsageError('Standard input can contain only one secret: use a file for the other')
    isInputRead ||= path === '-'
    read[name] = await readSecret(path, name)
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
  return `--${name} is deprecated: other users can read arguments. Use --${name}-file PATH, or --${name}-file - for standard input.`
}

function fileOption(name: Secret): string {
  return `${name}-file`
}
