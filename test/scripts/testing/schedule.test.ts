import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { ROOT } from '../../../scripts/stack/session.ts'
import { isInTurn, orderFiles } from '../../../scripts/testing/schedule.ts'
import { createTurns } from '../../support/turns.ts'

const FAULTS = 'test/faults/faults.test.ts'
const POOL = 'test/cluster/worker-pool.test.ts'
const WIDGET = 'test/widget/faults.test.ts'

describe('the order of test files', () => {
  it('takes one file in turn after the other, the longest first, and the rest beside them', () => {
    const durations = { [POOL]: 30, [WIDGET]: 10, 'a.test.ts': 20, 'b.test.ts': 15, 'c.test.ts': 10, 'd.test.ts': 1 }
    const order = orderFiles(Object.keys(durations).reverse(), { workers: 2, durations })
    expect(order).toEqual([POOL, 'a.test.ts', 'b.test.ts', WIDGET, 'c.test.ts', 'd.test.ts'])
  })

  it('keeps every file where nothing was measured and where there is one worker', () => {
    const paths = ['test/a.test.ts', 'test/b.test.ts', FAULTS, POOL, WIDGET]
    const order = orderFiles(paths, { workers: 1, durations: {} })
    expect(order.toSorted()).toEqual(paths.toSorted())
    expect(order.slice(0, 2).toSorted()).toEqual([POOL, FAULTS])
  })

  it('knows files in turn by the names that they have', () => {
    for (const path of [POOL, WIDGET, 'test/cluster/watch.test.ts', 'test/cluster/install/install.test.ts']) {
      expect([existsSync(join(ROOT, path)), isInTurn(path)], path).toEqual([true, true])
    }
    for (const path of [FAULTS, 'test/flow.test.ts']) {
      expect([existsSync(join(ROOT, path)), isInTurn(path)], path).toEqual([true, false])
    }
  })
})

it('a turn is granted to one worker at a time, and is free again when that worker begins its next file or ends', () => {
  const takeTurn = createTurns()
  const [first, second, ended] = [process.pid, process.ppid, 2 ** 30]
  expect(takeTurn({ pid: first, isWanted: true })).toBe(true)
  expect(takeTurn({ pid: second, isWanted: true })).toBe(false)
  expect(takeTurn({ pid: second, isWanted: false })).toBe(true)
  expect(takeTurn({ pid: second, isWanted: true })).toBe(false)
  expect(takeTurn({ pid: first, isWanted: false })).toBe(true)
  expect(takeTurn({ pid: ended, isWanted: true })).toBe(true)
  expect(takeTurn({ pid: second, isWanted: true })).toBe(true)
})
