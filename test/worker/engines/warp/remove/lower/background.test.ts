import { describe, expect, it } from 'vitest'
import { fillAcross } from '../../../../../../worker/engines/warp/remove/lower/remove.ts'
import { type Colours, createPlane } from '../../../../../../worker/vision/raster/plane.ts'

const SIZE = { width: 40, height: 20 }
// A floor below a wall that gets lighter to the right.
const truth = (x: number, y: number) => (y < 10 ? 100 + x : 40)

describe('background behind a person', () => {
  it('is filled along rows, so that horizontal lines stay sharp', () => {
    const bitmap: Colours = { ...SIZE, channels: 3, data: new Float32Array(SIZE.width * SIZE.height * 3) }
    const hidden = createPlane(SIZE)
    for (let i = 0; i < hidden.data.length; i++) {
      const x = i % SIZE.width
      hidden.data[i] = x >= 15 && x < 25 ? 1 : 0
      bitmap.data.fill(hidden.data[i] ? 255 : truth(x, Math.floor(i / SIZE.width)), i * 3, i * 3 + 3)
    }
    const filled = fillAcross(bitmap, { hidden, wanted: createPlane(SIZE, 1), margin: 2 })
    for (const y of [3, 9, 10, 15])
      for (const x of [15, 20, 24])
        expect(Math.abs(filled.data[(y * SIZE.width + x) * 3] - truth(x, y))).toBeLessThan(3)
    expect(filled.data[2]).toBe(bitmap.data[2])
  })
})
