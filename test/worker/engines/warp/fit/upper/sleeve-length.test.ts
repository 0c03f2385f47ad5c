import { describe, expect, it } from 'vitest'
import { sleeveLength } from '../../../../../../worker/engines/warp/fit/upper/sleeve-length.ts'

const line = (from: number, to: number, bend: (y: number) => number) =>
  Array.from({ length: to - from + 1 }, (_, i) => ({ x: bend(from + i), y: from + i }))

describe('sleeveLength', () => {
  it('follows the edge of a smooth sleeve', () => {
    expect(sleeveLength(line(0, 100, (y) => y / 2))).toBeCloseTo(Math.hypot(100, 50), 5)
    // A quarter of a circle is 1.11 times as long as the line between its ends.
    const circle = Array.from({ length: 91 }, (_, i) => {
      const angle = (i * Math.PI) / 180
      return { x: 100 * Math.sin(angle), y: 100 * (1 - Math.cos(angle)) }
    })
    expect(sleeveLength(circle)).toBeCloseTo(50 * Math.PI, 1)
  })

  it('ignores the notches of a jagged edge', () => {
    const jagged = line(0, 100, (y) => (y % 20 < 10 ? 0 : 40))
    expect(sleeveLength(jagged)).toBeLessThan(1.16 * Math.hypot(100, 40))
  })
})
