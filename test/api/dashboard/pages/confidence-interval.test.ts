import { describe, expect, it } from 'vitest'
import { describeDifference } from '../../../../api/dashboard/pages/analytics.view.ts'
import { compareShares } from '../../../../api/dashboard/pages/confidence-interval.ts'
import { isHeldOut } from '../../../../api/storefront/events/holdout.ts'
import { createRandom } from '../../../faults/support/random.ts'

describe('the interval of a difference of two shares', () => {
  it.each([
    [56, 70, 48, 80, 0.0524, 0.3339],
    [9, 10, 3, 10, 0.1705, 0.809],
    [6, 7, 2, 7, 0.0582, 0.8062],
    [5, 56, 0, 29, -0.0381, 0.1926],
    [0, 10, 0, 20, -0.1611, 0.2775],
    [0, 10, 0, 10, -0.2775, 0.2775],
    [10, 10, 0, 20, 0.6791, 1],
    [10, 10, 0, 10, 0.6075, 1],
  ])('is as published for %i of %i and %i of %i (Newcombe 1998, table II, method 10)', (a, m, b, n, from, to) => {
    const interval = compareShares({ count: a, total: m }, { count: b, total: n })
    expect([interval.from, interval.to].map((value) => value.toFixed(4))).toEqual([from.toFixed(4), to.toFixed(4)])
  })
})

describe('a simulated shop with a holdout', () => {
  const VISITORS = 2000

  /** Share of shops in which a difference is found; `rate` of visitors without the button buy, and `uplift` more with it. */
  function simulate({ shops, percent, uplift }: { shops: number; percent: number; uplift: number }) {
    const random = createRandom(7)
    const found = { more: 0, fewer: 0 }
    for (let shop = 0; shop < shops; shop++) {
      const [offered, held] = [
        { count: 0, total: 0 },
        { count: 0, total: 0 },
      ]
      for (let visitor = 0; visitor < VISITORS; visitor++) {
        const isHeld = isHeldOut(`shop_${shop}`, `anon_${visitor}`, percent)
        const group = isHeld ? held : offered
        group.total++
        if (random.chance(0.1 + (isHeld ? 0 : uplift))) group.count++
      }
      const told = / (more|fewer) buy /.exec(describeDifference(offered, held, 'buy'))?.[1]
      if (told !== undefined) found[told as keyof typeof found]++
    }
    return { more: found.more / shops, fewer: found.fewer / shops }
  }

  it.each([10, 50])(
    'shows a false difference in 5 % of shops whose button changes nothing (%i % holdout)',
    (percent) => {
      const { more, fewer } = simulate({ shops: 1000, percent, uplift: 0 })
      // 95 % of binomial counts of 1,000 shops.
      expect(more + fewer).toBeGreaterThan(0.0365)
      expect(more + fewer).toBeLessThan(0.0635)
    },
  )

  it('shows a planted uplift in most shops, and never the opposite', () => {
    // As a normal approximation of both shares has it: 93 %.
    const { more, fewer } = simulate({ shops: 300, percent: 50, uplift: 0.05 })
    expect(more).toBeGreaterThan(0.88)
    expect(fewer).toBe(0)
  })

  it('shows no difference while the purchases of one group do not arrive', () => {
    const describeHeld = (count: number, total: number) =>
      describeDifference({ count: 300, total: 1000 }, { count, total }, 'buy')
    for (const [count, total] of [
      [4, 1000],
      [0, 1000],
      [0, 0],
    ])
      expect(describeHeld(count, total)).toBe('No difference can be told yet.')
    expect(describeHeld(5, 1000)).toMatch(/ more buy /)
    expect(describeHeld(290, 1000)).toBe(
      'No difference can be told yet: −2.99 to 4.99 percentage points (95 % interval).',
    )
  })
})
