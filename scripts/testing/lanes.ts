import { globSync, readFileSync } from 'node:fs'
import { join, matchesGlob } from 'node:path'
import { ROOT } from '../stack/session.ts'

/** Test files that run together; `scripts/test --help` describes the lanes. A file belongs to the first lane with a matching glob, otherwise to `default`. */
export interface Lane {
  readonly globs: readonly string[]
  /** Files that run at the same time; undefined: as many as the machine has processors, and two. */
  readonly workers?: number
  /** Its tests build images or start nodes, which only root may do. */
  readonly root?: boolean
}

export const LANES = {
  default: { globs: [] },
  vision: {
    globs: ['test/worker/{engines,outputs,vision}/**'],
    workers: 2,
  },
  browsers: {
    globs: [
      'test/client/browser.test.ts',
      'test/dashboard-flow.test.ts',
      'test/dashboard-sign-on-flow.test.ts',
      'test/docs-command-line.test.ts',
      'test/documentation-flow.test.ts',
      'test/firefox-flow.test.ts',
      'test/playground-flow.test.ts',
      'test/widget/{faults,flow,looks,visit}.test.ts',
    ],
    workers: 1,
  },
  images: {
    globs: ['test/cluster/install/**', 'test/workflows.test.ts'],
    workers: 1,
    root: true,
  },
  cluster: {
    globs: [
      'test/api/shared/storage/s3{,-versions}.test.ts',
      'test/chart/**',
      'test/cluster/**',
      'test/flow-s3.test.ts',
      'test/observability/{rules,runbook-commands,watched}.test.ts',
      'test/scripts/benchmarks/**',
      'test/scripts/stack/go-tool.test.ts',
    ],
    workers: 1,
  },
  products: {
    globs: [
      'test/api/http/openapi/lint.test.ts',
      'test/client/package.test.ts',
      'test/clients/**',
      'test/products/**',
      'test/scripts/commands/mcp.test.ts',
      'test/scripts/engines/**',
    ],
    workers: 1,
  },
  faults: {
    globs: [
      'test/api/**/{fuzz,fuzz-storefront,events-fuzz,optional-members}.test.ts',
      'test/attacks/**',
      'test/faults/**',
      'test/scripts/stack/dev.test.ts',
      'test/worker/inference/sick-device.test.ts',
    ],
  },
  long: { globs: [], workers: 1 },
} as const satisfies Readonly<Record<string, Lane>>

export type LaneName = keyof typeof LANES
export const LANE_NAMES = Object.keys(LANES) as LaneName[]

export function getLane(name: LaneName): Lane {
  return LANES[name]
}

/**
 * Groups of lanes, one after the other; the lanes of a group run at the same time. The default lane is first, and the long forms, which take
 * all of the machine, are last.
 */
export function groupLanes<T extends { readonly lane: LaneName }>(parts: readonly T[]): T[][] {
  const groupOf = ({ lane }: T) => (lane === 'default' || lane === 'long' ? lane : 'others')
  const groups = Map.groupBy(parts, groupOf)
  return (['default', 'others', 'long'] as const).flatMap((name) => {
    const group = groups.get(name)
    return group === undefined ? [] : [group]
  })
}

/** What a test file with a long form contains: the variable itself, or a helper that reads it. */
const LONG_FORM = /process\.env\.LONG_TESTS|inspectLooks\(/

/** The lane of a test file, by its path relative to the clone; its long form is in `long` as well. */
export function findLane(path: string): LaneName {
  return LANE_NAMES.find((name) => getLane(name).globs.some((glob) => matchesGlob(path, glob))) ?? 'default'
}

/** The files of a lane whose paths contain one of the filters; without filters all. */
export function listFiles(lane: LaneName, filters: readonly string[] = []): string[] {
  return globSync('test/**/*.test.ts', { cwd: ROOT })
    .filter((path) => filters.length === 0 || filters.some((filter) => path.includes(filter)))
    .filter((path) => (lane === 'long' ? hasLongForm(path) : findLane(path) === lane))
    .sort()
}

function hasLongForm(path: string): boolean {
  return LONG_FORM.test(readFileSync(join(ROOT, path), 'utf8'))
}
