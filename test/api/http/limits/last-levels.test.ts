import { describe, expect, it } from 'vitest'
import { createLastLevels } from '../../../../api/http/limits/last-levels.ts'

describe('the last levels of a replica', () => {
  const start = () => {
    const clock = { now: 1_000_000 }
    return { clock, levels: createLastLevels({ burst: 10, perSecond: 2, now: () => clock.now }) }
  }
  const alone = (requests: number) => ({ requests, owed: requests })

  it('continue from the shared bucket, and drain', () => {
    const { clock, levels } = start()
    expect(levels.note('a', { before: 6, tokens: 1 })).toEqual({ total: 7 })
    expect(levels.add('a', alone(2))).toEqual({ total: 9 })
    clock.now += 2500
    expect(levels.add('a', alone(1))).toEqual({ total: 5 })
    clock.now += 60_000
    expect(levels.add('a', alone(1))).toEqual({ total: 1 })
  })

  it('count local requests, and add them to the shared bucket once', () => {
    const { levels } = start()
    expect(levels.add('a', alone(8))).toEqual({ total: 8 })
    expect(levels.add('a', alone(5))).toEqual({ total: 13 })
    expect(levels.add('a', alone(1))).toEqual({ total: 11 })
    expect(levels.takeOwed('a')).toBe(10)
    expect(levels.note('a', { before: 0, tokens: 11 })).toEqual({ total: 11 })
    expect([levels.takeOwed('a'), levels.takeOwed('b')]).toEqual([0, 0])
  })

  it('do not refill a spent bucket if the shared bucket loses its level', () => {
    const { levels } = start()
    levels.note('a', { before: 9, tokens: 1 })
    expect(levels.note('a', { before: 0, tokens: 1 })).toEqual({ total: 11 })
  })

  it('are kept for a limited number of IDs', () => {
    const { levels } = start()
    for (let i = 0; i <= 20_000; i++) levels.add(String(i), alone(1))
    expect([levels.takeOwed('0'), levels.takeOwed('1')]).toEqual([0, 1])
  })
})
