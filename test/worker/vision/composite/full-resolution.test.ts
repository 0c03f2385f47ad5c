import { describe, expect, it } from 'vitest'
import { placeIntoFrame } from '../../../../worker/vision/composite/full-resolution.ts'
import { type Bitmap, createPlane } from '../../../../worker/vision/raster/plane.ts'

const flat = (width: number, height: number, value: number): Bitmap => ({
  width,
  height,
  channels: 3,
  data: new Uint8Array(width * height * 3).fill(value),
})

describe('placing a result into the full frame', () => {
  it('changes only the changed part of the crop', () => {
    const frame = flat(100, 80, 50)
    const crop = { x: 20, y: 10, width: 40, height: 50 }
    const change = createPlane({ width: 40, height: 50 })
    for (let y = 5; y < 15; y++) change.data.fill(1, y * 40 + 8, y * 40 + 18)
    const out = placeIntoFrame({ frame, crop, image: flat(40, 50, 200), change })
    for (let y = 0; y < 80; y++) {
      for (let x = 0; x < 100; x++) {
        const inside = x >= 28 && x < 38 && y >= 15 && y < 25
        expect(out.data[(y * 100 + x) * 3]).toBe(inside ? 200 : 50)
      }
    }
  })

  it('enlarges a smaller image to the crop', () => {
    const frame = flat(60, 60, 10)
    const crop = { x: 30, y: 0, width: 30, height: 30 }
    const out = placeIntoFrame({
      frame,
      crop,
      image: flat(10, 10, 90),
      change: createPlane({ width: 10, height: 10 }, 1),
    })
    const changed = out.data.filter((value) => value === 90).length
    expect(changed).toBe(30 * 30 * 3)
    expect(frame.data.every((value) => value === 10)).toBe(true)
  })
})
