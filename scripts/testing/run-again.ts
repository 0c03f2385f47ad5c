import { relative } from 'node:path'
import { ROOT } from '../stack/session.ts'
import type { TestReport } from '../stack/test-counts.ts'
import { replaceResults } from './reports.ts'
import { runVitest, type VitestRun } from './vitest.ts'

/** If more files fail, the load of the machine is not the cause. */
const MAX_FILES = 12

/**
 * Runs failed files a second time, because real processes on a loaded machine sometimes exceed a timeout. Runs whole files,
 * because a test can depend on earlier ones. Resolves with the report, in which these files have their second result.
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

/** Paths relative to the clone. */
function findFailedFiles({ testResults }: TestReport): string[] {
  return testResults.filter(({ status }) => status === 'failed').map(({ name }) => relative(ROOT, name))
}
