import { describe, expect, it } from 'vitest'
import { createPlane } from '../../../../worker/vision/raster/plane.ts'
import { shiftDown } from '../../../../worker/vision/raster/shift.ts'

describe('shiftDown', () => {
  it('moves rows down and fills the top with zeros', () => {
    const plane = createPlane({ width: 2, height: 3 })
    plane.data.set([1, 2, 3, 4, 5, 6])
    expect([...shiftDown(plane, 1).data]).toEqual([0, 0, 1, 2, 3, 4])
    expect([...plane.data]).toEqual([1, 2, 3, 4, 5, 6])
  })
})
