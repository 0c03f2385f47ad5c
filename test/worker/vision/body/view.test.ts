import { expect, it } from 'vitest'
import { resizeBitmap } from '../../../../api/shared/image/image.ts'
import { measureKeypoints } from '../../../../worker/vision/body/keypoints.ts'
import { createView } from '../../../../worker/vision/body/view.ts'
import { personAtSize } from '../../../../worker/vision/person/within.ts'
import { drawPerson } from './drawn-person.ts'

it('measures a large person at no more px per body unit than needed, but at least at half the resolution', async () => {
  const { person, photo } = drawPerson()
  const unit = measureKeypoints(person).unit
  for (const [times, expected] of [
    [100 / unit, 100],
    [200 / unit, 132],
    [280 / unit, 140],
  ]) {
    const size = { width: Math.round(times * photo.width), height: Math.round(times * photo.height) }
    const view = await createView(await resizeBitmap(photo, size), personAtSize(person, size), { long: false })
    expect(measureKeypoints(view.person).unit / expected).toBeCloseTo(1, 1)
  }
})
