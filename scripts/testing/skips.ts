import { relative } from 'node:path'
import { ROOT } from '../stack/session.ts'
import type { TestReport } from '../stack/test-counts.ts'
import type { AllowedSkip, Circumstances } from './allowed-skips.ts'

export interface Skip {
  /** Path relative to the clone. */
  readonly file: string
  readonly test: string
}

export interface SortedSkips {
  /** The skipped tests by reason. */
  readonly allowed: ReadonlyMap<AllowedSkip, readonly Skip[]>
  readonly unexplained: readonly Skip[]
}

const SKIPPED = ['skipped', 'pending', 'todo', 'disabled']

/** The tests that did not run. Excludes failed files, which are reported as failures. */
export function findSkips(report: TestReport): Skip[] {
  return report.testResults.flatMap(({ name, status, assertionResults }) =>
    assertionResults
      .filter((test) => SKIPPED.includes(test.status) && status !== 'failed')
      .map(({ fullName }) => ({ file: relative(ROOT, name), test: fullName })),
  )
}

export function sortSkips(skips: readonly Skip[], list: readonly AllowedSkip[], run: Circumstances): SortedSkips {
  const allowed = new Map<AllowedSkip, Skip[]>()
  const unexplained: Skip[] = []
  for (const skip of skips) {
    const entry = list.find(
      ({ file, test, when }) => when(run) && skip.file.startsWith(file) && (!test || skip.test.includes(test)),
    )
    if (entry === undefined) unexplained.push(skip)
    else allowed.set(entry, [...(allowed.get(entry) ?? []), skip])
  }
  return { allowed, unexplained }
}

/** The lines at the end of a run. */
export function presentSkips({ allowed, unexplained }: SortedSkips, allowMissing: boolean): string[] {
  const heading = allowMissing
    ? 'Skipped because something is missing on this machine (--allow-missing):'
    : 'Skipped without a reason in scripts/testing/allowed-skips.ts, which counts as failed:'
  return [
    ...(allowed.size > 0 ? ['Skipped:'] : []),
    ...[...allowed].map(
      ([{ file, reason }, skips]) => `  ${file}: ${skips.length} test${skips.length === 1 ? '' : 's'}: ${reason}`,
    ),
    ...(unexplained.length > 0 ? [heading] : []),
    ...unexplained.map(({ file, test }) => `  ${file}: ${test}`),
  ]
}
