export interface Counts {
  readonly passed: number
  readonly failed: number
  readonly skipped: number
}

/** The fields of vitest's JSON report that are counted. */
export interface TestReport {
  readonly numPassedTests: number
  readonly numFailedTests: number
  readonly numPendingTests: number
  readonly numTodoTests: number
  readonly testResults: readonly {
    /** The path of the file. */
    readonly name: string
    readonly status: string
    /** Milliseconds since 1970. */
    readonly startTime: number
    readonly endTime: number
    /** Why the file failed outside its tests. */
    readonly message?: string
    readonly assertionResults: readonly {
      readonly fullName: string
      readonly status: string
      readonly failureMessages?: readonly string[]
    }[]
  }[]
}

/**
 * Counts the tests of a run; `succeeded` is vitest's own result. A file that fails outside its tests, on import or in its
 * setup, counts as one failure. So does a failed run without any of these.
 */
export function countTests(report: TestReport | null, succeeded: boolean): Counts {
  if (report === null) return { passed: 0, failed: 1, skipped: 0 }
  const brokenFiles = report.testResults.filter(
    (file) => file.status === 'failed' && !file.assertionResults.some(({ status }) => status === 'failed'),
  )
  const failed = report.numFailedTests + brokenFiles.length
  return {
    passed: report.numPassedTests,
    failed: succeeded ? failed : Math.max(failed, 1),
    skipped: report.numPendingTests + report.numTodoTests,
  }
}

/** The last line of a run. */
export function presentCounts({ passed, failed, skipped }: Counts): string {
  return `${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`
}
