import { describe, expect, it } from 'vitest'
import { countTests, presentCounts } from '../../../scripts/stack/test-counts.ts'

describe('the count of a test run', () => {
  const report = { numPassedTests: 5, numFailedTests: 0, numPendingTests: 0, numTodoTests: 0, testResults: [] }

  it('counts passed, failed and skipped tests', () => {
    expect(countTests({ ...report, numPendingTests: 2, numTodoTests: 1 }, true)).toEqual({
      passed: 5,
      failed: 0,
      skipped: 3,
    })
    expect(countTests({ ...report, numFailedTests: 2 }, false)).toMatchObject({ passed: 5, failed: 2 })
  })

  it('counts a failure for each file that fails outside its tests', () => {
    const file = (...states: string[]) => ({
      name: 'a.test.ts',
      status: 'failed',
      startTime: 0,
      endTime: 0,
      assertionResults: states.map((status) => ({ fullName: 'a test', status })),
    })
    const testResults = [file(), file('skipped'), file('passed', 'failed')]
    expect(countTests({ ...report, numFailedTests: 1, testResults }, false).failed).toBe(3)
  })

  it('counts a failure when vitest fails without a failed test or a report', () => {
    expect(countTests(report, false)).toMatchObject({ passed: 5, failed: 1 })
    expect(countTests(null, false)).toMatchObject({ passed: 0, failed: 1 })
  })

  it('is printed in one line, with skipped tests only if there are any', () => {
    expect(presentCounts({ passed: 5, failed: 0, skipped: 0 })).toBe('5 passed, 0 failed')
    expect(presentCounts({ passed: 5, failed: 1, skipped: 2 })).toBe('5 passed, 1 failed, 2 skipped')
  })
})
