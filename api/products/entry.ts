import { DrapeError } from '../shared/contract/errors.ts'

/** A product of a catalogue file, or the problem with its text. `line` is its first line, from 1. */
export type CatalogEntry =
  | { readonly line: number; readonly product: unknown }
  | { readonly line: number; readonly problem: DrapeError }

/** JSON text of a product. */
export interface TextItem {
  readonly line: number
  readonly text: string
}

export function invalidFile(message: string, path = ''): DrapeError {
  return new DrapeError('VALIDATION_FAILED', `The products cannot be read: ${path || 'the body'} ${message}.`, {
    details: [{ path, message }],
  })
}
