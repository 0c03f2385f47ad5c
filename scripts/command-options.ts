import type { Database } from '../api/shared/database.ts'

export type Options = Readonly<Record<string, string | undefined>>
export type Command = (database: Database, options: Options) => Promise<Record<string, unknown>>

/** The command line does not say what a command needs. */
export class UsageError extends Error {}

export function required(value: string | undefined, name: string): string {
  if (value === undefined || value === '') throw new UsageError(`--${name} is required`)
  return value
}

export function wholeNumber(text: string, name: string, minimum: number): number {
  const value = Number(text)
  if (!Number.isSafeInteger(value) || value < minimum)
    throw new UsageError(`--${name} must be a whole number of at least ${minimum}`)
  return value
}

export function readSwitch(text: string | undefined, name: string): boolean | undefined {
  if (text === undefined) return undefined
  if (text !== 'true' && text !== 'false') throw new UsageError(`--${name} must be true or false`)
  return text === 'true'
}
