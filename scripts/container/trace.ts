import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { builtinModules } from 'node:module'
import { dirname, join, relative } from 'node:path'

/** Files that programs need, as paths in the repository: their own files, and package folders. */
export interface Needs {
  readonly files: readonly string[]
  readonly packages: readonly string[]
}

/**
 * Follows the imports, child processes and `new URL(…, import.meta.url)` references of the programs in `entries`, then the
 * dependencies of the packages among them, as installed below `root`. Does not follow files in `leftOut`, which the programs do
 * not need.
 * @throws Error if a package is not installed, or if a file reference has no name in the text.
 */
export function traceNeeds(
  root: string,
  entries: readonly string[],
  { leftOut = [] }: { leftOut?: readonly string[] } = {},
): Needs {
  const files = new Set(entries)
  const packages = new Set<string>()
  // Iterating a set includes elements that are added during the iteration.
  for (const file of files) {
    if (!file.endsWith('.ts')) continue
    const text = readFileSync(join(root, file), 'utf8')
    if (NAMELESS_REFERENCE.test(text))
      throw new Error(`${file} refers to a file without its name in the text: write the name in new URL(…)`)
    for (const specifier of importsOf(text)) {
      const path = specifier.startsWith('.') ? join(dirname(file), specifier) : undefined
      if (path !== undefined && !leftOut.includes(path)) files.add(path)
      else if (path === undefined && !isBuiltIn(specifier)) packages.add(findPackage(root, '', packageOf(specifier)))
    }
    for (const reference of referencesOf(text)) {
      for (const found of filesAt(root, join(dirname(file), reference))) files.add(found)
    }
  }
  for (const path of packages) for (const found of dependenciesOf(root, path)) packages.add(found)
  return { files: [...files].sort(), packages: [...packages].sort() }
}

const IMPORT =
  /^\s*(?:import|export)\s(?!type\s)(?:[^'"`;]*?\sfrom\s+)?'([^']+)'|\bimport\('([^']+)'\)|\bresolve\('([^']+)'\)/gm
const REFERENCE = /new URL\(\s*(?:'([^']+)'|`([^`$]*)\$\{[^`]*`),\s*import\.meta\.url\)/g
const NAMELESS_REFERENCE = /new URL\(\s*[^\s'`][^'`]*?,\s*import\.meta\.url\)/

function importsOf(text: string): string[] {
  return [...text.matchAll(IMPORT)].map(([, ...found]) => found.find((name) => name !== undefined) ?? '')
}

/** For a dynamic name: the folder. */
function referencesOf(text: string): string[] {
  return [...text.matchAll(REFERENCE)].map(([, whole, start]) => whole ?? start)
}

function filesAt(root: string, path: string): string[] {
  if (statSync(join(root, path)).isFile()) return [path]
  return readdirSync(join(root, path), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(root, join(entry.parentPath, entry.name)))
}

function isBuiltIn(specifier: string): boolean {
  return specifier.startsWith('node:') || builtinModules.includes(specifier)
}

function packageOf(specifier: string): string {
  return specifier
    .split('/')
    .slice(0, specifier.startsWith('@') ? 2 : 1)
    .join('/')
}

function dependenciesOf(root: string, path: string): string[] {
  const manifest = JSON.parse(readFileSync(join(root, path, 'package.json'), 'utf8'))
  const required = Object.keys(manifest.dependencies ?? {}).filter((name) => !manifest.optionalDependencies?.[name])
  const welcome = Object.keys({ ...manifest.optionalDependencies, ...manifest.peerDependencies })
  return [
    ...required.map((name) => findPackage(root, path, name)),
    ...welcome.map((name) => lookUp(root, path, name)).filter((found) => found !== undefined),
  ]
}

function findPackage(root: string, from: string, name: string): string {
  const found = lookUp(root, from, name)
  if (found === undefined) throw new Error(`${from || 'the repository'} needs ${name}, which is not installed`)
  return found
}

/** Node's lookup: the folder's own node_modules, then those of its parent folders. */
function lookUp(root: string, from: string, name: string): string | undefined {
  for (let folder = from; ; folder = dirname(folder)) {
    const path = join(folder, 'node_modules', name)
    if (existsSync(join(root, path, 'package.json'))) return path
    if (folder === '' || folder === '.') return undefined
  }
}
