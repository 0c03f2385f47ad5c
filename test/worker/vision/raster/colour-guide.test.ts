import { describe, expect, it } from 'vitest'
import { guideByColour } from '../../../../worker/vision/raster/colour-guide.ts'
import { createPlane, type Plane } from '../../../../worker/vision/raster/plane.ts'

const size = { width: 48, height: 32 }
const planeOf = (value: (x: number, y: number) => number): Plane => {
  const plane = createPlane(size)
  for (let i = 0; i < plane.data.length; i++) plane.data[i] = value(i % size.width, Math.floor(i / size.width))
  return plane
}
type Channels = readonly [Plane, Plane, Plane]
const filtered = (guide: Channels, input: Plane, options: { radius: number; epsilon: number }): Plane => {
  const data = Float32Array.from(
    { length: 3 * input.data.length },
    (_, k) => 255 * guide[k % 3].data[Math.floor(k / 3)],
  )
  const { slopes, offset } = guideByColour({ ...size, channels: 3, data }, input, options)
  const out = createPlane(size)
  for (let i = 0; i < out.data.length; i++) {
    out.data[i] = offset.data[i]
    for (const [k, slope] of slopes.entries()) out.data[i] += slope.data[i] * guide[k].data[i]
  }
  return out
}
const wave = (a: number, b: number) => planeOf((x, y) => 0.5 + 0.4 * Math.sin(a * x + b * y + a))
const colourful: Channels = [wave(0.9, 0.2), wave(0.1, 1.1), wave(0.6, -0.7)]

describe('a filter guided by colour', () => {
  it('keeps linear functions of the color', () => {
    const input = planeOf((x, y) => {
      const i = y * size.width + x
      return 0.3 * colourful[0].data[i] - 0.5 * colourful[1].data[i] + 0.8 * colourful[2].data[i] + 0.1
    })
    const out = filtered(colourful, input, { radius: 4, epsilon: 1e-7 })
    for (let i = 0; i < out.data.length; i++) expect(out.data[i]).toBeCloseTo(input.data[i], 3)
  })

  it('moves a wrong edge to the edge between equally bright colors', () => {
    const isLeft = (x: number) => x < 24
    const guide: Channels = [
      planeOf((x) => (isLeft(x) ? 0.8 : 0.2)),
      planeOf((x) => (isLeft(x) ? 0.2 : 0.8)),
      planeOf(() => 0.5),
    ]
    const out = filtered(
      guide,
      planeOf((x) => (x < 27 ? 1 : 0)),
      { radius: 8, epsilon: 1e-5 },
    )
    const row = out.data.subarray(10 * size.width, 11 * size.width)
    expect(row[23]).toBeGreaterThan(0.9)
    expect(row[24]).toBeLessThan(0.5)
  })

  it('averages where the guide is plain', () => {
    const grey = planeOf(() => 0.4)
    const out = filtered(
      [grey, grey, grey],
      planeOf((x) => (x < 24 ? 1 : 0)),
      { radius: 3, epsilon: 1e-4 },
    )
    const row = out.data.subarray(10 * size.width, 11 * size.width)
    expect(row[10]).toBeCloseTo(1, 4)
    expect(row[23] + row[24]).toBeCloseTo(1, 4)
    expect(row[40]).toBeCloseTo(0, 4)
  })
})
