import { Argument, Option } from 'commander'

/** What was given, by the names in the declarations; a switch that was given is `true`. */
export type Options = Readonly<Record<string, string | undefined>>

/** The command line does not say what a command needs. `command` is its name, as in `shop create`; empty for the program. */
export class UsageError extends Error {
  readonly command: string | undefined

  constructor(message: string, command?: string) {
    super(message)
    this.command = command
  }
}

/** An option of a command, as in `option('--name <name>', 'name of the account')`; without a value it is a switch. */
export function option(flags: string, description: string): Option {
  return new Option(flags, description)
}

/** An option without which the command does not run. */
export function mandatory(flags: string, description: string): Option {
  return option(flags, description).makeOptionMandatory()
}

/** An option that may be repeated, or hold several values separated by commas. */
export function list(flags: string, description: string): Option {
  return option(flags, description).argParser<string>((value, before) => (before ? `${before},${value}` : value))
}

export function argument(name: string, description: string): Argument {
  return new Argument(name, description)
}

export function required(value: string | undefined, name: string): string {
  if (value === undefined || value === '') throw new UsageError(`--${name} is required`)
  return value
}

export function wholeNumber(text: string, name: string, minimum: number, maximum = Infinity): number {
  const value = Number(text)
  if (Number.isSafeInteger(value) && value >= minimum && value <= maximum) return value
  const range = maximum < Infinity ? `from ${minimum} to ${maximum}` : `of at least ${minimum}`
  throw new UsageError(`--${name} must be a whole number ${range}`)
}

export function readSwitch(text: string | undefined, name: string): boolean | undefined {
  if (text === undefined) return undefined
  if (text !== 'true' && text !== 'false') throw new UsageError(`--${name} must be true or false`)
  return text === 'true'
}
