import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type Member, shareOf } from '../../../controller/worker-pool/budget-share.ts'

const anyPool = fc.record({
  priority: fc.integer({ min: -2, max: 2 }),
  hourlyCost: fc.constantFrom(0.5, 1, 2.5),
  min: fc.nat(3),
})
const anyBudget = fc.record({
  pools: fc.array(anyPool, { minLength: 1, maxLength: 5 }),
  hourlyCap: fc.double({ min: 0, max: 25, noNaN: true }),
  /** What pools come to require, one after the other. */
  wants: fc.array(fc.tuple(fc.nat(4), fc.nat(12)), { maxLength: 30 }),
})

const costOf = (members: readonly Member[]) => members.reduce((sum, { held, hourlyCost }) => sum + held * hourlyCost, 0)

/** Lets one pool decide, as it does by itself. */
function decide(members: Member[], i: number, hourlyCap: number): void {
  const member = members[i]
  const others = members.filter((other) => other !== member)
  const { workers, room } = shareOf(member, others, hourlyCap)
  members[i] = { ...member, held: Math.min(member.wanted, workers, Math.max(room, member.held)) }
}

describe('pools that share a cost budget', () => {
  it('never cost more than the cap, in any order and for any demand', () => {
    fc.assert(
      fc.property(anyBudget, ({ pools, hourlyCap, wants }) => {
        const members: Member[] = pools.map((pool, i) => ({ ...pool, key: `${i}`, wanted: pool.min, held: 0 }))
        for (const [at, wanted] of wants) {
          const i = at % members.length
          members[i] = { ...members[i], wanted: Math.max(members[i].min, wanted) }
          decide(members, i, hourlyCap)
          expect(costOf(members)).toBeLessThanOrEqual(hourlyCap + 1e-6)
        }
      }),
      { numRuns: 2000 },
    )
  })

  it('settle on as many workers as the cap pays for, first pools first', () => {
    fc.assert(
      fc.property(anyBudget, ({ pools, hourlyCap, wants }) => {
        const members: Member[] = pools.map((pool, i) => ({ ...pool, key: `${i}`, wanted: pool.min, held: 0 }))
        for (const [at, wanted] of wants) {
          const i = at % members.length
          members[i] = { ...members[i], wanted: Math.max(members[i].min, wanted) }
          decide(members, i, hourlyCap)
        }
        for (let round = 0; round < 2 * members.length; round++)
          for (const i of members.keys()) decide(members, i, hourlyCap)
        const left = hourlyCap - costOf(members)
        for (const { held, wanted, hourlyCost } of members) if (held < wanted) expect(left).toBeLessThan(hourlyCost)
        const first = members.toSorted((a, b) => b.priority - a.priority || a.hourlyCost - b.hourlyCost)[0]
        const mins = members.reduce((sum, { min, hourlyCost }) => sum + min * hourlyCost, 0)
        const isAffordable = mins + (first.wanted - first.min) * first.hourlyCost <= hourlyCap
        if (isAffordable && members.filter(({ priority }) => priority === first.priority).length === 1)
          expect(first.held).toBe(first.wanted)
      }),
      { numRuns: 2000 },
    )
  })

  it('leave an unlimited pool unchanged', () => {
    const fixed = { key: 'fixed', priority: Number.POSITIVE_INFINITY, hourlyCost: 1, min: 4, wanted: 4, held: 4 }
    const other = { key: 'other', priority: 5, hourlyCost: 1, min: 3, wanted: 9, held: 0 }
    expect(shareOf(other, [fixed], 5)).toEqual({ workers: 1, room: 1 })
    expect(shareOf(other, [fixed], 4)).toEqual({ workers: 0, room: 0 })
  })
})
