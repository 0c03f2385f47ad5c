import { dumpYaml, loadYaml } from '@kubernetes/client-node'

// The package turns objects of the kinds it knows into its own classes, and drops fields on the way. It leaves alone what does
// not say at its top what it is.

/** The documents of a YAML text, without empty ones. Throws on text that is no YAML. */
export function readYaml(text: string): unknown[] {
  return text
    .split(/^---\s*$/m)
    .map((document) => loadYaml<{ document: unknown }>(`document:\n${document.replaceAll(/^/gm, '  ')}`).document)
    .filter((document) => document !== null && document !== undefined)
}

/** Writes an object as YAML: its version and kind first, no references, lines of any length. */
export function writeYaml({ apiVersion, kind, ...rest }: { apiVersion: string; kind: string }): string {
  return `apiVersion: ${apiVersion}\nkind: ${kind}\n${dumpYaml(rest, { noRefs: true, lineWidth: -1 })}`
}
