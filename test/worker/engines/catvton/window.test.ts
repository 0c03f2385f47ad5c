import { describe, expect, it } from 'vitest'
import { fitOnWhite } from '../../../../worker/engines/catvton/product.ts'
import {
  placeFromCanvas,
  planeOnCanvas,
  showOnCanvas,
  windowAround,
} from '../../../../worker/engines/catvton/window.ts'
import { createBytes } from '../../../../worker/engines/diffusion/bytes.ts'
import { createPlane } from '../../../../worker/raster/plane.ts'

const CANVAS = { width: 60, height: 80 }

describe('the part of a photo that CatVTON draws', () => {
  it('is as large as possible around the needed region', () => {
    const photo = { width: 200, height: 100 }
    expect(windowAround(photo, { x: 100, y: 40, width: 20, height: 20 }, CANVAS)).toEqual({
      ...{ x: 73, y: 0, width: 75, height: 100 },
    })
    expect(windowAround(photo, { x: 190, y: 0, width: 10, height: 100 }, CANVAS)).toMatchObject({ x: 125, width: 75 })
  })

  it('extends beyond the photo instead of cutting the needed region', () => {
    const photo = { width: 100, height: 100 }
    const needed = { x: 5, y: 20, width: 90, height: 60 }
    const window = windowAround(photo, needed, CANVAS)
    expect(window).toEqual({ x: 5, y: -10, width: 90, height: 120 })
  })

  it('repeats the edge pixels beyond the photo', () => {
    const photo = createBytes({ width: 90, height: 60 }, 3)
    photo.data.fill(50)
    photo.data.fill(200, 0, 90 * 3)
    const shown = showOnCanvas(photo, { x: 0, y: -30, width: 90, height: 120 }, { width: 90, height: 120 })
    const rowOf = (y: number) => shown.data[y * 90 * 3]
    expect([rowOf(0), rowOf(30), rowOf(31), rowOf(119)]).toEqual([200, 200, 50, 50])
    const mask = createPlane({ width: 90, height: 60 }, 1)
    const cut = planeOnCanvas(mask, { x: 0, y: -30, width: 90, height: 120 }, { width: 90, height: 120 })
    expect([cut.data[29 * 90], cut.data[30 * 90], cut.data[89 * 90], cut.data[90 * 90]]).toEqual([0, 1, 1, 0])
  })

  it.each([[{ x: 10, y: 4, width: 30, height: 40 }], [{ x: -6, y: -8, width: 72, height: 96 }]])(
    'is placed back at its origin: %j',
    (window) => {
      const photo = createBytes({ width: 60, height: 80 }, 3)
      for (let i = 0; i < photo.data.length; i++) photo.data[i] = (i * 7) % 256
      const drawn = { ...createBytes(CANVAS, 3), data: new Uint8Array(60 * 80 * 3).fill(255) }
      const placed = placeFromCanvas(photo, drawn, window)
      for (let i = 0; i < photo.data.length; i++) {
        const [x, y] = [Math.floor(i / 3) % 60, Math.floor(i / 180)]
        const inside = x >= window.x && x < window.x + window.width && y >= window.y && y < window.y + window.height
        expect(placed.data[i]).toBe(inside ? 255 : photo.data[i])
      }
    },
  )
})

describe('a product for CatVTON', () => {
  it.each([
    [
      { width: 30, height: 80 },
      { left: 15, top: 0 },
    ],
    [
      { width: 60, height: 20 },
      { left: 0, top: 30 },
    ],
    [
      { width: 7, height: 5 },
      { left: 0, top: 19 },
    ],
  ])('lies whole and in the middle of a white canvas: %j', (size, { left, top }) => {
    const { width, height, data } = fitOnWhite(createBytes(size, 3), CANVAS)
    expect({ width, height }).toEqual(CANVAS)
    const isWhite = (x: number, y: number) => data[(y * 60 + x) * 3] === 255
    expect(isWhite(left, top)).toBe(false)
    expect(isWhite(59 - left, 79 - top)).toBe(false)
    if (left > 0) expect(isWhite(left - 1, top)).toBe(true)
    if (top > 0) expect(isWhite(left, top - 1)).toBe(true)
  })
})
