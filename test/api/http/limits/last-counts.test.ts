import { describe, expect, it } from 'vitest'
import { createLastCounts } from '../../../../api/http/limits/last-counts.ts'

describe('the last counts of a replica', () => {
  const start = () => {
    const clock = { now: 1_000_000 }
    return { clock, counts: createLastCounts({ seconds: 60, now: () => clock.now }) }
  }

  it('continue from the shared counter until its window ends', () => {
    const { clock, counts } = start()
    counts.note('a', { total: 7, ms: 30_000 })
    expect(counts.add('a', { requests: 2, owed: 2 })).toEqual({ total: 9, resetSeconds: 30 })
    expect(counts.add('b', { requests: 1, owed: 1 })).toEqual({ total: 1, resetSeconds: 60 })
    clock.now += 30_000
    expect(counts.add('a', { requests: 1, owed: 1 })).toEqual({ total: 1, resetSeconds: 60 })
  })

  it('are added to the shared counter once', () => {
    const { counts } = start()
    counts.add('a', { requests: 3, owed: 3 })
    expect([counts.takeOwed('a'), counts.takeOwed('a'), counts.takeOwed('b')]).toEqual([3, 0, 0])
  })

  it('keep a spent window closed if the shared counter loses its counts', () => {
    const { clock, counts } = start()
    counts.note('a', { total: 20, ms: 30_000 })
    expect(counts.note('a', { total: 1, ms: 60_000 })).toEqual({ total: 20, resetSeconds: 30 })
    clock.now += 30_000
    expect(counts.note('a', { total: 2, ms: 30_000 })).toEqual({ total: 2, resetSeconds: 30 })
  })

  it('are kept for a limited number of IDs', () => {
    const { counts } = start()
    for (let i = 0; i <= 20_000; i++) counts.add(String(i), { requests: 1, owed: 1 })
    expect([counts.takeOwed('0'), counts.takeOwed('1')]).toEqual([0, 1])
  })
})
