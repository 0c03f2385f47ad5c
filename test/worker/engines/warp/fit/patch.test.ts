import { describe, expect, it } from 'vitest'
import { fillPatch, resampleInTwo } from '../../../../../worker/engines/warp/fit/patch.ts'

const NONE = { left: 0, right: 0, above: 0, below: 0 }
const line = (from: [number, number], to: [number, number], count: number) =>
  Array.from({ length: count }, (_, i) => ({
    x: from[0] + ((to[0] - from[0]) * i) / (count - 1),
    y: from[1] + ((to[1] - from[1]) * i) / (count - 1),
  }))

describe('a grid between four curves', () => {
  const left = line([0, 0], [0, 100], 11)
  const right = line([50, 0], [50, 100], 11)
  const straight = { left, right, top: line([0, 0], [50, 0], 5), bottom: line([0, 100], [50, 100], 5) }

  it('has straight, even rows between straight edges', () => {
    const grid = fillPatch(straight, 6, NONE)
    expect(grid[6][3]).toEqual({ x: 20, y: 50 })
    expect(grid.length).toBe(13)
  })

  it('follows a curved lower edge only in its lower half', () => {
    const bottom = [
      { x: 0, y: 100 },
      { x: 25, y: 120 },
      { x: 50, y: 100 },
    ]
    const grid = fillPatch({ ...straight, bottom }, 5, NONE)
    expect(grid[11][3].y).toBeCloseTo(120, 5)
    expect(grid[3][3].y).toBeLessThan(21)
  })

  it('extends beyond its edges by the margins', () => {
    const grid = fillPatch(straight, 6, { left: 0.1, right: 0.2, above: 0.5, below: 1 })
    expect(grid[1][0].x).toBeCloseTo(-5)
    expect(grid[1][7].x).toBeCloseTo(60)
    expect(grid[0][1].y).toBeCloseTo(-5)
    expect(grid[12][1].y).toBeCloseTo(110)
  })

  it('keeps the split point of a chain', () => {
    const chain = line([0, 0], [0, 10], 11)
    const points = resampleInTwo(chain, 2, [5, 3])
    expect(points.map(({ y }) => y)).toEqual([0, 0.5, 1, 1.5, 2, 6, 10])
  })
})
