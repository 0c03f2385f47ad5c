import { describe, expect, it } from 'vitest'
import { isHeldOut } from '../../../../api/storefront/events/holdout.ts'

describe('the holdout of a shop', () => {
  const visitors = Array.from({ length: 20_000 }, (_, i) => `anon_${i}`)
  const held = (shop: string, percent: number) => visitors.filter((visitor) => isHeldOut(shop, visitor, percent))

  it('has its share of the visitors, to 4 standard deviations', () => {
    expect(held('shop_a', 0)).toEqual([])
    for (const percent of [1, 10, 50]) {
      const expected = visitors.length * (percent / 100)
      const deviation = Math.sqrt(expected * (1 - percent / 100))
      expect(Math.abs(held('shop_a', percent).length - expected), String(percent)).toBeLessThan(4 * deviation)
    }
  })

  it('keeps its visitors over visits, versions and higher shares', () => {
    // Another choice would move visitors of running comparisons to the other group.
    expect(held('shop_a', 50).slice(0, 5)).toEqual(['anon_4', 'anon_5', 'anon_6', 'anon_8', 'anon_10'])
    const larger = new Set(held('shop_a', 20))
    expect(held('shop_a', 10).every((visitor) => larger.has(visitor))).toBe(true)
  })

  it('is independent of that of another shop', () => {
    const other = new Set(held('shop_b', 50))
    const both = held('shop_a', 50).filter((visitor) => other.has(visitor)).length
    // A quarter of the visitors, to 4 standard deviations.
    expect(Math.abs(both - visitors.length / 4)).toBeLessThan(4 * Math.sqrt(visitors.length * (1 / 4) * (3 / 4)))
  })
})
