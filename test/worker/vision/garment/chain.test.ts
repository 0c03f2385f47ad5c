import { describe, expect, it } from 'vitest'
import { bestCorners, farthestAlong, nearestIndex, polylineError } from '../../../../worker/vision/garment/chain.ts'

// 30 steps right, 20 down, 25 left, with a little noise.
const hook = Array.from({ length: 76 }, (_, i) => {
  const wobble = 0.3 * Math.sin(i * 2.4)
  if (i <= 30) return { x: i, y: wobble }
  if (i <= 50) return { x: 30 + wobble, y: i - 30 }
  return { x: 80 - i, y: 20 + wobble }
})

describe('bestCorners', () => {
  it('finds the corners of a bent chain', () => {
    const corners = bestCorners(hook, [() => true, () => true])
    expect(Math.abs((corners?.[0] ?? 0) - 30)).toBeLessThanOrEqual(1)
    expect(Math.abs((corners?.[1] ?? 0) - 50)).toBeLessThanOrEqual(1)
  })

  it('places corners only at allowed indices', () => {
    const corners = bestCorners(hook, [(i) => i < 20, (i) => i > 55])
    expect(corners?.[0]).toBeLessThan(20)
    expect(corners?.[1]).toBeGreaterThan(55)
    expect(bestCorners(hook, [() => false])).toBeNull()
  })

  it('minimizes the error among neighboring corners', () => {
    const corners = bestCorners(hook, [() => true, () => true]) ?? []
    const least = polylineError(hook, corners)
    for (const step of [-2, -1, 1, 2]) {
      expect(polylineError(hook, [corners[0] + step, corners[1]])).toBeGreaterThanOrEqual(least)
      expect(polylineError(hook, [corners[0], corners[1] + step])).toBeGreaterThanOrEqual(least)
    }
  })
})

it('returns the first of several equal extreme or nearest points', () => {
  const points = [
    { x: 0, y: 0 },
    { x: 5, y: 1 },
    { x: 5, y: 1 },
    { x: 2, y: 9 },
  ]
  expect(farthestAlong(points, 1, 0)).toBe(1)
  expect(farthestAlong(points, 0.1, 1)).toBe(3)
  expect(nearestIndex(points, { x: 3, y: 8 })).toBe(3)
})
