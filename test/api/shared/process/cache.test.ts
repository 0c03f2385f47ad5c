import { describe, expect, it } from 'vitest'
import { createCache } from '../../../../api/shared/process/cache.ts'

describe('a cache', () => {
  it('keeps the most recently used entries, and reports evicted ones', () => {
    const evicted: string[] = []
    const cache = createCache<number>({ max: 2, onEvict: (key) => evicted.push(key) })
    cache.set('a', 1)
    cache.set('b', 2)
    cache.get('a')
    cache.set('c', 3)
    cache.set('a', 4)
    cache.delete('c')
    expect([cache.get('a'), cache.has('b'), cache.size]).toEqual([4, false, 1])
    expect(evicted).toEqual(['b'])
  })

  it('keeps an entry for its lifetime since it was set, however often it is used', () => {
    let now = 0
    const cache = createCache<number>({ max: 2, ms: 100, now: () => now })
    cache.set('a', 1)
    now += 99
    expect([cache.get('a'), cache.has('a')]).toEqual([1, true])
    now += 1
    expect([cache.get('a'), cache.has('a')]).toEqual([undefined, false])
  })
})
