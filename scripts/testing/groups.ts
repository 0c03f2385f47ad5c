import type { TestReport } from '../stack/test-counts.ts'
import { mergeReports } from './reports.ts'
import { groupFiles } from './schedule.ts'
import { runVitest, type VitestRun } from './vitest.ts'

/** Niceness of the concurrent files: they can wait for a processor, unlike the lanes. */
const LOWER_PRIORITY = 5

/**
 * Runs the test files below these paths, or all: the sequential ones with one worker per lane, the others concurrently. No
 * worker waits for a lane, so a long sequential file does not block other files. The lanes have priority: a control plane or a
 * browser without processor time exceeds time limits of its own.
 */
export async function runGroups(
  paths: readonly string[],
  options: readonly string[],
  env: NodeJS.ProcessEnv,
): Promise<VitestRun> {
  const runs = await Promise.all(
    groupFiles(paths).map(({ isInTurn, files }) =>
      isInTurn
        ? runVitest([...options, '--maxWorkers=1', ...files], env)
        : runVitest([...options, ...files], env, LOWER_PRIORITY),
    ),
  )
  const reports = runs.map(({ report }) => report).filter((report): report is TestReport => report !== null)
  return {
    report: reports.length === 0 ? null : mergeReports(reports),
    succeeded: runs.every(({ succeeded }) => succeeded),
  }
}
