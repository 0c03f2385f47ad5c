import { parseAllDocuments, stringify } from 'yaml'

const STYLE = { aliasDuplicateObjects: false, lineWidth: 0, singleQuote: true, compat: 'yaml-1.1' } as const

/** The documents of a YAML text, without empty ones. Throws on text that is no YAML, and on unknown tags. */
export function readYaml(text: string): unknown[] {
  return parseAllDocuments(text, { merge: true })
    .map((document) => {
      for (const fault of [...document.errors, ...document.warnings]) throw fault
      return document.toJS()
    })
    .filter((content) => content !== null && content !== undefined)
}

/**
 * Writes an object as YAML: its version and kind first, no references, lines of any length. Texts that YAML 1.1 takes for something
 * else are quoted, because the parsers of Kubernetes read 1.1.
 */
export function writeYaml({ apiVersion, kind, ...rest }: { apiVersion: string; kind: string }): string {
  return stringify({ apiVersion, kind, ...rest }, STYLE)
}
