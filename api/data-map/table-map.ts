/** Why personal data is stored, until when, and what erases it earlier. */
export interface DataMap {
  readonly purpose: string
  readonly lifetime: string
  /** Request that deletes the data. */
  readonly erasure: string
}

/** Personal data in a table. Each column is in exactly one of the two lists. */
export interface TableMap {
  /** Null for a table without personal data. */
  readonly about: DataMap | null
  /** Columns with personal data, with a description of the data. */
  readonly personal: Readonly<Record<string, string>>
  /** Columns without personal data. */
  readonly other: readonly string[]
}

/** A table without personal data. `columns` are separated by spaces. */
export function nonPersonal(columns: string): TableMap {
  return { about: null, personal: {}, other: namesIn(columns) }
}

/** A table with personal data. `other` are the remaining columns, separated by spaces. */
export function personal(about: DataMap, columns: Readonly<Record<string, string>>, other: string): TableMap {
  return { about, personal: columns, other: namesIn(other) }
}

function namesIn(columns: string): string[] {
  return columns.split(/\s+/).filter((name) => name !== '')
}
