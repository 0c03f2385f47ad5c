import { describe, expect, it } from 'vitest'
import { continueTexture } from '../../../../worker/vision/raster/continue-texture.ts'
import { maskWhere } from '../../../../worker/vision/raster/mask.ts'
import type { Colours } from '../../../../worker/vision/raster/plane.ts'

const SIZE = { width: 120, height: 40 }
const unknown = maskWhere(SIZE, (i) => i % SIZE.width >= 50 && i % SIZE.width < 70)

function fill(valueAt: (x: number, y: number) => number) {
  const { width, height } = SIZE
  const data = Float32Array.from({ length: width * height * 3 }, (_, k) => {
    const i = Math.floor(k / 3)
    return unknown.data[i] ? 255 : valueAt(i % width, Math.floor(i / width))
  })
  const photo: Colours = { ...SIZE, channels: 3, data }
  const filled = continueTexture(photo, { unknown, wanted: unknown }).data
  return { at: (x: number, y: number) => filled[(y * width + x) * 3], photo, filled }
}

describe('a background behind a person', () => {
  it('keeps level lines sharp, and follows the light across the gap', () => {
    // A floor below a wall that gets lighter to the right.
    const truth = (x: number, y: number) => (y < 20 ? 100 + x / 4 : 40)
    const { at } = fill(truth)
    for (const y of [3, 18, 19, 20, 21, 35])
      for (const x of [50, 60, 69]) expect(Math.abs(at(x, y) - truth(x, y)), `${x}, ${y}`).toBeLessThan(6)
  })

  it('has the texture of its surroundings', () => {
    const paving = (x: number, y: number) => 120 + 20 * Math.sin(x * 1.7 + Math.sin(y)) * Math.cos(y * 1.3)
    const { at } = fill(paving)
    const spread = (from: number) => {
      const values = Array.from({ length: 20 * 40 }, (_, k) => at(from + (k % 20), Math.floor(k / 20)))
      const mean = values.reduce((sum, value) => sum + value) / values.length
      return Math.sqrt(values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / values.length)
    }
    expect(spread(50)).toBeGreaterThan(0.7 * spread(10))
    expect(spread(50)).toBeLessThan(1.3 * spread(10))
  })

  it('changes nothing else', () => {
    const { photo, filled } = fill((x) => x)
    for (let i = 0; i < unknown.data.length; i++) if (!unknown.data[i]) expect(filled[i * 3]).toBe(photo.data[i * 3])
  })
})
