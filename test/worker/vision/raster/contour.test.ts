import { describe, expect, it } from 'vitest'
import { findBays, followContour } from '../../../../worker/vision/raster/contour.ts'
import { createMask } from '../../../../worker/vision/raster/plane.ts'
import { fillPolygon } from '../../../../worker/vision/raster/polygon.ts'

describe('followContour', () => {
  it('walks clockwise around a rectangle, one point per border pixel', () => {
    const mask = createMask({ width: 9, height: 7 })
    for (let y = 2; y < 6; y++) for (let x = 3; x < 8; x++) mask.data[y * 9 + x] = 1
    const contour = followContour(mask)
    expect(contour).toHaveLength(14)
    expect(contour[0]).toEqual({ x: 3, y: 2 })
    expect(contour[4]).toEqual({ x: 7, y: 2 })
    expect(contour[7]).toEqual({ x: 7, y: 5 })
  })

  it('traces a line of single pixels in both directions', () => {
    const mask = createMask({ width: 5, height: 3 })
    for (let x = 0; x < 5; x++) mask.data[5 + x] = 1
    expect(followContour(mask).map((p) => p.x)).toEqual([0, 1, 2, 3, 4, 3, 2, 1])
  })

  it('returns one point for one pixel and none for an empty mask', () => {
    const mask = createMask({ width: 3, height: 3 })
    expect(followContour(mask)).toEqual([])
    mask.data[4] = 1
    expect(followContour(mask)).toEqual([{ x: 1, y: 1 }])
  })

  it('closes at its start despite a pinch passed twice', () => {
    const mask = createMask({ width: 7, height: 3 })
    for (const i of [0, 1, 7, 8, 16, 10, 11, 3 + 14, 4 + 14]) mask.data[i] = 1
    const contour = followContour(mask)
    const visited = new Set(contour.map((p) => p.y * 7 + p.x))
    expect(visited.size).toBe(9)
  })
})

describe('findBays', () => {
  it('measures the depth of a notch from its chord', () => {
    const mask = fillPolygon({ width: 100, height: 100 }, [
      { x: 10, y: 10 },
      { x: 90, y: 10 },
      { x: 90, y: 90 },
      { x: 50, y: 40 },
      { x: 10, y: 90 },
    ])
    const contour = followContour(mask)
    const deepest = findBays(contour).reduce((a, b) => (b.depth > a.depth ? b : a))
    expect(deepest.depth).toBeGreaterThan(48)
    expect(deepest.depth).toBeLessThan(52)
    expect(contour[deepest.deepest].x).toBeGreaterThan(48)
    expect(contour[deepest.deepest].x).toBeLessThan(52)
  })

  it('finds none on a convex outline', () => {
    const mask = createMask({ width: 20, height: 20 })
    mask.data.fill(1)
    expect(findBays(followContour(mask))).toEqual([])
  })
})
