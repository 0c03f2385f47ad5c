import { subscribe } from 'node:diagnostics_channel'
import { appendFileSync } from 'node:fs'
import { relative } from 'node:path'
import { afterAll, expect } from 'vitest'
import { ROOT } from '../../scripts/stack/session.ts'
import { joinProcessorGroup, readGroupTime, readProcessorTime } from '../../scripts/testing/processor-time.ts'
import type { FileCost } from '../../scripts/testing/profile.ts'

interface Measurement {
  own: number
  children: number
  at: number
  started: { readonly spawnargs?: readonly string[] }[]
}

const path = process.env.TEST_PROFILE
// The files of a worker share its globals. What happens between two files belongs to the second: it imports its modules.
const shared = globalThis as { drapeProfile?: Measurement }
const group = `${process.env.TEST_PROFILE_GROUP}/${process.pid}`

if (path !== undefined) {
  if (shared.drapeProfile === undefined) {
    joinProcessorGroup(group)
    shared.drapeProfile = { own: 0, children: 0, at: performance.timeOrigin, started: [] }
    subscribe('child_process', (message) => {
      shared.drapeProfile?.started.push((message as { process: object }).process)
    })
  }
  // Registered before all others, so it runs after all others.
  afterAll(() => {
    const before = shared.drapeProfile as Measurement
    const after = { ...readCosts(), at: Date.now(), started: [] }
    const cost: FileCost = {
      file: relative(ROOT, expect.getState().testPath ?? ''),
      endedAt: after.at,
      seconds: (after.at - before.at) / 1000,
      own: after.own - before.own,
      children: after.children - before.children,
      programs: before.started.flatMap(({ spawnargs }) => (spawnargs ? [spawnargs.slice(0, 2).join(' ')] : [])),
    }
    appendFileSync(path, `${JSON.stringify(cost)}\n`)
    shared.drapeProfile = after
  })
}

function readCosts(): { own: number; children: number } {
  const { own, children } = readProcessorTime()
  return { own, children: Math.max((readGroupTime(group) ?? 0) - own, children) }
}
