import { dump, loadAll } from 'js-yaml'

/** The documents of a YAML text, without empty ones. Throws on text that is no YAML. */
export function readYaml(text: string): unknown[] {
  return loadAll(text).filter((document) => document !== null && document !== undefined)
}

/** Writes an object as YAML: its version and kind first, no references, lines of any length. */
export function writeYaml({ apiVersion, kind, ...rest }: { apiVersion: string; kind: string }): string {
  return `apiVersion: ${apiVersion}\nkind: ${kind}\n${dump(rest, { noRefs: true, lineWidth: -1 })}`
}
