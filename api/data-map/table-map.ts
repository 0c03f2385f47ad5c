/** Why personal data is stored, until when, and what erases it earlier. */
export interface DataMap {
  readonly purpose: string
  readonly lifetime: string
  /** What deletes it on request. */
  readonly erasure: string
}

/** What a table holds of persons. Each column is in exactly one of the two lists. */
export interface TableMap {
  /** Null for a table without personal data. */
  readonly about: DataMap | null
  /** Columns with personal data, and what that is. */
  readonly personal: Readonly<Record<string, string>>
  /** Columns without personal data. */
  readonly other: readonly string[]
}

/** A table without personal data. `columns` are separated by spaces. */
export function impersonal(columns: string): TableMap {
  return { about: null, personal: {}, other: namesIn(columns) }
}

/** A table with personal data. `other` are the remaining columns, separated by spaces. */
export function personal(about: DataMap, columns: Readonly<Record<string, string>>, other: string): TableMap {
  return { about, personal: columns, other: namesIn(other) }
}

function namesIn(columns: string): string[] {
  return columns.split(/\s+/).filter((name) => name !== '')
}
