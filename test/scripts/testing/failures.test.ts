import { join } from 'node:path'
import { expect, it } from 'vitest'
import { ROOT } from '../../../scripts/stack/session.ts'
import { countTests } from '../../../scripts/stack/test-counts.ts'
import { presentFailures, presentRetried } from '../../../scripts/testing/failures.ts'
import { countResults, replaceResults } from '../../../scripts/testing/reports.ts'

const COUNTS = { numPassedTests: 1, numFailedTests: 1, numPendingTests: 0, numTodoTests: 0 }
const TIMES = { startTime: 0, endTime: 0 }

it('lists failed tests and files that cannot be loaded', () => {
  const passed = { fullName: 'an account is created', status: 'passed', failureMessages: [] }
  const failed = {
    fullName: 'a try-on ends in an image',
    status: 'failed',
    failureMessages: ['\u001b[31mno image\nat a.ts'],
  }
  const testResults = [
    { ...TIMES, name: join(ROOT, 'test/passed.test.ts'), status: 'passed', assertionResults: [passed] },
    { ...TIMES, name: join(ROOT, 'test/failed.test.ts'), status: 'failed', assertionResults: [passed, failed] },
    {
      ...TIMES,
      name: join(ROOT, 'test/broken.test.ts'),
      status: 'failed',
      message: 'no such module',
      assertionResults: [],
    },
  ]
  expect(presentFailures({ ...COUNTS, testResults })).toEqual([
    'Failed:',
    '  test/failed.test.ts: a try-on ends in an image: no image',
    '  test/broken.test.ts: no such module',
  ])
  expect(presentFailures({ ...COUNTS, testResults: testResults.slice(0, 1) })).toEqual([])
})

it('lists files that passed only on a retry, with the first error', () => {
  const named = (name: string, status: string, message: string) => {
    const test = { fullName: 'a pool is scaled', status, failureMessages: [message] }
    return { ...TIMES, name: join(ROOT, name), status, assertionResults: [test] }
  }
  const first = [named('a.test.ts', 'failed', 'too early\nat a.ts'), named('b.test.ts', 'failed', 'too late')]
  const second = { ...COUNTS, testResults: [named('a.test.ts', 'passed', ''), named('b.test.ts', 'failed', 'later')] }
  const all = { ...COUNTS, testResults: [...first, named('c.test.ts', 'passed', '')] }
  const report = replaceResults(all, second)
  expect(presentRetried(all, report)).toEqual([
    'Passed only when run again:',
    '  a.test.ts: a pool is scaled: too early',
  ])
  expect(presentFailures(report)).toEqual(['Failed:', '  b.test.ts: a pool is scaled: later'])
  expect(countTests(report, false)).toEqual({ passed: 2, failed: 1, skipped: 0 })
  expect(presentRetried(all, all)).toEqual([])
  const merged = countResults([...first, ...second.testResults])
  expect(countTests(merged, false)).toEqual({ passed: 1, failed: 3, skipped: 0 })
})
