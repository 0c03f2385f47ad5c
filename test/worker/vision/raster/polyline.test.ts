import { describe, expect, it } from 'vitest'
import { coverPolygon } from '../../../../worker/vision/raster/polygon.ts'
import { arcLength, interpolate, resample } from '../../../../worker/vision/raster/polyline.ts'
import { distanceToEdge } from '../../../../worker/vision/raster/ray.ts'
import { distance } from '../../../../worker/vision/raster/vector.ts'

const corner = [
  { x: 0, y: 0 },
  { x: 30, y: 0 },
  { x: 30, y: 10 },
]

describe('polyline', () => {
  it('measures the length along a bent chain', () => {
    expect(arcLength(corner)).toBe(40)
    expect(arcLength([])).toBe(0)
  })

  it('resamples at equal steps and keeps both ends', () => {
    const points = resample(corner, 9)
    expect(points[0]).toEqual(corner[0])
    expect(points[8]).toEqual(corner[2])
    expect(points[7]).toEqual({ x: 30, y: 5 })
    for (let i = 1; i < 7; i++) expect(distance(points[i - 1], points[i])).toBeCloseTo(5)
  })

  it('interpolates between knots and clamps at the ends', () => {
    const at = (x: number) => interpolate([1, 2, 4], [10, 20, 0], x)
    expect([at(-5), at(1), at(1.5), at(2), at(3), at(4), at(9)]).toEqual([10, 10, 15, 20, 10, 0, 0])
  })
})

describe('distanceToEdge', () => {
  const disc = coverPolygon(
    { width: 100, height: 100 },
    Array.from({ length: 90 }, (_, i) => ({
      x: 50 + 30 * Math.cos((i * Math.PI) / 45),
      y: 50 + 30 * Math.sin((i * Math.PI) / 45),
    })),
  )

  it.each([0, 0.7, 1.9, 3.6, 5.1])('finds the rim of a disc at angle %d with subpixel accuracy', (angle) => {
    const direction = { x: Math.cos(angle), y: Math.sin(angle) }
    const way = distanceToEdge(disc, { x: 50, y: 50 }, { direction, reach: 45 })
    expect(Math.abs((way ?? 0) - 30)).toBeLessThan(0.3)
  })

  it('returns null when the edge is out of reach, and 0 when it starts outside', () => {
    const direction = { x: 1, y: 0 }
    expect(distanceToEdge(disc, { x: 50, y: 50 }, { direction, reach: 20 })).toBeNull()
    expect(distanceToEdge(disc, { x: 5, y: 50 }, { direction, reach: 20 })).toBe(0)
  })
})
