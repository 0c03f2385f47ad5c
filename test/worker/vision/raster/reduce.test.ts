import { describe, expect, it } from 'vitest'
import { featherMask, smoothOutline } from '../../../../worker/vision/raster/feather.ts'
import { gaussianBlur, weightedBlur } from '../../../../worker/vision/raster/filter.ts'
import { maskWhere } from '../../../../worker/vision/raster/mask.ts'
import { type Colours, createPlane, maskToPlane, type Plane } from '../../../../worker/vision/raster/plane.ts'
import { difference, enlargeByFactor, reduceByFactor, reduceMasked } from '../../../../worker/vision/raster/reduce.ts'

const ramp = (width: number, height: number): Plane => ({
  width,
  height,
  data: Float32Array.from({ length: width * height }, (_, i) => 3 * (i % width) + 5 * Math.floor(i / width)),
})

describe('reducing by a whole factor', () => {
  it('returns the mean of each cell, including smaller cells at the edges', () => {
    const small = reduceByFactor(ramp(7, 5), 3)
    expect([small.width, small.height]).toEqual([3, 2])
    expect(small.data[0]).toBeCloseTo(3 + 5)
    expect(small.data[2]).toBeCloseTo(3 * 6 + 5)
    expect(small.data[5]).toBeCloseTo(3 * 6 + 5 * 3.5)
  })

  it('is inverted by enlarging for smooth images', () => {
    const whole = ramp(24, 18)
    const back = enlargeByFactor(reduceByFactor(whole, 3), 3, whole)
    for (let y = 2; y < 16; y++) {
      for (let x = 2; x < 22; x++) expect(back.data[y * 24 + x]).toBeCloseTo(whole.data[y * 24 + x], 3)
    }
  })

  it('averages only masked pixels', () => {
    const colours: Colours = { width: 4, height: 2, channels: 3, data: new Float32Array(24).fill(100) }
    colours.data.set([10, 20, 30], 0)
    const { colours: cells, weight } = reduceMasked(
      colours,
      maskWhere(colours, (i) => i === 0),
      2,
    )
    expect([...cells.data]).toEqual([10, 20, 30, 0, 0, 0])
    expect([...weight.data]).toEqual([0.25, 0])
  })

  it('measures the difference of a pixel to its cell', () => {
    const lab: Colours = {
      width: 4,
      height: 1,
      channels: 3,
      data: Float32Array.from([0, 0, 0, 0, 0, 0, 3, 4, 0, 0, 0, 0]),
    }
    const cells: Colours = { width: 2, height: 1, channels: 3, data: new Float32Array(6) }
    expect(difference(lab, { cells, factor: 2 }, 2)).toBe(5)
    expect(difference(lab, { cells, factor: 2 }, 1)).toBe(0)
  })
})

describe('blurring a region', () => {
  it('feathers a mask exactly like blurring the whole image', () => {
    const mask = maskWhere({ width: 60, height: 40 }, (i) => i % 60 > 20 && i % 60 < 30 && Math.floor(i / 60) < 9)
    const whole = gaussianBlur(maskToPlane(mask), 2)
    const part = featherMask(mask, 2)
    for (let i = 0; i < whole.data.length; i++) expect(Math.abs(whole.data[i] - part.data[i])).toBeLessThan(2e-3)
    expect(featherMask(createMaskLike(mask), 2).data.every((value) => value === 0)).toBe(true)
  })

  it('smooths the steps of an oblique outline, and keeps its edge', () => {
    const size = { width: 40, height: 60 }
    const line = (y: number) => 15 + y / 8
    const steps = maskWhere(size, (i) => (i % 40) + 0.5 < line(Math.floor(i / 40)))
    const { data } = smoothOutline(steps, { sigma: 4, softness: 0.8 })
    // In px from the line, away from the border of the image.
    const errors = Array.from({ length: 30 }, (_, k) => {
      const y = k + 15
      return data.subarray(y * 40, (y + 1) * 40).reduce((sum, value) => sum + value) - line(y)
    })
    expect(Math.max(...errors.map(Math.abs))).toBeLessThan(0.2)
    const mixed = data.subarray(30 * 40, 31 * 40).filter((value) => value > 0.02 && value < 0.98)
    expect(mixed.length).toBeLessThan(5)
  })

  it('uses only pixels with weight', () => {
    const values = createPlane({ width: 30, height: 30 }, 7)
    const weight = createPlane(values, 1)
    for (let i = 0; i < 450; i++) {
      values.data[i] = 900
      weight.data[i] = 0
    }
    const { values: blurred, reach } = weightedBlur(values, weight, 3)
    expect(blurred.data[16 * 30 + 15]).toBeCloseTo(7, 3)
    expect(reach.data[15 * 30 + 15]).toBeLessThan(0.7)
    expect(reach.data[29 * 30 + 15]).toBeCloseTo(1, 3)
  })
})

function createMaskLike({ width, height }: { width: number; height: number }) {
  return { width, height, data: new Uint8Array(width * height) }
}
