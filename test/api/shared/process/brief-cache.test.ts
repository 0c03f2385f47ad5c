import { describe, expect, it } from 'vitest'
import { cacheBriefly } from '../../../../api/shared/process/brief-cache.ts'

describe('the brief cache', () => {
  let now = 0
  const asked: string[] = []
  const remember = (answer: (key: string) => Promise<string | null>, keep?: (found: string | null) => boolean) => {
    asked.length = 0
    const find = async (key: string) => {
      asked.push(key)
      return answer(key)
    }
    return cacheBriefly(find, { keep, now: () => now })
  }

  it('loads a value once for concurrent calls, and caches it for 3 s', async () => {
    const find = remember(async (key) => `the ${key}`)
    expect(await Promise.all([find('a'), find('b'), find('a')])).toEqual(['the a', 'the b', 'the a'])
    now += 2999
    await find('a')
    expect(asked).toEqual(['a', 'b'])
    now += 1
    await find('a')
    expect(asked).toEqual(['a', 'b', 'a'])
  })

  it('does not cache errors and excluded values', async () => {
    const failing = remember(() => Promise.reject(new Error('away')))
    await expect(failing('a')).rejects.toThrow('away')
    await expect(failing('a')).rejects.toThrow('away')
    expect(asked).toEqual(['a', 'a'])
    const choosy = remember(
      async (key) => (key === 'a' ? null : key),
      (found) => found !== null,
    )
    for (const key of ['a', 'a', 'b', 'b']) await choosy(key)
    expect(asked).toEqual(['a', 'a', 'b'])
  })

  it('caches the 10,000 most recently used values', async () => {
    const find = remember(async (key) => key)
    for (let i = 0; i <= 10_000; i++) await find(String(i))
    asked.length = 0
    for (const key of ['10000', '1', '0']) await find(key)
    expect(asked).toEqual(['0'])
  })
})
