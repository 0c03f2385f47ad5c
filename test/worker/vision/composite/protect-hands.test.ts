import { describe, expect, it } from 'vitest'
import { blendChange } from '../../../../worker/vision/composite/blend.ts'
import { protectHands } from '../../../../worker/vision/composite/protect-hands.ts'
import type { Hand } from '../../../../worker/vision/person/person.ts'
import { type Bitmap, createPlane } from '../../../../worker/vision/raster/plane.ts'

const flat = (width: number, height: number, value: number): Bitmap => ({
  width,
  height,
  channels: 3,
  data: new Uint8Array(width * height * 3).fill(value),
})

const photo = flat(120, 160, 50)
// Two fingers with cloth between them, in an image of the hand that is half as large as the photo.
const hand: Hand = {
  points: [],
  share: {
    width: 20,
    height: 30,
    data: Float32Array.from({ length: 600 }, (_, i) => (i % 20 < 5 || i % 20 > 14 ? 1 : 0)),
  },
  first: { x: 40.5, y: 60.5 },
  last: { x: 78.5, y: 118.5 },
}

describe('a hand under a result that covers the photo', () => {
  it.each([1, 2, 0.5])('alone stays bit-identical in a result of %s times the size', (scale) => {
    const size = { width: photo.width * scale, height: photo.height * scale }
    const change = createPlane(size, 1)
    protectHands(change, [hand], photo)
    const result = blendChange({ photo, image: flat(size.width, size.height, 200), change })
    const row = Array.from({ length: photo.width }, (_, x) => result.data[(90 * photo.width + x) * 3])
    expect(row.slice(41, 49).concat(row.slice(71, 79))).toEqual(Array(16).fill(50))
    expect(row.slice(0, 34).concat(row.slice(57, 63), row.slice(86))).toEqual(Array(74).fill(200))
  })

  it('is ignored outside the image', () => {
    const change = createPlane(photo, 1)
    protectHands(change, [{ ...hand, first: { x: -90, y: 0 }, last: { x: -50, y: 60 } }], photo)
    expect(change.data.every((share) => share === 1)).toBe(true)
  })
})
