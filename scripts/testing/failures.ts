import { relative } from 'node:path'
import { stripVTControlCharacters } from 'node:util'
import { ROOT } from '../stack/session.ts'
import type { TestReport } from '../stack/test-counts.ts'

const MAX_MESSAGE_LENGTH = 500

/** The lines at the end of a run that list failures. */
export function presentFailures(report: TestReport): string[] {
  const lines = report.testResults.filter(({ status }) => status === 'failed').flatMap(presentFile)
  return lines.length > 0 ? ['Failed:', ...lines] : []
}

/** The lines at the end of a run that list tests that passed only on a retry, with their first error. */
export function presentRetried(first: TestReport, last: TestReport): string[] {
  const passed = new Set(last.testResults.flatMap(({ name, status }) => (status === 'passed' ? [name] : [])))
  const lines = first.testResults
    .filter(({ name, status }) => status === 'failed' && passed.has(name))
    .flatMap(presentFile)
  return lines.length > 0 ? ['Passed only when run again:', ...lines] : []
}

type File = TestReport['testResults'][number]

function presentFile({ name, message, assertionResults }: File): string[] {
  const path = relative(ROOT, name)
  const failed = assertionResults.filter(({ status }) => status === 'failed')
  if (failed.length === 0) return [`  ${path}: ${firstLine(message)}`]
  return failed.map(({ fullName, failureMessages }) => `  ${path}: ${fullName}: ${firstLine(failureMessages?.[0])}`)
}

function firstLine(message = ''): string {
  return stripVTControlCharacters(message || 'no message')
    .trimStart()
    .split('\n', 1)[0]
    .slice(0, MAX_MESSAGE_LENGTH)
}
