import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { ROOT } from '../../../scripts/stack/session.ts'
import { ALLOWED_SKIPS } from '../../../scripts/testing/allowed-skips.ts'
import { findSkips, presentSkips, sortSkips } from '../../../scripts/testing/skips.ts'

const SHORT = { long: false, isRoot: true, hasAssets: false }
const LONG_FORM = {
  file: 'test/cluster/install/operations.test.ts',
  test: 'an operator who follows the documentation word for word installs',
}
const STRANGER = { file: 'test/flow.test.ts', test: 'a try-on ends in an image' }

describe('skipped tests', () => {
  it('are found by file and name, except in a file that failed as a whole', () => {
    const test = { fullName: STRANGER.test, status: 'skipped' }
    const passed = { fullName: 'another', status: 'passed' }
    const name = join(ROOT, STRANGER.file)
    const report = (status: string) => ({
      numPassedTests: 1,
      numFailedTests: 0,
      numPendingTests: 1,
      numTodoTests: 0,
      testResults: [{ name, status, startTime: 0, endTime: 0, assertionResults: [test, passed] }],
    })
    expect(findSkips(report('passed'))).toEqual([STRANGER])
    expect(findSkips(report('failed'))).toEqual([])
  })

  it('need an allowed reason that applies to this run', () => {
    const short = sortSkips([LONG_FORM, STRANGER], ALLOWED_SKIPS, SHORT)
    expect([...short.allowed.values()]).toEqual([[LONG_FORM]])
    expect(short.unexplained).toEqual([STRANGER])
    expect(sortSkips([LONG_FORM], ALLOWED_SKIPS, { ...SHORT, long: true }).unexplained).toEqual([LONG_FORM])
  })

  it('are printed with their reasons', () => {
    const lines = presentSkips(sortSkips([LONG_FORM, STRANGER], ALLOWED_SKIPS, SHORT), false)
    expect(lines).toEqual([
      'Skipped:',
      expect.stringMatching(/^ {2}test\/cluster\/install\/operations\.test\.ts: 1 test: .*scripts\/test --lane long/),
      'Skipped without a reason in scripts/testing/allowed-skips.ts, which counts as failed:',
      '  test/flow.test.ts: a try-on ends in an image',
    ])
    expect(presentSkips(sortSkips([], ALLOWED_SKIPS, SHORT), false)).toEqual([])
  })
})
