import { builtinModules } from 'node:module'
import { dirname, join } from 'node:path/posix'

/** Source text by path in the repository, as in `api/shared/log.ts`. */
export type Sources = ReadonlyMap<string, string>

export interface Doors {
  /** For each package, or `@scope/*`: which files may import it. */
  readonly [packageName: string]: (path: string) => boolean
}

const PROCESSES = ['api', 'worker', 'controller']
const HUBS = new Set(['utils', 'util', 'helpers', 'helper', 'common', 'misc', 'types'])

/** Rule 1: shared files import only each other; a process imports only its own files and shared ones. */
export function findWrongRooms(sources: Sources): string[] {
  return importsOf(sources)
    .filter(({ from, to, isPackage }) => !isPackage && !mayImport(from, to))
    .map(({ from, to }) => `${from} must not import ${to}`)
}

function mayImport(from: string, to: string): boolean {
  if (from.startsWith('api/shared/')) return to.startsWith('api/shared/')
  const own = from.slice(0, from.indexOf('/') + 1)
  return to.startsWith(own) || to.startsWith('api/shared/')
}

/** Code that runs on machines of others imports only its own files and those below `others`, and no package. */
export function findTies(sources: Sources, folder: string, others: readonly string[] = []): string[] {
  return importsOf(sources)
    .filter(
      ({ from, to, isPackage }) =>
        from.startsWith(folder) && (isPackage || ![folder, ...others].some((one) => to.startsWith(one))),
    )
    .map(({ from, to }) => `${from} must not import ${to}`)
}

/**
 * Rule 2: every shared file is needed by at least two of the processes that exist, except for those in `exceptions`. A file
 * started by its URL counts as imported.
 */
export function findUnshared(sources: Sources, exceptions: ReadonlySet<string> = new Set()): string[] {
  const mains = PROCESSES.map((name) => `${name}/main.ts`).filter((main) => sources.has(main))
  if (mains.length < 2) return []
  const reached = mains.map((main) => reachableFrom(main, sources))
  return [...sources.keys()]
    .filter((path) => path.startsWith('api/shared/') && !exceptions.has(path))
    .filter((path) => reached.filter((paths) => paths.has(path)).length < 2)
    .map((path) => `${path} is shared, but fewer than two processes need it`)
}

function reachableFrom(main: string, sources: Sources): Set<string> {
  const reached = new Set([main])
  // A set also iterates values that are added during the iteration.
  for (const path of reached) {
    const text = sources.get(path) ?? ''
    for (const to of [...specifiersOf(text), ...startedFiles(text)])
      if (isPath(to)) reached.add(join(dirname(path), to))
  }
  return reached
}

/** Rule 3: no import cycles. One line per cycle. */
export function findRings(sources: Sources): string[] {
  const rings: string[] = []
  const done = new Set<string>()
  const visit = (path: string, trail: readonly string[]): void => {
    if (trail.includes(path)) {
      rings.push([...trail.slice(trail.indexOf(path)), path].join(' → '))
      return
    }
    if (done.has(path)) return
    for (const to of specifiersOf(sources.get(path) ?? ''))
      if (isPath(to)) visit(join(dirname(path), to), [...trail, path])
    done.add(path)
  }
  for (const path of sources.keys()) visit(path, [])
  return rings
}

/**
 * Rule 4: two folders directly below `parent` do not import each other, by any of their files. One line per violation, for example
 * `api/openapi ↔ api/routes`.
 */
export function findMutualFolders(sources: Sources, parent: string): string[] {
  const folderOf = (path: string) => /^[^/]+\/[^/]+(?=\/)/.exec(path)?.[0]
  const ties = importsOf(sources).flatMap(({ from, to, isPackage }) => {
    const [importer, imported] = [folderOf(from), isPackage ? undefined : folderOf(to)]
    const isWithin = importer?.startsWith(`${parent}/`) && imported?.startsWith(`${parent}/`)
    return isWithin && importer !== imported ? [`${importer} ${imported}`] : []
  })
  const all = new Set(ties)
  const pairs = [...all].map((tie) => tie.split(' ')).filter(([from, to]) => from < to && all.has(`${to} ${from}`))
  return pairs.map((pair) => pair.join(' ↔ ')).sort()
}

/** Forbidden imports between folders. `forbidden` decides for a file of the folder and a file that it imports. */
export function findReaches(sources: Sources, forbidden: (from: string, to: string) => boolean): string[] {
  return importsOf(sources)
    .filter(({ from, to, isPackage }) => !isPackage && forbidden(from, to))
    .map(({ from, to }) => `${from} must not import ${to}`)
}

/** The longest chain of imports within a folder, as paths from top to bottom. The folder must have no import cycle. */
export function findLongestChain(sources: Sources, folder: string): string[] {
  const below = new Map<string, string[]>()
  const chainFrom = (path: string): string[] => {
    const known = below.get(path)
    if (known) return known
    const chains = specifiersOf(sources.get(path) ?? '')
      .filter(isPath)
      .map((specifier) => join(dirname(path), specifier))
      .filter((to) => to.startsWith(folder))
      .map(chainFrom)
    const chain = [path, ...longestOf(chains)]
    below.set(path, chain)
    return chain
  }
  return longestOf([...sources.keys()].filter((path) => path.startsWith(folder)).map(chainFrom))
}

function longestOf(chains: readonly string[][]): string[] {
  return chains.reduce((longest, chain) => (chain.length > longest.length ? chain : longest), [])
}

/** Rule 5: a package is imported only in its one place. */
export function findSideDoors(sources: Sources, doors: Doors): string[] {
  return importsOf(sources)
    .filter(({ from, to, isPackage }) => {
      const isDoor = doors[to] ?? doors[`${to.split('/', 1)[0]}/*`]
      return isPackage && isDoor !== undefined && !isDoor(from)
    })
    .map(({ from, to }) => `${from} must not import ${to}`)
}

/**
 * Top-level functions of more than `max` lines, including nested functions, for example `api/app.ts: createApp`. A function
 * formatted by Biome ends at the line that starts with its closing brace.
 */
export function findLongFunctions(sources: Sources, max: number): string[] {
  return [...sources].flatMap(([path, text]) =>
    [...text.matchAll(FUNCTION)]
      .filter(([whole]) => whole.split('\n').length > max)
      .map(([, name]) => `${path}: ${name}`),
  )
}

const FUNCTION = /^(?:export )?(?:async )?function (\w+)[\s\S]*?^\}$/gm

/** No file or folder with a generic name. */
export function findHubs(paths: Iterable<string>): string[] {
  return [...paths].filter((path) => path.split('/').some((part) => HUBS.has(part.split('.', 1)[0])))
}

interface Import {
  readonly from: string
  /** A path in the repository, or a package without its subpath. */
  readonly to: string
  readonly isPackage: boolean
}

function importsOf(sources: Sources): Import[] {
  return [...sources].flatMap(([from, text]) =>
    specifiersOf(text)
      .filter((specifier) => !isBuiltin(specifier))
      .map((specifier) =>
        isPath(specifier)
          ? { from, to: join(dirname(from), specifier), isPackage: false }
          : { from, to: packageOf(specifier), isPackage: true },
      ),
  )
}

const STATIC = /^[ \t]*(?:import|export)\b[\w\s*{},$]*?\bfrom\s*['"]([^'"]+)['"]/gm
const BARE = /^[ \t]*import\s*['"]([^'"]+)['"]/gm
const DYNAMIC = /^(?!\s*(?:\*|\/\/)).*?\bimport\(\s*['"]([^'"]+)['"]\s*[,)]/gm
const STARTED = /\bnew URL\(\s*['"]([^'"]+\.ts)['"]\s*,\s*import\.meta\.url/g

/** Everything the file imports: values, types, re-exports, literal dynamic imports. */
function specifiersOf(text: string): string[] {
  return [STATIC, BARE, DYNAMIC].flatMap((pattern) => [...text.matchAll(pattern)].map((match) => match[1]))
}

function startedFiles(text: string): string[] {
  return [...text.matchAll(STARTED)].map(([, path]) => (isPath(path) ? path : `./${path}`))
}

function isPath(specifier: string): boolean {
  return specifier.startsWith('.')
}

function isBuiltin(specifier: string): boolean {
  return specifier.startsWith('node:') || builtinModules.includes(specifier)
}

function packageOf(specifier: string): string {
  return specifier
    .split('/')
    .slice(0, specifier.startsWith('@') ? 2 : 1)
    .join('/')
}
