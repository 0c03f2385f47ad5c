import type { Person } from '../person/person.ts'
import type { Bitmap } from '../raster/plane.ts'
import type { Stages } from '../stages.ts'
import { type BodyFrame, measureBody } from './body-frame.ts'
import { completeHands } from './hand-mask.ts'
import { findParts, type Parts } from './parts.ts'
import { createView, type View } from './view.ts'

/** Everything that is known of a person, as far as it does not depend on the garment. */
export interface BodyModel {
  /** Whether the legs are in the view. */
  readonly long: boolean
  readonly view: View
  /** As in the view, with whole hands. */
  readonly person: Person
  readonly body: BodyFrame
  readonly parts: Parts
}

/** Measures the person in the frame, who is `seen` there. Throws `DrapeError` RESULT_REJECTED when the pose cannot be worked with. */
export async function measureBodyModel(
  { frame, seen, long }: { frame: Bitmap; seen: Person; long: boolean },
  stages: Stages,
): Promise<BodyModel> {
  const view = await stages.run('view', 0.52, () => createView(frame, seen, { long }))
  const body = await stages.run('body', 0.55, () => measureBody(view.person))
  return stages.run('parts', 0.65, () => {
    const person = completeHands(view.analysed, view.person, body)
    return { long, view, person, body, parts: findParts(view.analysed, person, body) }
  })
}
