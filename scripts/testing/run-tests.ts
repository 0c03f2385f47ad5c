import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { ROOT } from '../stack/session.ts'
import { type Counts, countTests } from '../stack/test-counts.ts'
import { ALLOWED_SKIPS } from './allowed-skips.ts'
import type { TestArguments } from './arguments.ts'
import { keepDurations } from './durations.ts'
import { presentFailures, presentRetried } from './failures.ts'
import { getLane, type LaneName } from './lanes.ts'
import { countResults } from './reports.ts'
import { runFailedAgain } from './run-again.ts'
import { findSkips, presentSkips, sortSkips } from './skips.ts'
import { runVitest, type VitestRun } from './vitest.ts'

/** A hanging run is reported before the 90-minute limit of continuous integration. */
const MAX_MINUTES = 85

/** Files of one lane. */
export interface LaneFiles {
  readonly lane: LaneName
  /** Relative to the clone; also filters that vitest applies to paths. */
  readonly files: readonly string[]
}

export interface LaneResult {
  readonly counts: Counts
  /** The files that had not ended by the deadline. Their results do not count. */
  readonly unfinished: readonly string[]
  /** What failed, and what passed only when run again. */
  readonly lines: readonly string[]
}

/**
 * Runs these files and prints skipped tests with their reasons. Failed files run again, one at a time, unless the caller chose the
 * files; tests that then pass are listed. `deadline`: milliseconds since 1970.
 */
export async function runLane(
  { lane, files }: LaneFiles,
  settings: TestArguments,
  deadline: number | undefined,
): Promise<LaneResult> {
  const { allowMissing, options, paths } = settings
  const long = lane === 'long'
  const folder = await mkdtemp(join(tmpdir(), 'drape-lane-'))
  const unfinishedPath = join(folder, 'unfinished')
  const env = {
    TEST_LANE: lane,
    TEST_UNFINISHED: unfinishedPath,
    ...(long ? { LONG_TESTS: '1' } : {}),
    ...(long && deadline === undefined ? {} : { TEST_DEADLINE: String(deadline ?? Date.now() + MAX_MINUTES * 60_000) }),
    ...(allowMissing ? { ALLOW_MISSING: '1' } : {}),
  }
  const { workers } = getLane(lane)
  const first = await runVitest([...options, ...(workers ? [`--maxWorkers=${workers}`] : []), ...files], env)
  const unfinished = (await readFile(unfinishedPath, 'utf8').catch(() => '')).split('\n').filter((path) => path !== '')
  const done = unfinished.length === 0 && paths.length === 0 ? await runFailedAgain(first, [...options], env) : first
  await rm(folder, { recursive: true })
  const counts = countRun(withoutFiles(done, unfinished), { options, allowMissing, long })
  return { counts, unfinished, lines: presentOutcome(first, done) }
}

function presentOutcome(first: VitestRun, done: VitestRun): string[] {
  if (first.report === null || done.report === null) return []
  return [...presentRetried(first.report, done.report), ...presentFailures(done.report)]
}

/** What a deadline cut off is neither passed nor failed. */
function withoutFiles({ report, succeeded }: VitestRun, files: readonly string[]): VitestRun {
  if (report === null || files.length === 0) return { report, succeeded }
  const results = report.testResults.filter(({ name }) => !files.includes(relative(ROOT, name)))
  return { report: countResults(results), succeeded: results.every(({ status }) => status !== 'failed') }
}

interface Circumstances {
  readonly options: readonly string[]
  readonly allowMissing: boolean
  readonly long: boolean
}

/** Counts the results, and prints the reasons of skipped tests. A skipped test without an allowed reason counts as failed. */
function countRun({ report, succeeded }: VitestRun, { options, allowMissing, long }: Circumstances): Counts {
  const counts = countTests(report, succeeded)
  // A name filter skips all other tests.
  if (report === null || options.some((option) => /^(-t|--testNamePattern)/.test(option))) return counts
  if (!long) keepDurations(report)
  const skips = sortSkips(findSkips(report), ALLOWED_SKIPS, {
    long,
    isRoot: process.getuid?.() === 0,
    hasAssets: Boolean(process.env.KUBEBUILDER_ASSETS),
  })
  for (const line of presentSkips(skips, allowMissing)) console.log(line)
  if (allowMissing) return counts
  const unexplained = skips.unexplained.length
  return { ...counts, failed: counts.failed + unexplained, skipped: counts.skipped - unexplained }
}
