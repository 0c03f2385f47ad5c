import type { TestReport } from '../stack/test-counts.ts'

/** An error that no test threw, and the path of the file during which it was thrown. */
export interface OutsideError {
  readonly file?: unknown
  readonly message: string
}

/** The report, in which a file fails that passed but for an error outside its tests. */
export function failOutside(report: TestReport, errors: readonly OutsideError[]): TestReport {
  const messages = new Map<unknown, string>(errors.map(({ file, message }) => [file, `outside its tests: ${message}`]))
  const testResults = report.testResults.map((file) => {
    const message = messages.get(file.name)
    return message === undefined || file.status === 'failed' ? file : { ...file, status: 'failed', message }
  })
  return { ...report, testResults }
}

/** The first report, with the results of the second for its files. */
export function replaceResults(first: TestReport, second: TestReport): TestReport {
  const replaced = new Map(second.testResults.map((file) => [file.name, file]))
  return countResults(first.testResults.map((file) => replaced.get(file.name) ?? file))
}

/** A report of these files. */
export function countResults(testResults: TestReport['testResults']): TestReport {
  const statuses = testResults.flatMap((file) => file.assertionResults.map(({ status }) => status))
  const count = (...wanted: string[]) => statuses.filter((status) => wanted.includes(status)).length
  return {
    testResults,
    numPassedTests: count('passed'),
    numFailedTests: count('failed'),
    numPendingTests: count('skipped', 'pending', 'disabled'),
    numTodoTests: count('todo'),
  }
}
