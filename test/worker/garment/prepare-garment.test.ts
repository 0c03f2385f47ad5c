import { describe, expect, it } from 'vitest'
import { cutOut } from '../../../worker/garment/cut-out.ts'
import { findOutline, type GarmentOutline } from '../../../worker/garment/outline.ts'
import { prepareUpperGarment } from '../../../worker/garment/prepare-garment.ts'
import type { Point } from '../../../worker/raster/plane.ts'
import { applyAffine } from '../../../worker/raster/sample.ts'
import { distance } from '../../../worker/raster/vector.ts'
import { readGarment } from './garment-pictures.ts'

// The outline's landmarks under the ground truth's names, in px of the picture.
function namedLandmarks(outline: GarmentOutline): Map<string, Point> {
  const named = new Map<string, Point>()
  const put = (name: string, point: Point | undefined) => {
    if (point) named.set(name, applyAffine(outline.canvas.toPicture, point))
  }
  if (outline.kind !== 'top' && outline.kind !== 'dress') return named
  for (const [k, side] of ['l', 'r'].entries()) {
    const landmarks = outline.landmarks[k]
    put(`neck_${side}`, landmarks.neck)
    put(`shoulder_${side}`, landmarks.shoulder)
    put(`armpit_${side}`, landmarks.armpit)
    put(`hem_${side}`, landmarks.hem)
    put(`sleeve_out_${side}`, landmarks.sleeveOuter)
    put(`sleeve_in_${side}`, landmarks.sleeveInner)
  }
  return named
}

describe('findOutline', () => {
  it.each(['tshirt_mustard', 'tshirt_navy'])('finds the landmarks of %s', async (name) => {
    const { picture, landmarks, height } = await readGarment(name)
    const outline = findOutline(cutOut(picture).alpha)
    expect(outline.kind).toBe('top')
    const found = namedLandmarks(outline)
    expect(found.size).toBe(12)
    for (const [key, point] of found) {
      const error = distance(point, landmarks.get(key) ?? { x: 0, y: 0 }) / height
      expect(error, key).toBeLessThan(0.05)
    }
  })
})

describe('prepareUpperGarment', () => {
  it('tells trousers from tops', async () => {
    const { picture } = await readGarment('trousers_black')
    expect(prepareUpperGarment(picture, { category: null }).kind).toBe('trousers')
  })
})
