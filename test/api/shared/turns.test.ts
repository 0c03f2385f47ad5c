import { describe, expect, it } from 'vitest'
import { createTurns } from '../../../api/shared/turns.ts'

describe('turns', () => {
  it('let so many work at once, and the others in the order in which they came', async () => {
    const inTurn = createTurns(2)
    const begun: number[] = []
    const ends = Array.from({ length: 5 }, () => Promise.withResolvers<void>())
    const all = ends.map(({ promise }, i) =>
      inTurn(async () => {
        begun.push(i)
        await promise
        return i
      }),
    )
    expect(begun).toEqual([0, 1])
    ends[1].resolve()
    await all[1]
    expect(begun).toEqual([0, 1, 2])
    for (const { resolve } of ends) resolve()
    expect(await Promise.all(all)).toEqual([0, 1, 2, 3, 4])
    expect(begun).toEqual([0, 1, 2, 3, 4])
  })

  it('go on after work that failed', async () => {
    const inTurn = createTurns(1)
    const failing = inTurn(() => Promise.reject(new Error('torn')))
    const next = inTurn(async () => 'done')
    await expect(failing).rejects.toThrow('torn')
    expect(await next).toBe('done')
  })
})
