import { describe, expect, it } from 'vitest'
import { perceptualDistance } from '../../../scripts/quality/perceptual.ts'
import { structuralSimilarity } from '../../../scripts/quality/similarity.ts'
import { maskWhere } from '../../../worker/vision/raster/mask.ts'
import type { Bitmap } from '../../../worker/vision/raster/plane.ts'

const SIZE = { width: 96, height: 96 }
const everywhere = maskWhere(SIZE, () => true)

function drawn(grey: (x: number, y: number) => number): Bitmap {
  const data = new Uint8Array(SIZE.width * SIZE.height * 3)
  for (let i = 0; i < data.length / 3; i++)
    data.fill(grey(i % SIZE.width, Math.floor(i / SIZE.width)), i * 3, i * 3 + 3)
  return { ...SIZE, channels: 3, data }
}

const stripes = drawn((x) => (x % 16 < 8 ? 90 : 160))
const lighter = drawn((x) => (x % 16 < 8 ? 100 : 170))
const across = drawn((_, y) => (y % 16 < 8 ? 90 : 160))

describe('structural similarity', () => {
  it('is 1 for equal images, high for other brightness and low for another pattern', () => {
    expect(structuralSimilarity(stripes, stripes, everywhere)).toBeCloseTo(1, 6)
    expect(structuralSimilarity(stripes, lighter, everywhere)).toBeGreaterThan(0.95)
    expect(structuralSimilarity(stripes, across, everywhere)).toBeLessThan(0.5)
  })

  it('compares only the region', () => {
    const half = maskWhere(SIZE, (i) => i % SIZE.width < 32)
    const other = drawn((x) => (x < 48 ? (x % 16 < 8 ? 90 : 160) : 0))
    expect(structuralSimilarity(stripes, other, half)).toBeCloseTo(1, 3)
  })
})

describe('perceptual distance', () => {
  it('is 0 for equal images, and close to CIEDE2000 for two greys', () => {
    expect(perceptualDistance(stripes, stripes, everywhere)).toBe(0)
    // L* 49.1 and 53.6 (sRGB 117 and 128): ΔE00 4.39 by the published formula.
    const [a, b] = [drawn(() => 117), drawn(() => 128)]
    expect(perceptualDistance(a, b, everywhere)).toBeGreaterThan(4)
    expect(perceptualDistance(a, b, everywhere)).toBeLessThan(4.8)
  })

  it('weighs an invisibly fine pattern less than a coarse pattern', () => {
    const grey = drawn(() => 128)
    const fine = drawn((x) => (x % 2 ? 108 : 148))
    const coarse = drawn((x) => (x % 48 < 24 ? 108 : 148))
    const [finely, coarsely] = [fine, coarse].map((bitmap) => perceptualDistance(grey, bitmap, everywhere))
    expect(finely).toBeLessThan(0.4 * coarsely)
  })
})
