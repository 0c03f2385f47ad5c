import { readFileSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path/posix'
import { ROOT } from '../stack/session.ts'

/** Dependencies of each file of the repository: files that it imports or reads, and programs that it starts. */
export type Graph = ReadonlyMap<string, { readonly imports: readonly string[]; readonly starts: readonly string[] }>

const SOURCE = /\.(ts|js|mjs|py|sh)$|^scripts\/[^./]+$/
/** Any string or template literal that can be a file name. */
const WORDS =
  /['"`/}]?([\w@.-]+(?:\/[\w@.-]+)+\/?|[\w-]+\.(?:ts|js|json|yaml|sql|md|py)|docs|crds|migrations)(?=\/\*|['"`$])/g
/** Folders that texts name without reading them. */
const WHOLE = new Set(['.', 'api', 'worker', 'controller', 'scripts', 'test'])
const STARTED = /start(?:Program|Worker|Drape)\b(?:\('(api|worker|controller)')?/g

export function readGraph(paths: readonly string[]): Graph {
  const known = new Set(paths)
  const folders = filesByFolder(paths)
  const sources = paths.filter((path) => SOURCE.test(path))
  return new Map(sources.map((path) => [path, findNeeds(path, readText(path), { known, folders })]))
}

/** The files that `from` needs, directly or indirectly; with `start` also those of the programs that it starts. */
export function reach(graph: Graph, from: string, kind: 'import' | 'start'): Set<string> {
  const reached = new Set([from])
  // Iterating a set includes elements that are added during the iteration.
  for (const path of reached) {
    const { imports = [], starts = [] } = graph.get(path) ?? {}
    for (const next of kind === 'start' ? [...imports, ...starts] : imports) reached.add(next)
  }
  return reached
}

function findNeeds(
  path: string,
  text: string,
  { known, folders }: { known: ReadonlySet<string>; folders: ReadonlyMap<string, readonly string[]> },
): { imports: string[]; starts: string[] } {
  const imports = new Set<string>()
  const starts = new Set<string>()
  for (const [, word] of text.matchAll(WORDS)) {
    for (const place of [join(dirname(path), word), normalize(word)]) {
      const name = place.replace(/\/$/, '')
      if (known.has(name)) (isProgram(name) ? starts : imports).add(name)
      else if (!WHOLE.has(name)) for (const file of folders.get(name) ?? []) imports.add(file)
    }
  }
  for (const [call, name] of text.matchAll(STARTED)) starts.add(programOf(call, name))
  starts.delete(path)
  imports.delete(path)
  return { imports: [...imports], starts: [...starts] }
}

/** A started program is not part of the program that starts it. */
function isProgram(path: string): boolean {
  return path.endsWith('/main.ts') || /^scripts\/[^/]+$/.test(path)
}

function programOf(call: string, name: string | undefined): string {
  if (name !== undefined) return `${name}/main.ts`
  return call === 'startWorker' ? 'worker/main.ts' : 'api/main.ts'
}

function filesByFolder(paths: readonly string[]): Map<string, string[]> {
  const folders = new Map<string, string[]>()
  for (const path of paths) {
    const folder = dirname(path)
    folders.set(folder, [...(folders.get(folder) ?? []), path])
  }
  return folders
}

function readText(path: string): string {
  try {
    return readFileSync(join(ROOT, path), 'utf8')
  } catch {
    return ''
  }
}
