import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { ROOT } from '../stack/session.ts'
import type { TestReport } from '../stack/test-counts.ts'

const PATH = join(ROOT, '.cache/test-durations.json')

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
  mkdirSync(join(ROOT, '.cache'), { recursive: true })
  writeFileSync(PATH, JSON.stringify({ ...readDurations(), ...Object.fromEntries(fresh) }, null, 1))
}
