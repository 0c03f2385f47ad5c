import { describe, expect, it } from 'vitest'
import { kMeans } from '../../../../worker/vision/raster/clusters.ts'
import { labToRgb, rgbToLab } from '../../../../worker/vision/raster/colour.ts'
import { connectedComponents, fillHoles } from '../../../../worker/vision/raster/components.ts'
import { boundsOf } from '../../../../worker/vision/raster/crop.ts'
import { distanceTo } from '../../../../worker/vision/raster/distance.ts'
import { fillSmoothly } from '../../../../worker/vision/raster/fill.ts'
import { createGuidedFilter, gaussianBlur } from '../../../../worker/vision/raster/filter.ts'
import { countSet, intersect, invert, maskWhere, union, without } from '../../../../worker/vision/raster/mask.ts'
import { close, dilate, erode } from '../../../../worker/vision/raster/morphology.ts'
import { type Colours, createMask, createPlane, type Mask } from '../../../../worker/vision/raster/plane.ts'
import { coverPolygon, fillPolygon } from '../../../../worker/vision/raster/polygon.ts'
import {
  applyAffine,
  composeAffine,
  invertAffine,
  resizeAreaPlane,
  warpAffinePlane,
} from '../../../../worker/vision/raster/sample.ts'

const square = (size: number, from: number, to: number) =>
  maskWhere({ width: size, height: size }, (i) => {
    const x = i % size
    const y = Math.floor(i / size)
    return x >= from && x < to && y >= from && y < to
  })

describe('colour', () => {
  // Reference values: the CIE definitions worked out for the sRGB primaries under D65.
  it.each([
    [
      [255, 255, 255],
      [100, 0, 0],
    ],
    [
      [255, 0, 0],
      [53.24, 80.09, 67.2],
    ],
    [
      [0, 0, 255],
      [32.3, 79.19, -107.86],
    ],
    [
      [0, 0, 0],
      [0, 0, 0],
    ],
  ])('turns sRGB %j into Lab %j and back', (rgb, expected) => {
    const colours: Colours = { width: 1, height: 1, channels: 3, data: Float32Array.from(rgb) }
    const lab = rgbToLab(colours)
    for (let c = 0; c < 3; c++) expect(Math.abs(lab.data[c] - expected[c])).toBeLessThan(0.1)
    const back = labToRgb(lab)
    for (let c = 0; c < 3; c++) expect(Math.abs(back.data[c] - rgb[c])).toBeLessThan(0.2)
  })
})

describe('mask', () => {
  // Whole words, and words with a rest.
  it.each([1, 4, 7, 8])('combines masks of %i pixels', (width) => {
    const masks = [2, 3, 5].map((step): Mask => maskWhere({ width, height: 1 }, (i) => i % step === 0))
    const [a, b, c] = masks.map((mask) => [...mask.data])
    const expected = (test: (i: number) => boolean) => a.map((_, i) => (test(i) ? 1 : 0))
    expect([...union(masks[0], masks[1], masks[2]).data]).toEqual(expected((i) => a[i] + b[i] + c[i] > 0))
    expect([...intersect(masks[0], masks[1]).data]).toEqual(expected((i) => a[i] + b[i] === 2))
    expect([...without(masks[0], masks[1], masks[2]).data]).toEqual(expected((i) => a[i] > b[i] + c[i]))
    expect([...invert(masks[0]).data]).toEqual(expected((i) => a[i] === 0))
    expect([...masks[0].data]).toEqual(a)
  })
})

describe('filter', () => {
  it('a guided filter smooths a noisy mask and keeps the edge of its guide', () => {
    const size = { width: 64, height: 64 }
    const guide = createPlane(size)
    const noisy = createPlane(size)
    for (let i = 0; i < guide.data.length; i++) {
      guide.data[i] = i % 64 < 32 ? 0.2 : 0.8
      noisy.data[i] = (i % 64 < 32 ? 0.1 : 0.9) + (((i * 7) % 5) - 2) * 0.05
    }
    const smooth = createGuidedFilter(guide, { radius: 4, epsilon: 1e-3 })(noisy)
    for (let x = 4; x < 60; x++) expect(Math.abs(smooth.data[32 * 64 + x] - (x < 32 ? 0.1 : 0.9))).toBeLessThan(0.03)
    expect(createGuidedFilter(guide, { radius: 0, epsilon: 1e-3 })(noisy)).toEqual(noisy)
  })

  it.each([0.8, 2, 4, 9.3])('a Gaussian of sigma %d keeps the sum and has the given variance', (sigma) => {
    const plane = createPlane({ width: 121, height: 121 })
    plane.data[60 * 121 + 60] = 1
    const blurred = gaussianBlur(plane, sigma)
    let sum = 0
    let variance = 0
    for (let y = 0; y < 121; y++) {
      for (let x = 0; x < 121; x++) {
        sum += blurred.data[y * 121 + x]
        variance += blurred.data[y * 121 + x] * (x - 60) ** 2
      }
    }
    expect(sum).toBeCloseTo(1, 3)
    expect(Math.sqrt(variance) / sigma).toBeGreaterThan(0.95)
    expect(Math.sqrt(variance) / sigma).toBeLessThan(1.05)
  })
})

describe('morphology and distance', () => {
  it('measures the Euclidean distance to the nearest set pixel', () => {
    const mask = createMask({ width: 9, height: 7 })
    mask.data[3 * 9 + 2] = 1
    const distance = distanceTo(mask)
    expect(distance.data[3 * 9 + 2]).toBe(0)
    expect(distance.data[6 * 9 + 6]).toBeCloseTo(5)
  })

  it('grows by the radius and shrinks back', () => {
    const mask = square(40, 10, 30)
    expect(countSet(dilate(mask, 3))).toBeGreaterThan(26 * 26 - 20)
    expect(countSet(erode(mask, 3))).toBe(14 * 14)
  })

  it('closes a slit that is thinner than the disc', () => {
    const mask = square(40, 10, 30)
    for (let y = 10; y < 30; y++) mask.data[y * 40 + 20] = 0
    expect(countSet(close(mask, 2))).toBe(400)
  })
})

describe('components', () => {
  it('separates diagonal neighbors with 4-connectivity and joins them with 8-connectivity', () => {
    const mask = createMask({ width: 4, height: 4 })
    mask.data[0] = 1
    mask.data[5] = 1
    expect(connectedComponents(mask, 4).components).toHaveLength(2)
    expect(connectedComponents(mask, 8).components).toEqual([
      { label: 1, area: 2, left: 0, top: 0, right: 2, bottom: 2 },
    ])
  })

  it('fills a hole but not a bay', () => {
    const mask = square(20, 4, 16)
    mask.data[8 * 20 + 8] = 0
    for (let x = 0; x < 8; x++) mask.data[12 * 20 + x] = 0
    const filled = fillHoles(mask)
    expect(filled.data[8 * 20 + 8]).toBe(1)
    expect(filled.data[12 * 20 + 6]).toBe(0)
  })
})

describe('polygon', () => {
  it('covers the area of its formula', () => {
    const triangle = [
      { x: 2, y: 2 },
      { x: 38, y: 2 },
      { x: 2, y: 38 },
    ]
    const cover = coverPolygon({ width: 40, height: 40 }, triangle)
    expect(cover.data.reduce((a, b) => a + b, 0)).toBeCloseTo((36 * 36) / 2, -1)
    expect(Math.abs(countSet(fillPolygon({ width: 40, height: 40 }, triangle)) / 648 - 1)).toBeLessThan(0.1)
  })
})

describe('sample', () => {
  it('undoes a map by its inverse', () => {
    const map = [1.2, -0.3, 4, 0.25, 0.9, -7] as const
    const there = applyAffine(composeAffine(invertAffine(map), map), { x: 11, y: -3 })
    expect(there.x).toBeCloseTo(11)
    expect(there.y).toBeCloseTo(-3)
  })

  it('moves a plane by whole pixels exactly', () => {
    const plane = createPlane({ width: 5, height: 5 })
    plane.data[2 * 5 + 2] = 1
    const moved = warpAffinePlane(plane, [1, 0, 1, 0, 1, 0], plane)
    expect(moved.data[2 * 5 + 1]).toBe(1)
  })

  it('keeps the mean when it reduces', () => {
    const plane = createPlane({ width: 17, height: 13 })
    for (let i = 0; i < plane.data.length; i++) plane.data[i] = (i * 7) % 31
    const mean = (data: Float32Array) => data.reduce((a, b) => a + b, 0) / data.length
    expect(mean(resizeAreaPlane(plane, { width: 5, height: 4 }).data)).toBeCloseTo(mean(plane.data), 3)
  })
})

describe('fill', () => {
  it('keeps what is known and stays between the known colours elsewhere', () => {
    const size = { width: 32, height: 32 }
    const weight = createPlane(size)
    const colours: Colours = { ...size, channels: 3, data: new Float32Array(32 * 32 * 3) }
    for (let y = 0; y < 32; y++) {
      weight.data[y * 32] = 1
      weight.data[y * 32 + 31] = 1
      colours.data[(y * 32 + 31) * 3] = 100
    }
    const filled = fillSmoothly(colours, weight)
    expect(filled.data[16 * 32 * 3]).toBe(0)
    expect(filled.data[(16 * 32 + 31) * 3]).toBe(100)
    const middle = filled.data[(16 * 32 + 16) * 3]
    expect(middle).toBeGreaterThan(25)
    expect(middle).toBeLessThan(75)
  })
})

describe('clusters', () => {
  it('finds two separate groups and repeats itself', () => {
    const samples = Float32Array.from({ length: 600 }, (_, i) => (i < 450 ? i % 5 : 50 + (i % 3)))
    const clusters = kMeans(samples, 2)
    expect(clusters.map((c) => c.share)).toEqual([0.75, 0.25])
    expect(clusters[0].mean[0]).toBeCloseTo(2)
    expect(kMeans(samples, 2)).toEqual(clusters)
  })
})

describe('bounds', () => {
  it('contain every value above the limit', () => {
    const plane = createPlane({ width: 60, height: 80 })
    expect(boundsOf(plane)).toBe(null)
    plane.data[30 * 60 + 12] = 1
    plane.data[40 * 60 + 50] = 0.01
    expect(boundsOf(plane)).toEqual({ x: 12, y: 30, width: 39, height: 11 })
    expect(boundsOf(plane, 0.5)).toEqual({ x: 12, y: 30, width: 1, height: 1 })
  })
})
