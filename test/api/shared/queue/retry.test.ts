import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { nextAttempt } from '../../../../api/shared/queue/retry.ts'

describe('the next attempt', () => {
  const isWithin = (planned: number, seconds: number | null) =>
    seconds !== null && seconds >= planned && seconds <= planned * 1.1

  it('follows a list of delays, and is null after its end', () => {
    const policy = { seconds: [5, 300] }
    expect(isWithin(5, nextAttempt({ failures: 0 }, policy))).toBe(true)
    expect(isWithin(300, nextAttempt({ failures: 1 }, policy))).toBe(true)
    expect(nextAttempt({ failures: 2 }, policy)).toBeNull()
  })

  it('doubles the delay up to a maximum, after any number of failures', () => {
    fc.assert(
      fc.property(fc.nat(2 ** 31), (failures) =>
        isWithin(Math.min(300, 2 ** failures), nextAttempt({ failures }, { seconds: { first: 1, longest: 300 } })),
      ),
    )
  })

  it('respects Retry-After, and is null above the maximum age of an item', () => {
    const policy = { seconds: { first: 1, longest: 300 }, giveUpSeconds: 60 }
    expect(nextAttempt({ failures: 0, ageSeconds: 59, askedSeconds: 900 }, policy)).toBe(900)
    expect(nextAttempt({ failures: 0, ageSeconds: 60, askedSeconds: 900 }, policy)).toBeNull()
  })
})
