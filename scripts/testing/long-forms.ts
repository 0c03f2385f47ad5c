import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { ROOT } from '../stack/session.ts'
import { type Counts, presentCounts } from '../stack/test-counts.ts'
import type { TestArguments } from './arguments.ts'
import { runTests } from './run-tests.ts'

/** What a test file with a long form contains: the variable itself, or a helper that reads it. */
const LONG_FORM = /process\.env\.LONG_TESTS|inspectLooks\(/

/** The test files with a long form. */
function findLongForms(): string[] {
  return globSync('test/**/*.test.ts', { cwd: ROOT })
    .filter((path) => LONG_FORM.test(readFileSync(join(ROOT, path), 'utf8')))
    .sort()
}

/** Runs all long forms sequentially, and prints a report. */
export async function runLongForms(settings: TestArguments): Promise<Counts> {
  const lines: string[] = []
  const total = { passed: 0, failed: 0, skipped: 0 }
  for (const file of findLongForms()) {
    const startedAt = performance.now()
    const counts = await runTests([file], { ...settings, long: true })
    const minutes = ((performance.now() - startedAt) / 60_000).toFixed(1)
    lines.push(`${minutes.padStart(6)} min  ${file}: ${presentCounts(counts)}`)
    for (const key of ['passed', 'failed', 'skipped'] as const) total[key] += counts[key]
  }
  for (const line of ['Long forms:', ...lines]) console.log(line)
  return total
}
