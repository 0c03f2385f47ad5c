import { globSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { ROOT } from '../../../scripts/stack/session.ts'
import { orderFiles } from '../../../scripts/testing/durations.ts'
import { findLane, getLane, groupLanes, LANE_NAMES, listFiles } from '../../../scripts/testing/lanes.ts'

const FAULTS = 'test/faults/faults.test.ts'
const INSTALL = 'test/cluster/install/install.test.ts'

describe('the lanes of tests', () => {
  it('put every file into exactly one lane, and its long form into a lane of its own', () => {
    const files = LANE_NAMES.filter((lane) => lane !== 'long').flatMap((lane) => listFiles(lane))
    expect(files.toSorted()).toEqual(globSync('test/**/*.test.ts', { cwd: ROOT }).toSorted())
    expect(listFiles('long')).toEqual(expect.arrayContaining([FAULTS, INSTALL]))
  })

  it('match existing files', () => {
    for (const lane of LANE_NAMES)
      for (const glob of getLane(lane).globs) expect(globSync(glob, { cwd: ROOT }), glob).not.toEqual([])
    expect([FAULTS, INSTALL, 'test/flow.test.ts'].map(findLane)).toEqual(['faults', 'images', 'default'])
    expect(listFiles('cluster', ['test/cluster/leader'])).toEqual(['test/cluster/leader.test.ts'])
  })

  it('run after the default lane, and the long forms alone at the end', () => {
    const groups = groupLanes(LANE_NAMES.toReversed().map((lane) => ({ lane })))
    expect(groups.map((group) => group.map(({ lane }) => lane))).toEqual([
      ['default'],
      ['faults', 'products', 'cluster', 'images', 'browsers', 'vision'],
      ['long'],
    ])
    expect(groupLanes([{ lane: 'cluster' }])).toEqual([[{ lane: 'cluster' }]])
  })

  it('run files with the longest measured or expected duration first', () => {
    const order = orderFiles(['test/a.test.ts', 'test/b.test.ts', FAULTS, 'test/c.test.ts'], { 'test/c.test.ts': 30 })
    expect(order).toEqual([FAULTS, 'test/c.test.ts', 'test/a.test.ts', 'test/b.test.ts'])
  })
})
