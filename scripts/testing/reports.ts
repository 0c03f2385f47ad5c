import type { TestReport } from '../stack/test-counts.ts'

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
