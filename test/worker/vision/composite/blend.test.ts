import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { blendChange } from '../../../../worker/vision/composite/blend.ts'
import { type Bitmap, createPlane, type Plane, type Size } from '../../../../worker/vision/raster/plane.ts'

const noise = ({ width, height }: Size, channels: 3 | 4, seed: number): Bitmap => {
  const data = new Uint8Array(width * height * channels)
  for (let i = 0, state = seed; i < data.length; i++) {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    data[i] = state >>> 24
  }
  return { width, height, channels, data }
}

const pixel = ({ channels, data }: Bitmap, i: number) => [...data.subarray(i * channels, i * channels + 3)]

const size = fc.record({ width: fc.integer({ min: 1, max: 24 }), height: fc.integer({ min: 1, max: 24 }) })
const sparse = (at: Size) =>
  fc
    .array(fc.oneof({ weight: 3, arbitrary: fc.constant(0) }, fc.double({ min: 0, max: 1, noNaN: true })), {
      minLength: at.width * at.height,
      maxLength: at.width * at.height,
    })
    .map((shares): Plane => ({ ...at, data: Float32Array.from(shares) }))

describe('blending an image into a photo', () => {
  it('keeps the bytes of each pixel with change 0, and stays between photo and image', () => {
    fc.assert(
      fc.property(
        size.chain((at) => fc.tuple(sparse(at), fc.constantFrom<3 | 4>(3, 4), fc.nat())),
        ([change, channels, seed]) => {
          const photo = noise(change, channels, seed)
          const image = noise(change, 3, seed + 1)
          const out = blendChange({ photo, image, change })
          expect(out.channels).toBe(3)
          for (let i = 0; i < change.data.length; i++) {
            const [before, drawn, after] = [pixel(photo, i), pixel(image, i), pixel(out, i)]
            if (change.data[i] === 0) expect(after).toEqual(before)
            for (let c = 0; c < 3; c++) {
              const exact = before[c] * (1 - change.data[i]) + drawn[c] * change.data[i]
              expect(Math.abs(after[c] - exact)).toBeLessThanOrEqual(0.5001)
            }
          }
        },
      ),
    )
  })

  it('uses the image unchanged where the change is 1, at any sizes', () => {
    fc.assert(
      fc.property(size, size, (at, photoSize) => {
        const image: Bitmap = { ...at, channels: 3, data: new Uint8Array(at.width * at.height * 3).fill(77) }
        const out = blendChange({ photo: noise(photoSize, 3, 5), image, change: createPlane(at, 1) })
        expect([out.width, out.height]).toEqual([photoSize.width, photoSize.height])
        expect(out.data.every((value) => Math.abs(value - 77) <= 1)).toBe(true)
      }),
    )
  })

  it('keeps the photo where an enlarged change is still 0', () => {
    const photo = noise({ width: 90, height: 60 }, 3, 9)
    const change = createPlane({ width: 30, height: 20 })
    change.data.fill(1, 10 * 30, 14 * 30)
    const out = blendChange({ photo, image: noise(change, 3, 4), change })
    for (let y = 0; y < 60; y++) {
      const same = photo.data.subarray(y * 270, y * 270 + 270).every((value, i) => value === out.data[y * 270 + i])
      expect(same).toBe(y < 29 || y > 42)
    }
  })

  it('does not write into the memory of the photo', () => {
    const bytes = Buffer.alloc(300, 60)
    const photo: Bitmap = { width: 10, height: 10, channels: 3, data: bytes }
    blendChange({ photo, image: noise(photo, 3, 2), change: createPlane(photo, 1) })
    expect(bytes.every((value) => value === 60)).toBe(true)
  })

  it('keeps colors of unchanged neighbors out of an enlarged edge', () => {
    const photo: Bitmap = { width: 40, height: 4, channels: 3, data: new Uint8Array(480).fill(100) }
    const image: Bitmap = { width: 10, height: 1, channels: 3, data: new Uint8Array(30).fill(0) }
    const change = createPlane({ width: 10, height: 1 })
    for (let x = 5; x < 10; x++) {
      change.data[x] = 1
      image.data.fill(200, x * 3, x * 3 + 3)
    }
    const out = blendChange({ photo, image, change })
    for (const value of out.data) expect(value).toBeGreaterThanOrEqual(100)
  })
})
