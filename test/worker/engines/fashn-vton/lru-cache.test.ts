import { describe, expect, it } from 'vitest'
import { combineCaches, createLruCache } from '../../../../worker/engines/fashn-vton/lru-cache.ts'

describe('an LRU cache', () => {
  function start(bytes: number) {
    const made: string[] = []
    const recent = createLruCache<string>(bytes, (value) => value.length)
    const get = (key: string) =>
      recent.get(key, async () => {
        made.push(key)
        return key
      })
    return { made, get }
  }

  it('computes a value once', async () => {
    const { made, get } = start(100)
    expect([await get('a'), await get('b'), await get('a')]).toEqual(['a', 'b', 'a'])
    expect(made).toEqual(['a', 'b'])
  })

  it('evicts the least recently used value when full', async () => {
    const { made, get } = start(4)
    for (const key of ['aa', 'bb', 'aa', 'cc', 'aa', 'bb']) await get(key)
    expect(made).toEqual(['aa', 'bb', 'cc', 'bb'])
  })

  it('keeps an oversized value until the next is computed', async () => {
    const { made, get } = start(4)
    for (const key of ['large', 'large', 'b', 'large']) await get(key)
    expect(made).toEqual(['large', 'b', 'large'])
  })

  it('evicts by key prefix, and counts values', async () => {
    const made: string[] = []
    const recent = createLruCache<string>(100, () => 1)
    const get = (key: string) => recent.get(key, async () => `${made.push(key)}`)
    for (const key of ['ab tops', 'ab other', 'cd tops']) await get(key)
    const all = combineCaches(
      recent,
      createLruCache<string>(1, () => 1),
    )
    expect(all.count()).toBe(3)
    all.evict('ab')
    expect(all.count()).toBe(1)
    for (const key of ['ab tops', 'cd tops']) await get(key)
    expect(made).toEqual(['ab tops', 'ab other', 'cd tops', 'ab tops'])
  })

  it('does not cache a failure', async () => {
    const recent = createLruCache<string>(4, () => 1)
    await expect(recent.get('a', () => Promise.reject(new Error('no')))).rejects.toThrow('no')
    expect(await recent.get('a', async () => 'a')).toBe('a')
  })
})
