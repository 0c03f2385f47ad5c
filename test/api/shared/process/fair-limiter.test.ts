import { describe, expect, it } from 'vitest'
import { createFairLimiter } from '../../../../api/shared/process/fair-limiter.ts'

describe('turns', () => {
  it('limit concurrent work, and start waiting work in order', async () => {
    const inTurn = createFairLimiter(2)
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

  it('continue after failed work', async () => {
    const inTurn = createFairLimiter(1)
    const failing = inTurn(() => Promise.reject(new Error('torn')))
    const next = inTurn(async () => 'done')
    await expect(failing).rejects.toThrow('torn')
    expect(await next).toBe('done')
  })

  it('run work within the capacity by weight, without overtaking', async () => {
    const inTurn = createFairLimiter(10)
    const started: string[] = []
    const ends = new Map(['six', 'five', 'one'].map((name) => [name, Promise.withResolvers<void>()]))
    const run = (name: string, weight: number) =>
      inTurn(
        async () => {
          started.push(name)
          await ends.get(name)?.promise
        },
        { weight },
      )
    const all = [run('six', 6), run('five', 5), run('one', 1)]
    expect(started).toEqual(['six'])
    ends.get('six')?.resolve()
    await all[0]
    expect(started).toEqual(['six', 'five', 'one'])
    for (const { resolve } of ends.values()) resolve()
    await Promise.all(all)
    await expect(run('eleven', 11)).rejects.toThrow(RangeError)
  })

  it('prefer the owner with less running work', async () => {
    const inTurn = createFairLimiter(2, { maxWaiting: 6 })
    const begun: string[] = []
    const ends: (() => void)[] = []
    const run = (owner: string) =>
      inTurn(
        async () => {
          begun.push(owner)
          await new Promise<void>((end) => ends.push(end))
        },
        { owner },
      )
    const all = ['a', 'a', 'a', 'a', 'a', 'b'].map(run)
    await expect(run('a')).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE', retryable: true })
    all.push(run('b'))
    expect(begun).toEqual(['a', 'a'])
    for (let i = 0; i < all.length; i++) {
      await expect.poll(() => ends.length).toBeGreaterThan(i)
      ends[i]()
    }
    await Promise.all(all)
    expect(begun).toEqual(['a', 'a', 'b', 'a', 'b', 'a', 'a'])
  })

  it('do not start work whose signal aborts while it waits', async () => {
    const inTurn = createFairLimiter(2)
    const first = Promise.withResolvers<void>()
    const gone = new AbortController()
    const running = inTurn(() => first.promise, { signal: gone.signal })
    const abandoned = inTurn(async () => 'large', { weight: 2, signal: gone.signal })
    const behind = inTurn(async () => 'behind')
    gone.abort()
    await expect(abandoned).rejects.toMatchObject({ code: 'VALIDATION_FAILED' })
    expect(await behind).toBe('behind')
    await expect(inTurn(async () => 'late', { signal: gone.signal })).rejects.toMatchObject({
      code: 'VALIDATION_FAILED',
    })
    first.resolve()
    expect(await running).toBeUndefined()
    expect(await inTurn(async () => 'all', { weight: 2 })).toBe('all')
  })

  it('refuse work when the queue is full, as a retryable error', async () => {
    const inTurn = createFairLimiter(1, { maxWaiting: 1 })
    const first = Promise.withResolvers<void>()
    const accepted = [inTurn(() => first.promise), inTurn(async () => 'second')]
    await expect(inTurn(async () => 'third')).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE', retryable: true })
    first.resolve()
    expect(await Promise.all(accepted)).toEqual([undefined, 'second'])
  })
})
