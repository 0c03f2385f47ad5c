import { DrapeError } from '../shared/errors.ts'

/** A product of a catalogue file, or what is wrong with its text; `line` is where it starts, from 1. */
export type CatalogEntry =
  | { readonly line: number; readonly product: unknown }
  | { readonly line: number; readonly problem: DrapeError }

/** The text of a product in JSON. */
export interface TextItem {
  readonly line: number
  readonly text: string
}

export function invalidFile(message: string, path = ''): DrapeError {
  return new DrapeError('VALIDATION_FAILED', `The products cannot be read: ${path || 'the body'} ${message}.`, {
    details: [{ path, message }],
  })
}
