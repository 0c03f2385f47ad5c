import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, relative } from 'node:path'
import { ROOT } from '../stack/session.ts'
import type { TestReport } from '../stack/test-counts.ts'
import { userCache } from '../stack/user-cache.ts'

/** Of the user, not of the clone: a run of continuous integration, in a new clone, starts long files first. */
const PATH = userCache('test-durations.json')

/** Seconds per test file, from its last run on this machine. */
export type Durations = Readonly<Record<string, number>>

export function readDurations(): Durations {
  try {
    return JSON.parse(readFileSync(PATH, 'utf8'))
  } catch {
    return {}
  }
}

export function keepDurations({ testResults }: TestReport): void {
  const passed = testResults.filter(({ status }) => status === 'passed')
  const fresh = passed.map(({ name, startTime, endTime }) => [relative(ROOT, name), (endTime - startTime) / 1000])
  mkdirSync(dirname(PATH), { recursive: true })
  writeFileSync(PATH, JSON.stringify({ ...readDurations(), ...Object.fromEntries(fresh) }, null, 1))
}
