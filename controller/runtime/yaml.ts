import { dumpYaml, loadAllYaml } from '@kubernetes/client-node'

/** The documents of a YAML text, without empty ones. Throws on text that is no YAML. */
export function readYaml(text: string): unknown[] {
  return loadAllYaml(text).filter((document) => document !== null && document !== undefined)
}

/** Writes a value as YAML: keys in their order, no references, lines of any length. */
export function writeYaml(value: unknown): string {
  return dumpYaml(value, { noRefs: true, lineWidth: -1 })
}
