import { describe, expect, it } from 'vitest'
import { DrapeError } from '../../../../api/shared/contract/errors.ts'
import { checkResult } from '../../../../worker/vision/composite/check-result.ts'
import { type Bitmap, createPlane, type Plane } from '../../../../worker/vision/raster/plane.ts'

const SIZE = { width: 60, height: 80 }
const PERSON = { x: 20, y: 10, width: 20, height: 60 }

const photo: Bitmap = { ...SIZE, channels: 3, data: new Uint8Array(60 * 80 * 3).map((_, i) => (i * 7) % 90) }

const box = (left: number, top: number, right: number, bottom: number): Plane => {
  const plane = createPlane(SIZE)
  for (let y = top; y < bottom; y++) plane.data.fill(1, y * 60 + left, y * 60 + right)
  return plane
}

const drawn = (value: (i: number) => number): Bitmap => ({
  ...SIZE,
  channels: 3,
  data: photo.data.map((_, i) => value(i)),
})

const codeOf = (run: () => void) => {
  try {
    run()
  } catch (error) {
    return error instanceof DrapeError ? error.code : error
  }
  return 'accepted'
}

describe('checking a result', () => {
  const good = { image: drawn((i) => 150 + (i % 50)), change: box(20, 20, 40, 50) }

  it('accepts a new image on the person', () => {
    expect(codeOf(() => checkResult(good, photo, PERSON))).toBe('accepted')
  })

  it.each([
    ['nothing changed', { ...good, change: createPlane(SIZE) }],
    ['one flat colour', { ...good, image: drawn(() => 128) }],
    ['the photo itself', { ...good, image: photo }],
    ['a change away from the person', { ...good, change: box(0, 0, 60, 80) }],
    ['a change that is not a share', { ...good, change: createPlane(SIZE, Number.NaN) }],
    ['a change above 1', { ...good, change: createPlane(SIZE, 1.5) }],
    ['a change of another size', { ...good, change: createPlane({ width: 30, height: 40 }, 1) }],
    ['too few bytes', { ...good, image: { ...good.image, data: good.image.data.subarray(3) } }],
    [
      'another aspect',
      { image: { ...good.image, width: 80, height: 60 }, change: { ...good.change, width: 80, height: 60 } },
    ],
  ])('refuses %s', (_, result) => {
    expect(codeOf(() => checkResult(result, photo, PERSON))).toBe('RESULT_REJECTED')
  })
})
