import { expect, it } from 'vitest'
import { resizeBitmap } from '../../../../api/shared/image/image.ts'
import { measureBody } from '../../../../worker/vision/body/body-frame.ts'
import { measureKeypoints } from '../../../../worker/vision/body/keypoints.ts'
import { createView } from '../../../../worker/vision/body/view.ts'
import { personAtSize } from '../../../../worker/vision/person/within.ts'
import { drawPerson } from './drawn-person.ts'

it('measures the same rotation of a person at any photo size', async () => {
  const { person, photo } = drawPerson()
  const { leftShoulder, rightShoulder } = person.landmarks
  const landmarks = {
    ...person.landmarks,
    leftShoulder: { ...leftShoulder, z: 45 },
    rightShoulder: { ...rightShoulder, z: -45 },
  }
  const turned = { ...person, landmarks }
  const large = await resizeBitmap(photo, { width: 3 * photo.width, height: 3 * photo.height })
  const views = [
    await createView(photo, turned, { long: true }),
    await createView(large, personAtSize(turned, large), { long: true }),
  ]
  const [small, reduced] = views.map((view) => measureBody(view.person))
  expect(views[1].scale).toBeGreaterThan(3)
  expect(Math.abs(small.turn)).toBeGreaterThan(0.1)
  expect(reduced.turn).toBeCloseTo(small.turn, 2)
})

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
