import { parseAllDocuments, stringify } from 'yaml'

const STYLE = { aliasDuplicateObjects: false, lineWidth: 0, singleQuote: true, compat: 'yaml-1.1' } as const

/** Parses the documents of a YAML text, without empty ones. Throws on invalid YAML and on unknown tags. */
export function readYaml(text: string): unknown[] {
  return parseAllDocuments(text, { merge: true })
    .map((document) => {
      for (const fault of [...document.errors, ...document.warnings]) throw fault
      return document.toJS()
    })
    .filter((content) => content !== null && content !== undefined)
}

/**
 * Serialises an object as YAML: version and kind first, no aliases, no line wrapping. Quotes strings that YAML 1.1 would parse as
 * another type, because Kubernetes parsers read 1.1.
 */
export function writeYaml({ apiVersion, kind, ...rest }: { apiVersion: string; kind: string }): string {
  return stringify({ apiVersion, kind, ...rest }, STYLE)
}
