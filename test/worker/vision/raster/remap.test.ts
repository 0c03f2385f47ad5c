import { describe, expect, it } from 'vitest'
import type { Colours } from '../../../../worker/vision/raster/plane.ts'
import { createBackwardMap, remapCubic, remapPlane } from '../../../../worker/vision/raster/remap.ts'

const SIZE = { width: 40, height: 30 }

const coloursOf = (value: (x: number, y: number) => readonly [number, number, number, number]): Colours => ({
  ...SIZE,
  channels: 4,
  data: Float32Array.from({ length: 40 * 30 * 4 }, (_, i) => value((i >> 2) % 40, Math.floor((i >> 2) / 40))[i & 3]),
})

const mapOf = (source: (x: number, y: number) => readonly [number, number]) => {
  const map = createBackwardMap(
    [
      { x: 5, y: 5 },
      { x: 30, y: 20 },
    ],
    2,
    SIZE,
  )
  for (let i = 0; i < map.x.length; i++) {
    const [x, y] = source((i % map.box.width) + map.box.x, Math.floor(i / map.box.width) + map.box.y)
    map.x[i] = x
    map.y[i] = y
  }
  return map
}

describe('createBackwardMap', () => {
  it('covers points and margin, clipped to the image', () => {
    const { box } = createBackwardMap(
      [
        { x: 3, y: 10 },
        { x: 38.5, y: 12 },
      ],
      5,
      SIZE,
    )
    expect(box).toEqual({ x: 0, y: 5, width: 40, height: 13 })
  })
})

describe('remapCubic', () => {
  const slope = coloursOf((x, y) => [2 * x + y, 90, 3 * y, 255])

  it('does not change an image under the identity, and is empty outside the map', () => {
    const out = remapCubic(
      slope,
      mapOf((x, y) => [x, y]),
      SIZE,
    )
    expect([...out.data.subarray(4 * (10 * 40 + 20), 4 * (10 * 40 + 20) + 4)]).toEqual([50, 90, 30, 255])
    expect(out.data[4 * (28 * 40 + 39) + 3]).toBe(0)
  })

  it('is exact to one byte between the pixels of a linear slope', () => {
    const out = remapCubic(
      slope,
      mapOf((x, y) => [0.5 * x + 7.25, y - 0.4]),
      SIZE,
    )
    const at = 4 * (10 * 40 + 21)
    expect(out.data[at]).toBe(Math.round(2 * (0.5 * 21 + 7.25) + 9.6))
    expect(out.data[at + 2]).toBe(Math.round(3 * 9.6))
  })

  it('keeps colors premultiplied at the image border', () => {
    const edge = coloursOf((x) => (x < 20 ? [200, 200, 200, 255] : [0, 0, 0, 0]))
    const out = remapCubic(
      edge,
      mapOf((x, y) => [x + 0.3, y]),
      SIZE,
    )
    for (let i = 0; i < out.data.length; i += 4) {
      expect(out.data[i + 3]).toBeLessThanOrEqual(255)
      expect(out.data[i]).toBeLessThanOrEqual(out.data[i + 3])
      expect(out.data[i]).toBeGreaterThanOrEqual(0)
    }
  })
})

describe('remapPlane', () => {
  it('interpolates a plane, with 0 outside', () => {
    const plane = { ...SIZE, data: Float32Array.from({ length: 1200 }, (_, i) => i % 40) }
    const map = mapOf((x, y) => [x + 10.5, y])
    const out = remapPlane(plane, map)
    expect(out.data[3 * map.box.width + 4]).toBeCloseTo(4 + map.box.x + 10.5)
    expect(out.data[3 * map.box.width + map.box.width - 1]).toBe(0)
  })
})
