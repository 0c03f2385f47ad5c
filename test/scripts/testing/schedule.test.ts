import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { ROOT } from '../../../scripts/stack/session.ts'
import { findLane, groupFiles, orderFiles } from '../../../scripts/testing/schedule.ts'

const FAULTS = 'test/faults/faults.test.ts'
const POOL = 'test/cluster/worker-pool.test.ts'
const WIDGET = 'test/widget/faults.test.ts'

describe('the schedule of test files', () => {
  it('runs files with the longest measured or expected duration first', () => {
    const order = orderFiles(['test/a.test.ts', 'test/b.test.ts', FAULTS, 'test/c.test.ts'], { 'test/c.test.ts': 30 })
    expect(order).toEqual([FAULTS, 'test/c.test.ts', 'test/a.test.ts', 'test/b.test.ts'])
  })

  it('assigns existing files to the cluster and browser lanes', () => {
    const lanes = { [POOL]: 'cluster', 'test/cluster/install/install.test.ts': 'cluster', [WIDGET]: 'browser' }
    for (const [path, lane] of Object.entries({ ...lanes, [FAULTS]: null, 'test/flow.test.ts': null }))
      expect([existsSync(join(ROOT, path)), findLane(path)], path).toEqual([true, lane])
  })

  it('puts every file into exactly one group', () => {
    const groups = groupFiles([])
    expect(groups.map(({ isInTurn }) => isInTurn)).toEqual([true, true, false])
    const files = groups.flatMap((group) => group.files)
    expect(new Set(files).size).toBe(files.length)
    expect(files).toEqual(expect.arrayContaining([POOL, WIDGET, FAULTS]))
  })

  it('has no group without files, and passes unknown paths to vitest', () => {
    expect(groupFiles([POOL])).toEqual([{ isInTurn: true, files: [POOL] }])
    expect(groupFiles(['test/missing'])).toEqual([{ isInTurn: false, files: ['test/missing'] }])
  })
})
