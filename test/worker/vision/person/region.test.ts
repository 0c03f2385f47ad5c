import { describe, expect, it } from 'vitest'
import {
  bitmapToRegion,
  type Region,
  regionOfBitmap,
  regionOfBody,
  regionToBitmap,
  viewRegion,
} from '../../../../worker/vision/person/region.ts'
import type { Bitmap } from '../../../../worker/vision/raster/plane.ts'
import { createPyramid } from '../../../../worker/vision/raster/pyramid.ts'
import { applyAffine } from '../../../../worker/vision/raster/sample.ts'

// Red grows by one per px to the right, green by one per px downwards.
const ramp = (width: number, height: number): Bitmap => {
  const data = new Uint8Array(width * height * 3)
  for (let i = 0; i < width * height; i++) data.set([i % width, Math.floor(i / width), 0], 3 * i)
  return { width, height, channels: 3, data }
}

describe('the region of a body', () => {
  it('rotates with the point above the hips', () => {
    expect(regionOfBody({ x: 100, y: 100 }, { x: 100, y: 60 })).toMatchObject({ side: 100, angle: 0 })
    const toTheRight = regionOfBody({ x: 100, y: 100 }, { x: 140, y: 100 })
    expect(toTheRight.angle).toBeCloseTo(Math.PI / 2)
    // The top of the view looks to where the head is: to the right.
    const top = applyAffine(regionToBitmap(toTheRight, 101), { x: 50, y: 0 })
    expect(top.x).toBeCloseTo(149.5)
    expect(top.y).toBeCloseTo(100)
  })

  it('maps in both directions', () => {
    const region = regionOfBody({ x: 310, y: 420 }, { x: 250, y: 100 })
    const back = applyAffine(bitmapToRegion(region, 256), applyAffine(regionToBitmap(region, 256), { x: 20, y: 200 }))
    expect(back.x).toBeCloseTo(20)
    expect(back.y).toBeCloseTo(200)
  })
})

describe('the view of a region', () => {
  it('centers the region at any reduction', () => {
    const pyramid = createPyramid(ramp(250, 250))
    for (const side of [16, 40, 100, 220]) {
      const region: Region = { centre: { x: 120, y: 130 }, side, angle: 0.4 }
      const view = viewRegion(pyramid, region, { size: 17, border: 'replicate', range: [0, 255] })
      const middle = (8 * 17 + 8) * 3
      expect(Math.abs(view[middle] - 120)).toBeLessThan(1)
      expect(Math.abs(view[middle + 1] - 130)).toBeLessThan(1)
      const corner = applyAffine(regionToBitmap(region, 17), { x: 2, y: 3 })
      expect(Math.abs(view[(3 * 17 + 2) * 3] - corner.x)).toBeLessThan(1)
    }
  })

  it('repeats the border or fills it with black', () => {
    const pyramid = createPyramid({ width: 20, height: 10, channels: 3, data: new Uint8Array(600).fill(255) })
    const whole = regionOfBitmap(pyramid)
    expect(viewRegion(pyramid, whole, { size: 20, border: 'replicate', range: [-1, 1] }).every((v) => v === 1)).toBe(
      true,
    )
    const framed = viewRegion(pyramid, whole, { size: 20, border: 'black', range: [-1, 1] })
    for (let y = 0; y < 20; y++) expect(framed[y * 60]).toBe(y >= 5 && y < 15 ? 1 : -1)
  })

  it('reduces a fine checkerboard to even grey without aliasing', () => {
    const data = Uint8Array.from({ length: 512 * 512 * 3 }, (_, i) => {
      const pixel = Math.floor(i / 3)
      return ((pixel % 512) + Math.floor(pixel / 512)) % 2 === 0 ? 255 : 0
    })
    const pyramid = createPyramid({ width: 512, height: 512, channels: 3, data })
    const view = viewRegion(pyramid, regionOfBitmap(pyramid), { size: 100, border: 'replicate', range: [0, 1] })
    for (const value of view) expect(Math.abs(value - 0.5)).toBeLessThan(0.01)
  })
})
