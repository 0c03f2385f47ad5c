import { globSync, readFileSync } from 'node:fs'
import { builtinModules } from 'node:module'
import { join, relative, resolve } from 'node:path'
import { dirname, join as joinPath } from 'node:path/posix'
import { describe, expect, it } from 'vitest'

const ROOT = resolve(import.meta.dirname, '..')

/** Source text by path in the repository, as in `api/shared/telemetry/log.ts`. */
type Sources = ReadonlyMap<string, string>

interface Import {
  readonly from: string
  /** A path in the repository, or the specifier of a package. */
  readonly to: string
  readonly isPackage: boolean
}

const EXTENSIONS = ['dashboard', 'guide', 'outfits', 'playground', 'storefront', 'test-mode', 'trust', 'widget']

/** What an extension may import of others: the dashboard shows their data, and the server of the widget its texts. */
const SHOWN: Readonly<Record<string, RegExp>> = {
  dashboard: /^api\/(storefront|trust)\/.+\.store\.ts$/,
  storefront: /^api\/widget\/texts\/\w+\.json$/,
}

describe('the imports of the processes', () => {
  const sources = readSources('{api,worker,controller}/**/*.ts')
  const imports = importsOf(sources)
  const forbidden = (isForbidden: (one: Import) => boolean) =>
    imports.filter(isForbidden).map(({ from, to }) => `${from} must not import ${to}`)

  it('are found, whatever their kind, but not in comments and strings', () => {
    const text = [
      `import { a } from './a.ts'`,
      `import type {\n  B,\n} from './b.ts'`,
      `export * from './c.ts'`,
      `import './d.ts'`,
      `const e = await import('./e.ts')`,
      `type F = import('./f.ts').F`,
      `// import { g } from './g.ts'`,
      ` * Not like import('./h.ts')`,
      `export const query = "select name from './i.ts'"`,
    ].join('\n')
    const found = importsOf(new Map([['api/main.ts', text]])).map(({ to }) => to)
    expect(found.toSorted()).toEqual(['a', 'b', 'c', 'd', 'e', 'f'].map((name) => `api/${name}.ts`))
  })

  it('lead only to files of the same process and to shared ones, and those of shared files only to shared ones', () => {
    const isShared = (path: string) => path.startsWith('api/shared/')
    const processOf = (path: string) => path.split('/', 1)[0]
    expect(
      forbidden(
        ({ from, to, isPackage }) =>
          !isPackage && !isShared(to) && (isShared(from) || processOf(from) !== processOf(to)),
      ),
    ).toEqual([])
  })

  it('of the client lead only to itself, and those of the widget also to the client: browsers of others load both', () => {
    const isIn = (path: string, ...folders: readonly string[]) => folders.some((folder) => path.startsWith(folder))
    expect(
      forbidden(
        ({ from, to, isPackage }) =>
          (isIn(from, 'api/client/') && (isPackage || !isIn(to, 'api/client/'))) ||
          (isIn(from, 'api/widget/') && (isPackage || !isIn(to, 'api/widget/', 'api/client/'))),
      ),
    ).toEqual([])
  })

  it('of the core lead to no extension, and those of an extension only to stores of those that it shows', () => {
    const extensionOf = (path: string) => EXTENSIONS.find((name) => path.startsWith(`api/${name}/`))
    const isAllowed = (from: string, to: string) =>
      from === 'api/features.ts' || SHOWN[extensionOf(from) ?? '']?.test(to) === true
    const isOther = ({ from, to }: Import) => {
      const extension = extensionOf(to)
      return from.startsWith('api/') && extension !== undefined && extensionOf(from) !== extension
    }
    expect(forbidden((one) => isOther(one) && !isAllowed(one.from, one.to))).toEqual([])
  })

  it('of an engine do not lead to another engine', () => {
    const engineOf = (path: string) => /^worker\/engines\/(?!files\/)([^/]+)\//.exec(path)?.[1]
    const isOther = (from: string, to: string) => {
      const [own, other] = [engineOf(from), engineOf(to)]
      return own !== undefined && other !== undefined && own !== other
    }
    expect(forbidden(({ from, to, isPackage }) => !isPackage && isOther(from, to))).toEqual([])
  })

  it('have no cycles', () => {
    expect(findRings(sources)).toEqual([])
  })

  it('create HTTP servers only where errors of handlers are caught', () => {
    const opens = /import \{[^}]*\bcreateServer\b[^}]*\} from '(node:)?https?'/
    const opening = [...sources].filter(([, text]) => opens.test(text)).map(([path]) => path)
    expect(opening).toEqual(['api/shared/network/http-server.ts'])
  })
})

function readSources(pattern: string): Sources {
  const entries = globSync(pattern, { cwd: ROOT, withFileTypes: true }).filter((entry) => entry.isFile())
  const paths = entries.map((entry) => relative(ROOT, join(entry.parentPath, entry.name)))
  return new Map(paths.sort().map((path) => [path, readFileSync(resolve(ROOT, path), 'utf8')]))
}

function importsOf(sources: Sources): Import[] {
  return [...sources].flatMap(([from, text]) =>
    specifiersOf(text)
      .filter((specifier) => !specifier.startsWith('node:') && !builtinModules.includes(specifier))
      .map((specifier) =>
        specifier.startsWith('.')
          ? { from, to: joinPath(dirname(from), specifier), isPackage: false }
          : { from, to: specifier, isPackage: true },
      ),
  )
}

const STATIC = /^[ \t]*(?:import|export)\b[\w\s*{},$]*?\bfrom\s*['"]([^'"]+)['"]/gm
const BARE = /^[ \t]*import\s*['"]([^'"]+)['"]/gm
const DYNAMIC = /^(?!\s*(?:\*|\/\/)).*?\bimport\(\s*['"]([^'"]+)['"]\s*[,)]/gm

/** Everything the file imports: values, types, re-exports, literal dynamic imports. */
function specifiersOf(text: string): string[] {
  return [STATIC, BARE, DYNAMIC].flatMap((pattern) => [...text.matchAll(pattern)].map((match) => match[1]))
}

/** One line per cycle. */
function findRings(sources: Sources): string[] {
  const rings: string[] = []
  const done = new Set<string>()
  const next = Map.groupBy(
    importsOf(sources).filter(({ isPackage }) => !isPackage),
    ({ from }) => from,
  )
  const visit = (path: string, trail: readonly string[]): void => {
    if (trail.includes(path)) {
      rings.push([...trail.slice(trail.indexOf(path)), path].join(' → '))
      return
    }
    if (done.has(path)) return
    for (const { to } of next.get(path) ?? []) visit(to, [...trail, path])
    done.add(path)
  }
  for (const path of sources.keys()) visit(path, [])
  return rings
}
