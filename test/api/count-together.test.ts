import { describe, expect, it } from 'vitest'
import { type Counted, countTogether } from '../../api/count-together.ts'

/** A counter that answers when it is told to. */
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
  return { asked, countOne: countTogether(count) }
}

const settled = () => new Promise((resolve) => setImmediate(resolve))
const totalsOf = async (counting: readonly Promise<Counted>[]) =>
  (await Promise.all(counting)).map(({ total }) => total)

describe('counting together', () => {
  it('tells each request its own place', async () => {
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

  it('lets no caller wait for another', async () => {
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

  it('asks again after a fault, which only those hear whom it concerned', async () => {
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
})
