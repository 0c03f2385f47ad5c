import { execFileSync } from 'node:child_process'
import { globSync, readFileSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import { describe, expect, it } from 'vitest'
import {
  type Doors,
  findHubs,
  findLongestChain,
  findLongFunctions,
  findMutualFolders,
  findReaches,
  findRings,
  findSideDoors,
  findTies,
  findUnshared,
  findWrongRooms,
  type Sources,
} from './support/house-rules.ts'

const ROOT = resolve(import.meta.dirname, '..')

const inApi = (path: string) => path.startsWith('api/') && !path.startsWith('api/shared/')
const only =
  (...places: string[]) =>
  (path: string) =>
    places.some((place) => path === place || (place.endsWith('/') && path.startsWith(place)))

/** The only place that may import a package; for a folder, all of its files. */
const DOORS: Doors = {
  koa: inApi,
  '@koa/*': inApi,
  '@fastify/busboy': only('api/bodies/multipart-parser.ts', 'scripts/benchmarks/upload-process.ts'),
  bullmq: only('api/shared/queue.ts'),
  nodemailer: only('api/mail/smtp.ts'),
  redis: only('api/shared/redis.ts'),
  'rate-limiter-flexible': only('api/limits/budget.ts'),
  slonik: only('api/shared/database/', 'api/shared/stores/', 'api/stores/'),
  pg: only('api/shared/database/', 'controller/listen-database.ts'),
  'pg-connection-string': only('api/shared/database/address.ts'),
  'koa-compress': only('api/routes/mount.ts'),
  ajv: only('api/shared/schema.ts'),
  'ajv-formats': only('api/shared/schema.ts'),
  typebox: only('api/shared/schema.ts'),
  sharp: only('api/shared/image.ts'),
  '@trustnxt/*': only('api/shared/provenance/', 'worker/provenance/'),
  '@peculiar/*': only('worker/provenance/'),
  'libheif-js': only('api/shared/libheif.ts'),
  undici: only('api/shared/guarded-request.ts'),
  'openid-client': only('api/dashboard/identity-provider.ts'),
  pino: only('api/shared/log.ts'),
  'prom-client': only('api/shared/metrics.ts'),
  '@opentelemetry/*': only('api/shared/telemetry.ts'),
  '@aws-sdk/*': only('api/shared/storage/s3.ts'),
  culori: only('worker/raster/colour-difference.ts'),
  'onnxruntime-node': only('worker/inference/session.ts'),
  '@kubernetes/*': only('controller/runtime/'),
  'markdown-it': only('api/routes/guide/markdown.ts'),
  'github-slugger': only('api/routes/guide/markdown.ts'),
  'lru-cache': only('api/shared/cache.ts'),
  yaml: only('controller/runtime/yaml.ts'),
  'csv-parse': only('api/catalog/csv-rows.ts'),
  'cron-parser': only('controller/retention/schedule.ts'),
}

/** Shared files that one process needs, and the scripts. */
const NEEDED_BY_SCRIPTS: ReadonlySet<string> = new Set([
  // The command `storage reconcile` runs in the image of the API, which has nothing of the controller.
  'api/shared/reconcile-storage.ts',
  'api/shared/stores/object-keys.ts',
  // So does `migrate`.
  'api/shared/database/migrate.ts',
  // And `provenance verify`; workers need it too.
  'api/shared/provenance/ingredient.ts',
])

const MAX_FUNCTION_LINES = 100

/** The stages of the preview engine, in the order of its data. */
const STAGES = ['fit', 'warp', 'shade', 'remove', 'compose']
/** Files that a reader must know below the preview engine's entry, at most, to know the deepest one. */
const MAX_FLOORS = 8

/** Engines import shared files, but not each other. */
function isSiblingEngine(from: string, to: string): boolean {
  const [own, other] = [from, to].map((path) => /^worker\/engines\/([^/]+)\//.exec(path)?.[1])
  return own !== undefined && other !== undefined && own !== other
}

function isLaterStage(from: string, to: string): boolean {
  const [own, other] = [from, to].map((path) =>
    STAGES.indexOf(/^worker\/engines\/warp\/([^/]+)\//.exec(path)?.[1] ?? ''),
  )
  return own >= 0 && other > own
}

describe('the code structure', () => {
  const sources = readSources('{api,worker,controller}/**/*.ts')
  const all = readSources('{api,worker,controller,scripts,test}/**/*.ts')

  it('has no forbidden imports between shared files and processes', () => {
    expect(findWrongRooms(sources)).toEqual([])
  })

  it('keeps the client free of imports from the rest, and the widget except from the client', () => {
    expect([...findTies(sources, 'api/client/'), ...findTies(sources, 'api/widget/', ['api/client/'])]).toEqual([])
  })

  it('has only files in shared/ that at least two processes need', () => {
    expect(findUnshared(sources, NEEDED_BY_SCRIPTS)).toEqual([])
  })

  it('has no import cycles', () => {
    expect(findRings(all)).toEqual([])
  })

  it('has no two folders of the API that import each other', () => {
    expect(findMutualFolders(sources, 'api')).toEqual([])
  })

  it('has no imports between engines, or from person analysis to engines', () => {
    expect(findReaches(sources, isSiblingEngine)).toEqual([])
    expect(
      findReaches(sources, (from, to) => from.startsWith('worker/body/') && to.startsWith('worker/engines/')),
    ).toEqual([])
  })

  it('lets data of the preview engine flow from stage to stage', () => {
    expect(findReaches(sources, isLaterStage)).toEqual([])
    expect(findLongestChain(sources, 'worker/engines/warp/').length).toBeLessThanOrEqual(MAX_FLOORS)
  })

  it('imports every package in one place only', () => {
    expect(findSideDoors(sources, DOORS)).toEqual([])
  })

  it('creates HTTP servers only where errors of handlers are caught', () => {
    const opens = /import \{[^}]*\bcreateServer\b[^}]*\} from '(node:)?https?'/
    expect([...sources].filter(([, text]) => opens.test(text)).map(([path]) => path)).toEqual([
      'api/shared/http-server.ts',
    ])
  })

  it('tracks no symbolic links', () => {
    const tracked = execFileSync('git', ['ls-files', '--stage'], { cwd: ROOT, encoding: 'utf8' }).split('\n')
    expect(tracked.filter((line) => line.startsWith('120000'))).toEqual([])
  })

  it('tracks no duplicate files', () => {
    const tracked = execFileSync('git', ['ls-files', '--stage'], { cwd: ROOT, encoding: 'utf8' }).trim().split('\n')
    const paths = Map.groupBy(tracked, (line) => line.split(' ')[1])
    expect([...paths.values()].filter(({ length }) => length > 1)).toEqual([])
  })

  it('has no function that wraps a whole module', () => {
    expect(findLongFunctions(sources, MAX_FUNCTION_LINES)).toEqual([])
  })

  it('has one folder per command, and only entry points at the top of scripts', () => {
    const commands = readSources('scripts/*')
    expect([...commands.keys()].filter((path) => path.endsWith('.ts'))).toEqual(['scripts/drape.ts'])
    const started = [...commands].flatMap(([, text]) => text.match(/(?<=\$root\/)scripts\/[\w/-]+\.ts/g) ?? [])
    expect(started.length).toBeGreaterThan(10)
    expect(started.filter((path) => !all.has(path) || dirname(path) === 'scripts')).toEqual([])
  })

  it('has no file with a generic name', () => {
    expect(findHubs(all.keys())).toEqual([])
  })
})

describe('the structure rules', () => {
  const house = (files: Record<string, string>): Sources => new Map(Object.entries(files))

  it('find a shared file that leaves its folder, by whatever kind of import', () => {
    for (const line of [
      `import { app } from '../app.ts'`,
      `import type {\n  App,\n} from '../app.ts'`,
      `export * from '../app.ts'`,
      `export type { App } from '../app.ts'`,
      `import '../app.ts'`,
      `const app = await import('../app.ts')`,
      `type App = import('../app.ts').App`,
    ]) {
      expect(findWrongRooms(house({ 'api/shared/log.ts': `const a = 1\n${line}\n` })), line).toEqual([
        'api/shared/log.ts must not import api/app.ts',
      ])
    }
  })

  it('find a process that imports another process', () => {
    const sources = house({
      'worker/consume.ts': `import { a } from '../api/shared/log.ts'\nimport { b } from '../api/app.ts'`,
      'controller/main.ts': `import { c } from '../worker/consume.ts'`,
      'api/app.ts': `import { d } from './shared/log.ts'`,
    })
    expect(findWrongRooms(sources)).toEqual([
      'worker/consume.ts must not import api/app.ts',
      'controller/main.ts must not import worker/consume.ts',
    ])
  })

  it('find imports of the client or the widget from the rest or from packages', () => {
    const sources = house({
      'api/widget/main.ts': `import { a } from './photo.ts'\nimport { log } from '../shared/log.ts'\nimport { b } from 'lit'`,
    })
    expect(findTies(sources, 'api/widget/')).toEqual([
      'api/widget/main.ts must not import api/shared/log.ts',
      'api/widget/main.ts must not import lit',
    ])
  })

  it('ignore imports in comments and strings', () => {
    const text = [
      `// import { app } from '../app.ts'`,
      ` * Not like import('../app.ts')`,
      `export const query = "select name from '../app.ts'"`,
      `export function load(from: string) { return from }`,
    ].join('\n')
    expect(findWrongRooms(house({ 'api/shared/log.ts': text }))).toEqual([])
  })

  it('find a shared file that only one process needs, also transitively', () => {
    const sources = house({
      'api/main.ts': `import './shared/queue.ts'`,
      'worker/main.ts': `import '../api/shared/queue.ts'\nnew URL('child.ts', import.meta.url)`,
      'worker/child.ts': `import '../api/shared/image.ts'`,
      'api/shared/queue.ts': `import './log.ts'`,
      'api/shared/log.ts': '',
      'api/shared/image.ts': '',
      'api/shared/lonely.ts': '',
    })
    expect(findUnshared(sources, new Set(['api/shared/lonely.ts']))).toEqual([
      'api/shared/image.ts is shared, but fewer than two processes need it',
    ])
  })

  it('find an import cycle, type imports included', () => {
    const sources = house({
      'api/a.ts': `import { b } from './b.ts'`,
      'api/b.ts': `import { c } from './stores/c.ts'`,
      'api/stores/c.ts': `import type { A } from '../a.ts'`,
      'api/d.ts': `import { a } from './a.ts'`,
    })
    expect(findRings(sources)).toEqual(['api/a.ts → api/b.ts → api/stores/c.ts → api/a.ts'])
  })

  it('find two folders that import each other, by any of their files', () => {
    const sources = house({
      'api/routes/server/account.ts': `import type { Operation } from '../../openapi/operation.ts'`,
      'api/openapi/document.ts': `import { operations } from '../routes/server/engines.ts'\nimport { a } from './answers.ts'`,
      'api/stores/accounts.ts': `import { b } from '../keys/credentials.ts'`,
      'api/main.ts': `import { c } from './routes/routes.ts'`,
      'api/routes/routes.ts': `import { d } from '../main.ts'`,
    })
    expect(findMutualFolders(sources, 'api')).toEqual(['api/openapi ↔ api/routes'])
  })

  it('find a package that is imported in a second place', () => {
    const sources = house({
      'api/shared/image.ts': `import sharp from 'sharp'`,
      'worker/composite/blend.ts': `import sharp from 'sharp'`,
      'api/shared/log.ts': `import { trace } from '@opentelemetry/api'`,
      'controller/runtime/watch.ts': `import { Watch } from '@kubernetes/client-node/dist/watch.js'`,
      'controller/main.ts': `import { Watch } from '@kubernetes/client-node/dist/watch.js'`,
      'worker/main.ts': `import Koa from 'koa'\nimport { join } from 'node:path'`,
    })
    expect(findSideDoors(sources, DOORS)).toEqual([
      'worker/composite/blend.ts must not import sharp',
      'api/shared/log.ts must not import @opentelemetry/api',
      'controller/main.ts must not import @kubernetes/client-node',
      'worker/main.ts must not import koa',
    ])
  })

  it('find an engine that imports another engine, and a stage that imports a later stage', () => {
    const sources = house({
      'worker/engines/fashn-vton/region.ts': `import { a } from '../warp/fit/fit.ts'\nimport { b } from './noise.ts'`,
      'worker/engines/registry.ts': `import { c } from './warp/warp-engine.ts'`,
      'worker/engines/warp/fit/fit.ts': `import type { D } from '../remove/removal.ts'`,
      'worker/engines/warp/remove/removal.ts': `import type { E } from '../fit/size.ts'`,
    })
    expect(findReaches(sources, isSiblingEngine)).toEqual([
      'worker/engines/fashn-vton/region.ts must not import worker/engines/warp/fit/fit.ts',
    ])
    expect(findReaches(sources, isLaterStage)).toEqual([
      'worker/engines/warp/fit/fit.ts must not import worker/engines/warp/remove/removal.ts',
    ])
  })

  it('find the longest chain of imports in a folder', () => {
    const sources = house({
      'worker/a.ts': `import { b } from './b/b.ts'`,
      'worker/b/b.ts': `import { c } from './c.ts'\nimport { d } from './d.ts'`,
      'worker/b/c.ts': `import type { D } from './d.ts'`,
      'worker/b/d.ts': `import { e } from '../e.ts'`,
      'worker/e.ts': '',
    })
    expect(findLongestChain(sources, 'worker/b/')).toEqual(['worker/b/b.ts', 'worker/b/c.ts', 'worker/b/d.ts'])
  })

  it('find a function that is long including nested functions', () => {
    const long =
      'export function createApp({\n  log,\n}: {\n  log: Log\n}) {\n  function a() {\n  }\n}\nfunction b() {\n}\n'
    expect(findLongFunctions(house({ 'api/app.ts': long }), 8)).toEqual([])
    expect(findLongFunctions(house({ 'api/app.ts': long }), 7)).toEqual(['api/app.ts: createApp'])
  })

  it('find generic file names', () => {
    expect(findHubs(['api/utils.ts', 'worker/helpers/mask.ts', 'test/types.test.ts', 'api/type-parsers.ts'])).toEqual([
      'api/utils.ts',
      'worker/helpers/mask.ts',
      'test/types.test.ts',
    ])
  })
})

function readSources(pattern: string): Sources {
  const entries = globSync(pattern, { cwd: ROOT, withFileTypes: true }).filter((entry) => entry.isFile())
  const paths = entries.map((entry) => relative(ROOT, join(entry.parentPath, entry.name)))
  return new Map(paths.sort().map((path) => [path, readFileSync(resolve(ROOT, path), 'utf8')]))
}
