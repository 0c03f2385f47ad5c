import type { Models } from '../../inference/models.ts'
import type { Stages } from '../../job/stages.ts'
import { type PersonLabels, parsePerson } from '../person/parse.ts'
import type { Person } from '../person/person.ts'
import type { Bitmap } from '../raster/plane.ts'
import { createPyramid } from '../raster/pyramid.ts'
import { type BodyFrame, measureBody } from './body-frame.ts'
import { completeHands } from './hand-mask.ts'
import { findParts, type Parts } from './parts.ts'
import { createView, labelsInView, type View } from './view.ts'

/** All measurements of a person that do not depend on the garment. */
export interface BodyModel {
  /** Whether the view includes the legs. */
  readonly long: boolean
  readonly view: View
  /** The person in the view, with complete hands. */
  readonly person: Person
  readonly body: BodyFrame
  readonly parts: Parts
  /** In px of the frame. */
  readonly labels: PersonLabels
}

/** Measures the person `seen` in the frame. Throws `DrapeError` RESULT_REJECTED if the engine cannot use the pose. */
export async function measureBodyModel(
  { frame, seen, long, models }: { frame: Bitmap; seen: Person; long: boolean; models: Models },
  stages: Stages,
): Promise<BodyModel> {
  const view = await stages.run('view', 0.52, () => createView(frame, seen, { long }))
  const body = await stages.run('body', 0.55, () => measureBody(view.person))
  return stages.run('parts', 0.65, async () => {
    const person = completeHands(view.person)
    const labels = await parsePerson(createPyramid(frame), seen, models.session('parser'))
    const parts = findParts(view.analysed, person, { body, parsed: labelsInView(view, labels) })
    return { long, view, person, body, parts, labels }
  })
}
