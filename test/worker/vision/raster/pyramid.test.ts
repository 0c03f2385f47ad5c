import { describe, expect, it } from 'vitest'
import { createPyramid, levelFor } from '../../../../worker/vision/raster/pyramid.ts'

describe('a pyramid', () => {
  it('halves the image, and repeats the border of odd sizes', () => {
    const grey = [10, 20, 30, 40, 50, 60, 70, 80, 90]
    const data = Uint8Array.from({ length: 27 }, (_, i) => grey[Math.floor(i / 3)])
    const half = createPyramid({ width: 3, height: 3, channels: 3, data }).level(1)
    expect(half).toMatchObject({ width: 2, height: 2 })
    expect(Array.from(half.data.filter((_, i) => i % 3 === 0))).toEqual([30, 45, 75, 90])
  })

  it('stops at a single pixel', () => {
    const pyramid = createPyramid({ width: 10, height: 3, channels: 3, data: new Uint8Array(90).fill(7) })
    expect(pyramid.level(4)).toMatchObject({ width: 1, height: 1 })
    expect(Array.from(pyramid.level(9).data)).toEqual([7, 7, 7])
    expect(pyramid.size).toEqual({ width: 10, height: 3 })
  })

  it('selects the level on which a length is closest to a given value', () => {
    expect(levelFor(512, 512)).toBe(0)
    expect(levelFor(100, 512)).toBe(0)
    expect(levelFor(700, 512)).toBe(0)
    expect(levelFor(800, 512)).toBe(1)
    expect(levelFor(4000, 512)).toBe(3)
  })
})
