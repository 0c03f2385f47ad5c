import { globSync, readFileSync } from 'node:fs'
import { join, matchesGlob } from 'node:path'
import { ROOT } from '../stack/session.ts'

/** Test files that run together. A file belongs to the first lane with a matching glob, otherwise to `default`. */
export interface Lane {
  /** What its tests use, for the list of lanes that did not run. */
  readonly about: string
  readonly globs: readonly string[]
  /** Files that run at the same time; undefined: as many as the machine has processors, and two. */
  readonly workers?: number
  /** Its tests build images or start nodes, which only root may do. */
  readonly root?: boolean
}

export const LANES = {
  default: { about: 'everything that needs no container, no program built with Go and no second browser', globs: [] },
  browsers: {
    about: 'the other journeys in Chromium, in Firefox, and through the commands of the docs',
    globs: [
      'test/analytics-flow.test.ts',
      'test/client/browser.test.ts',
      'test/dashboard-flow.test.ts',
      'test/dashboard-sign-on-flow.test.ts',
      'test/docs-command-line.test.ts',
      'test/firefox-flow.test.ts',
      'test/playground-flow.test.ts',
      'test/storefront-flow.test.ts',
      'test/widget/{faults,flow,looks,visit}.test.ts',
    ],
    workers: 1,
  },
  images: {
    about: 'container images, a real node, the workflows of GitHub',
    globs: ['test/cluster/install/**', 'test/workflows.test.ts'],
    workers: 1,
    root: true,
  },
  cluster: {
    about:
      'the controller on a real Kubernetes API server, the charts with Helm, alerts with Prometheus, an S3 server, the benchmarks at their smallest',
    globs: [
      'test/api/shared/storage/s3{,-versions}.test.ts',
      'test/chart/**',
      'test/cluster/**',
      'test/flow-s3.test.ts',
      'test/observability/{rules,runbook-commands,scale-downs,watched}.test.ts',
      'test/openbao/**',
      'test/scripts/benchmarks/benchmarks.test.ts',
      'test/scripts/stack/go-tool.test.ts',
    ],
    workers: 1,
  },
  products: {
    about: 'poolers, replicas and other products that operators put beside Drape',
    globs: ['test/products/**'],
    workers: 1,
  },
  faults: {
    about: 'killed, frozen and separated processes, attacks, fuzzing',
    globs: ['test/api/**/{fuzz,fuzz-storefront,events-fuzz}.test.ts', 'test/attacks/**', 'test/faults/**'],
  },
  long: { about: 'the long forms of tests: minutes to hours each', globs: [], workers: 1 },
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
