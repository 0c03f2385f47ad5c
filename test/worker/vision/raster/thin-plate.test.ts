import { describe, expect, it } from 'vitest'
import { createRandom } from '../../../../worker/vision/raster/clusters.ts'
import type { Point } from '../../../../worker/vision/raster/plane.ts'
import { fitThinPlate } from '../../../../worker/vision/raster/thin-plate.ts'

const random = createRandom(1)
const scattered = Array.from({ length: 40 }, () => ({ x: 500 * random(), y: 800 * random() }))

describe('fitThinPlate', () => {
  it('reproduces an affine map everywhere, even far from the points', () => {
    const affine = ({ x, y }: Point) => ({ x: 1.3 * x - 0.4 * y + 12, y: 0.2 * x + 0.9 * y - 30 })
    const map = fitThinPlate(scattered, scattered.map(affine))
    for (const point of [
      { x: 250, y: 400 },
      { x: -300, y: 40 },
      { x: 900, y: 1500 },
    ]) {
      expect(map(point).x).toBeCloseTo(affine(point).x, 4)
      expect(map(point).y).toBeCloseTo(affine(point).y, 4)
    }
  })

  it('maps each point to its target', () => {
    const partners = scattered.map(({ x, y }) => ({ x: x + 40 * random(), y: y + 40 * random() }))
    const map = fitThinPlate(scattered, partners)
    for (const [i, point] of scattered.entries())
      expect(Math.hypot(map(point).x - partners[i].x, map(point).y - partners[i].y)).toBeLessThan(1e-3)
  })

  it('bends less around a misplaced target with regularization', () => {
    const partners = scattered.map((p, i) => (i === 7 ? { x: p.x + 30, y: p.y } : p))
    const miss = (slack: number) => Math.abs(fitThinPlate(scattered, partners, slack)(scattered[7]).x - partners[7].x)
    expect(miss(0.05)).toBeGreaterThan(5)
    expect(miss(5e-4)).toBeLessThan(2)
  })
})
