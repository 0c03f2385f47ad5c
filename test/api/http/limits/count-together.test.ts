import { describe, expect, it } from 'vitest'
import { type Counted, countTogether } from '../../../../api/http/limits/count-together.ts'

/** A counter that responds on command. */
function createCounter() {
  const totals = new Map<string, number>()
  const asked: { id: string; requests: number; answer: (fault?: Error) => void }[] = []
  const count = (id: string, requests: number) =>
    new Promise<Counted>((resolve, reject) => {
      const answer = (fault?: Error) => {
        if (fault) return reject(fault)
        const total = (totals.get(id) ?? 0) + requests
        totals.set(id, total)
        resolve({ total, resetSeconds: 7 })
      }
      asked.push({ id, requests, answer })
    })
  return { asked, count, countOne: countTogether(count) }
}

const settled = () => new Promise((resolve) => setImmediate(resolve))
const totalsOf = async (counting: readonly Promise<Counted>[]) =>
  (await Promise.all(counting)).map(({ total }) => total)

describe('batched counting', () => {
  it('returns each request its own count', async () => {
    const { asked, countOne } = createCounter()
    const first = [countOne('a'), countOne('a'), countOne('a')]
    await settled()
    const second = [countOne('a'), countOne('a')]
    await settled()
    expect(asked.map(({ requests }) => requests)).toEqual([3])
    asked[0].answer()
    expect(await totalsOf(first)).toEqual([1, 2, 3])
    await settled()
    expect(asked.map(({ requests }) => requests)).toEqual([3, 2])
    asked[1].answer()
    expect(await totalsOf(second)).toEqual([4, 5])
  })

  it('adds up the points of requests that have several', async () => {
    const { asked, count } = createCounter()
    const countSome = countTogether(count, { maxAhead: 100 })
    const first = countSome('a', 40)
    await settled()
    const next = [countSome('a', 20), countSome('a', 5), countSome('a', 50)]
    asked[0].answer()
    await settled()
    asked[1].answer()
    expect(await totalsOf([first, ...next])).toEqual([40, 60, 65, 115])
    expect(asked.map(({ requests }) => requests)).toEqual([40, 75])
  })

  it('does not make callers wait for each other', async () => {
    const { asked, countOne } = createCounter()
    const counting = [countOne('a'), countOne('b')]
    await settled()
    expect(asked.map(({ id, requests }) => [id, requests])).toEqual([
      ['a', 1],
      ['b', 1],
    ])
    asked[1].answer()
    expect(await counting[1]).toEqual({ total: 1, resetSeconds: 7 })
    asked[0].answer()
    expect(await counting[0]).toMatchObject({ total: 1 })
  })

  it('retries after an error, which rejects only the calls of its batch', async () => {
    const { asked, countOne } = createCounter()
    const failing = [countOne('a'), countOne('a')].map((counting) => counting.catch((error: Error) => error.message))
    await settled()
    const next = countOne('a')
    asked[0].answer(new Error('away'))
    expect(await Promise.all(failing)).toEqual(['away', 'away'])
    await settled()
    asked[1].answer()
    expect(await next).toMatchObject({ total: 1 })
  })

  describe('in advance', () => {
    it('serves callers from the reserved counts, each with its own count', async () => {
      const { asked, count } = createCounter()
      const countOne = countTogether(count, { maxAhead: 3 })
      const first = [countOne('a'), countOne('a')]
      await settled()
      expect(asked.map(({ requests }) => requests)).toEqual([5])
      asked[0].answer()
      expect(await totalsOf(first)).toEqual([1, 2])
      expect(await totalsOf([countOne('a'), countOne('a'), countOne('a')])).toEqual([3, 4, 5])
      const next = countOne('a')
      await settled()
      asked[1].answer()
      expect(await totalsOf([next])).toEqual([6])
    })

    it('serves no request of more points than are left', async () => {
      const { asked, count } = createCounter()
      const countSome = countTogether(count, { maxAhead: 3 })
      const first = [countSome('a'), countSome('a')]
      await settled()
      asked[0].answer()
      await totalsOf(first)
      const large = countSome('a', 4)
      await settled()
      expect(asked.map(({ requests }) => requests)).toEqual([5, 4])
      asked[1].answer()
      expect(await totalsOf([countSome('a', 2), large])).toEqual([4, 9])
    })

    it('counts a single caller exactly, and discards unused reserved counts', async () => {
      const { asked, count } = createCounter()
      let now = 0
      const countOne = countTogether(count, { maxAhead: 100, now: () => now })
      const alone = countOne('a')
      await settled()
      expect(asked.map(({ requests }) => requests)).toEqual([1])
      asked[0].answer()
      await alone
      const together = [countOne('a'), countOne('a')]
      await settled()
      asked[1].answer()
      expect(await totalsOf(together)).toEqual([2, 3])
      now = 1000
      const late = countOne('a')
      await settled()
      expect(asked.map(({ requests }) => requests)).toEqual([1, 18, 1])
      asked[2].answer()
      expect(await totalsOf([late])).toEqual([20])
    })
  })
})
