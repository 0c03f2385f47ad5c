import { relative } from 'node:path'
import { ROOT } from '../stack/session.ts'
import type { TestReport } from '../stack/test-counts.ts'
import { replaceResults } from './reports.ts'
import { runVitest, type VitestRun } from './vitest.ts'

/** When more fail, it is not for the load of the machine. */
const MAX_FILES = 12

/**
 * Runs the files that failed a second time: real processes on a loaded machine miss a time limit now and then. Whole files,
 * because a test may need what those before it did. Resolves with the run as it was, and these files as they were the second
 * time.
 */
export async function runFailedAgain(
  first: VitestRun,
  options: readonly string[],
  env: NodeJS.ProcessEnv,
): Promise<VitestRun> {
  const files = first.report === null ? [] : findFailedFiles(first.report)
  if (first.report === null || files.length === 0 || files.length > MAX_FILES) return first
  console.log(`Running again what failed:\n${files.map((file) => `  ${file}`).join('\n')}`)
  const second = await runVitest([...options, '--maxWorkers=1', ...files], env)
  if (second.report === null) return first
  return { report: replaceResults(first.report, second.report), succeeded: second.succeeded }
}

/** By their paths from the clone's folder. */
function findFailedFiles({ testResults }: TestReport): string[] {
  return testResults.filter(({ status }) => status === 'failed').map(({ name }) => relative(ROOT, name))
}
