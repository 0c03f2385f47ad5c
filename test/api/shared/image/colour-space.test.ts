import { describe, expect, it } from 'vitest'
import { convertToSrgb, isSrgb, type Samples, spaceOfCodePoints } from '../../../../api/shared/image/colour-space.ts'

const SRGB = { primaries: 1, transfer: 13 }
const P3 = { primaries: 12, transfer: 13 }
const PQ = { primaries: 9, transfer: 16 }
const HLG = { primaries: 9, transfer: 18 }

function samplesOf(...pixels: readonly number[][]): Samples {
  return { data: Uint8Array.from(pixels.flat()), channels: 3, bits: 8 }
}

function deepGreys(values: readonly number[]): Samples {
  return { data: Uint16Array.from(values.flatMap((value) => [value, value, value])), channels: 3, bits: 10 }
}

function convert(samples: Samples, codePoints: { primaries: number; transfer: number }): number[] {
  return [...convertToSrgb(samples, spaceOfCodePoints(codePoints))]
}

describe('colour spaces', () => {
  it('detect sRGB by its code points, and treat television and unknown curves as sRGB', () => {
    for (const transfer of [1, 2, 6, 13, 14]) expect(isSrgb(spaceOfCodePoints({ primaries: 1, transfer }))).toBe(true)
    expect(isSrgb(spaceOfCodePoints({ primaries: 2, transfer: 2 }))).toBe(true)
    for (const other of [P3, PQ, HLG]) expect(isSrgb(spaceOfCodePoints(other))).toBe(false)
  })

  it('do not change sRGB values', () => {
    const all = Array.from({ length: 256 }, (_, i) => [i, 255 - i, (i * 7) % 256])
    expect(convert(samplesOf(...all), SRGB)).toEqual(all.flat())
  })

  it('keep white and greys of Display P3, and clip colours outside sRGB', () => {
    expect(convert(samplesOf([255, 255, 255], [90, 90, 90], [0, 0, 0]), P3)).toEqual([
      255, 255, 255, 90, 90, 90, 0, 0, 0,
    ])
    expect(convert(samplesOf([255, 0, 0], [0, 255, 0]), P3)).toEqual([255, 0, 0, 0, 255, 0])
  })

  it('map the reference white of HDR to a bright value, and brighter values no darker', () => {
    const codes = Array.from({ length: 1024 }, (_, i) => i)
    for (const [space, white] of [
      [PQ, 594],
      [HLG, 767],
    ] as const) {
      const greys = convert(deepGreys(codes), space).filter((_, i) => i % 3 === 0)
      expect(greys[0]).toBe(0)
      expect(greys[white]).toBeGreaterThan(235)
      expect(greys[white]).toBeLessThan(250)
      expect(greys[1023]).toBe(255)
      for (const i of codes.slice(1)) expect(greys[i]).toBeGreaterThanOrEqual(greys[i - 1])
    }
  })

  it('keep the hue of highlights', () => {
    const [r, g, b] = convert({ data: Uint16Array.of(900, 800, 700), channels: 3, bits: 10 }, PQ)
    expect(r).toBeGreaterThan(g)
    expect(g).toBeGreaterThan(b)
    expect(r).toBeGreaterThan(250)
  })

  it('convert alpha to 8 bits without a curve', () => {
    const samples: Samples = { data: Uint16Array.of(0, 0, 0, 0, 0, 0, 0, 512, 0, 0, 0, 1023), channels: 4, bits: 10 }
    const converted = convertToSrgb(samples, spaceOfCodePoints(PQ))
    expect([3, 7, 11].map((i) => converted[i])).toEqual([0, 128, 255])
  })
})
