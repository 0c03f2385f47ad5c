import { expect, it } from 'vitest'
import { photoOfRequest } from '../../../worker/job/request-photo.ts'
import { sharedModels } from '../../support/vision.ts'
import { paste, plainBitmap, readFigure } from '../vision/person/figures.ts'

it('counts bystanders of a small person whether or not the crop is known', async () => {
  const models = await sharedModels()
  const frame = plainBitmap({ width: 1600, height: 1200 })
  paste(frame, await readFigure('walk-full'), { height: 350, x: 600, y: 350 })
  paste(frame, await readFigure('apose-full'), { height: 700, x: 300, y: 250 })
  const counting = { models, needsPerson: true, countsPeople: true }
  const { crop, person } = await photoOfRequest(frame, 'auto', counting)
  expect(person?.people).toBe(2)
  for (const wanted of ['auto', crop ?? 'none'] as const) {
    const seen = await photoOfRequest(frame, wanted, { ...counting, needsPerson: false })
    expect(seen.person?.people).toBe(2)
  }
})
