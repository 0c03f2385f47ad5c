import { describe, expect, it } from 'vitest'
import { addGrain, seenShare } from '../../../../../worker/engines/warp/compose/grain.ts'
import { createRandom } from '../../../../../worker/vision/raster/clusters.ts'
import { maskWhere } from '../../../../../worker/vision/raster/mask.ts'
import { type Bitmap, createPlane } from '../../../../../worker/vision/raster/plane.ts'

const SIZE = { width: 120, height: 80 }
const RIGHT = maskWhere(SIZE, (i) => i % SIZE.width >= 60)
const LEFT = maskWhere(SIZE, (i) => i % SIZE.width < 58)

/** Grey, with even noise of this half range in the left half and none in the right one. */
function photo(range: number): Bitmap {
  const random = createRandom(7)
  const data = new Uint8Array(SIZE.width * SIZE.height * 3)
  for (let i = 0; i < SIZE.width * SIZE.height; i++) {
    const grey = 128 + (i % SIZE.width < 60 ? Math.round((2 * random() - 1) * range) : 0)
    data.fill(grey, i * 3, i * 3 + 3)
  }
  return { ...SIZE, channels: 3, data }
}

function deviation({ data }: Bitmap, from: number, to: number): number {
  const values: number[] = []
  for (let i = 0; i < SIZE.width * SIZE.height; i++) {
    const x = i % SIZE.width
    if (x >= from && x < to) values.push(data[i * 3])
  }
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length
  return Math.sqrt(values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / values.length)
}

const filled = (range: number) => {
  const bitmap = photo(range)
  const image = { ...bitmap, data: bitmap.data.slice() }
  addGrain(image, bitmap, [{ share: seenShare(RIGHT, createPlane(SIZE)), like: LEFT }])
  return { bitmap, image }
}

describe('the grain of synthesized regions', () => {
  it.each([1, 2])('matches the grain of real pixels, with noise of ± %i', (range) => {
    const { image } = filled(range)
    const real = deviation(image, 2, 56)
    expect(deviation(image, 64, 118) / real).toBeGreaterThan(0.6)
    expect(deviation(image, 64, 118) / real).toBeLessThan(1.5)
  })

  it('is not as strong as texture', () => {
    expect(deviation(filled(6).image, 64, 118)).toBeLessThan(1.6)
  })

  it('changes no other pixels, and is deterministic', () => {
    const { bitmap, image } = filled(5)
    for (let i = 0; i < SIZE.width * SIZE.height; i++)
      if (i % SIZE.width < 59) expect(image.data[i * 3]).toBe(bitmap.data[i * 3])
    expect(filled(5).image.data).toEqual(image.data)
  })

  it('is absent without grain in the photo, and under the new garment', () => {
    expect(deviation(filled(0).image, 64, 118)).toBe(0)
    expect(seenShare(RIGHT, createPlane(SIZE, 1)).data.every((share) => share === 0)).toBe(true)
  })
})
