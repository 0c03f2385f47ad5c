import { globSync } from 'node:fs'
import { matchesGlob } from 'node:path'
import { ROOT } from '../stack/session.ts'

/**
 * Test files that start a whole installation, a control plane or a browser: files of a lane run sequentially, concurrently with
 * the other lanes and all other files.
 */
const IN_TURN = {
  cluster: [
    'test/cluster/**',
    'test/chart/lifecycle.test.ts',
    'test/observability/watched.test.ts',
    'test/scripts/releases/real-release.test.ts',
  ],
  browser: [
    'test/analytics-flow.test.ts',
    'test/client/browser.test.ts',
    'test/dashboard-flow.test.ts',
    'test/dashboard-sign-on-flow.test.ts',
    'test/firefox-flow.test.ts',
    'test/playground-flow.test.ts',
    'test/storefront-flow.test.ts',
    'test/widget/faults.test.ts',
    'test/widget/flow.test.ts',
    'test/widget/looks.test.ts',
    'test/widget/visit.test.ts',
  ],
} as const satisfies Readonly<Record<string, readonly string[]>>
type Lane = keyof typeof IN_TURN
const LANES = Object.keys(IN_TURN) as Lane[]

/** Default seconds of long files on two cores, for a machine without measurements. */
const LONG: Readonly<Record<string, number>> = {
  'test/faults/faults.test.ts': 500,
  'test/flow.test.ts': 180,
  'test/scripts/stack/dev.test.ts': 170,
  'test/worker/engines/warp/dress-lower.test.ts': 150,
  'test/worker/engines/warp/quality.test.ts': 140,
  'test/telemetry.test.ts': 140,
  'test/api/retention.test.ts': 120,
}
const UNKNOWN_SECONDS = 8

/** The lane of a test file, by its path relative to the clone. */
export function findLane(path: string): Lane | null {
  return LANES.find((lane) => IN_TURN[lane].some((glob) => matchesGlob(path, glob))) ?? null
}

/** Longest first, so that no worker starts a long file at the end. */
export function orderFiles(paths: readonly string[], durations: Readonly<Record<string, number>>): string[] {
  const secondsOf = (path: string) => durations[path] ?? LONG[path] ?? UNKNOWN_SECONDS
  return paths.toSorted((a, b) => secondsOf(b) - secondsOf(a))
}

/** Test files of one vitest run, sequential or concurrent; the runs are concurrent. */
export interface Group {
  readonly isInTurn: boolean
  readonly files: readonly string[]
}

/** The test files whose paths contain one of the filters, or all. vitest rejects filters without a match. */
export function groupFiles(filters: readonly string[]): Group[] {
  const all = globSync('test/**/*.test.ts', { cwd: ROOT })
  const files = filters.length === 0 ? all : all.filter((file) => filters.some((filter) => file.includes(filter)))
  const unknown = filters.filter((filter) => !files.some((file) => file.includes(filter)))
  const groups = [
    ...LANES.map((lane) => ({ isInTurn: true, files: files.filter((file) => findLane(file) === lane) })),
    { isInTurn: false, files: [...files.filter((file) => findLane(file) === null), ...unknown] },
  ]
  return groups.filter((group) => group.files.length > 0)
}
