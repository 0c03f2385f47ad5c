import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Rectangle } from '../../../../api/shared/image/image.ts'
import { keepOutside } from '../../../../worker/vision/composite/caller-mask.ts'
import { placeIntoFrame } from '../../../../worker/vision/composite/full-resolution.ts'
import { type Bitmap, createPlane, type Size } from '../../../../worker/vision/raster/plane.ts'

const flat = ({ width, height }: Size, value: number): Bitmap => ({
  width,
  height,
  channels: 3,
  data: new Uint8Array(width * height * 3).fill(value),
})

/** A mask that is white in a rectangle, in shares of its sides. */
function maskOf(size: Size, white: Rectangle): Bitmap {
  const mask = flat(size, 0)
  for (let y = 0; y < size.height; y++)
    for (let x = 0; x < size.width; x++) {
      const [left, top] = [(x + 0.5) / size.width, (y + 0.5) / size.height]
      const isWhite = left > white.x && left < white.x + white.width && top > white.y && top < white.y + white.height
      if (isWhite) mask.data.fill(255, (y * size.width + x) * 3, (y * size.width + x) * 3 + 3)
    }
  return mask
}

/** The full frame after a drawing that changes everything, and the pixels of the frame that touch a black pixel. */
function draw({ frame, crop, change: size, mask }: { frame: Size; crop: Rectangle; change: Size; mask: Bitmap }) {
  const change = createPlane(size, 1)
  keepOutside(change, { bitmap: mask, frame, crop })
  const result = placeIntoFrame({ frame: flat(frame, 50), crop, image: flat(size, 200), change })
  const scale = { x: mask.width / frame.width, y: mask.height / frame.height }
  const isKept = (x: number, y: number) => {
    for (let row = Math.floor(y * scale.y); row < (y + 1) * scale.y; row++)
      for (let column = Math.floor(x * scale.x); column < (x + 1) * scale.x; column++)
        if (mask.data[(row * mask.width + column) * 3] === 0) return true
    return false
  }
  return { at: (x: number, y: number) => result.data[(y * frame.width + x) * 3], isKept }
}

describe("the caller's mask", () => {
  it('keeps each pixel outside its region as it is, whatever the sizes of mask, crop and drawing', () => {
    const part = fc.integer({ min: 0, max: 40 })
    const sizes = fc.record({
      crop: fc.record({
        x: part,
        y: part,
        width: fc.integer({ min: 40, max: 80 }),
        height: fc.integer({ min: 40, max: 80 }),
      }),
      scale: fc.constantFrom(0.37, 0.5, 0.8, 1, 1.5, 2),
      mask: fc.constantFrom(0.5, 1, 2, 3),
      white: fc.record({
        x: fc.double({ min: 0, max: 0.8, noNaN: true }),
        y: fc.double({ min: 0, max: 0.8, noNaN: true }),
        width: fc.double({ min: 0.1, max: 1, noNaN: true }),
        height: fc.double({ min: 0.1, max: 1, noNaN: true }),
      }),
    })
    fc.assert(
      fc.property(sizes, ({ crop, scale, mask, white }) => {
        const frame = { width: 120, height: 120 }
        const change = { width: Math.round(crop.width * scale), height: Math.round(crop.height * scale) }
        const bitmap = maskOf({ width: frame.width * mask, height: frame.height * mask }, white)
        const { at, isKept } = draw({ frame, crop, change, mask: bitmap })
        const isWrong = (i: number) => {
          const [x, y] = [i % frame.width, Math.floor(i / frame.width)]
          return isKept(x, y) && at(x, y) !== 50
        }
        expect(Array.from({ length: frame.width * frame.height }, (_, i) => i).filter(isWrong)).toEqual([])
      }),
      { numRuns: 60 },
    )
  })

  it.each([0.5, 1, 2])(
    'has a soft edge of a few pixels inside its region, in a drawing of %s times the size',
    (scale) => {
      const frame = { width: 100, height: 100 }
      const mask = maskOf(frame, { x: 0.5, y: 0, width: 0.5, height: 1 })
      const crop = { x: 0, y: 0, ...frame }
      const { at } = draw({ frame, crop, change: { width: 100 * scale, height: 100 * scale }, mask })
      const row = Array.from({ length: 100 }, (_, x) => at(x, 50))
      expect(row.toSorted((a, b) => a - b)).toEqual(row)
      expect([row[49], row[65]]).toEqual([50, 200])
      expect(row.filter((level) => level > 50 && level < 200).length).toBeGreaterThan(0)
    },
  )
})
