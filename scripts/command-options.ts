import type { Database } from '../api/shared/database/database.ts'

export type Options = Readonly<Record<string, string | undefined>>
export type Command = (database: Database, options: Options) => Promise<Record<string, unknown>>

/** The command line does not say what a command needs. */
export class UsageError extends Error {}

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
