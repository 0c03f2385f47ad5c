import type { Stages } from '../engines/stages.ts'
import type { Person } from '../person/person.ts'
import type { Bitmap } from '../raster/plane.ts'
import { type BodyFrame, measureBody } from './body-frame.ts'
import { completeHands } from './hand-mask.ts'
import { findParts, type Parts } from './parts.ts'
import { createView, type View } from './view.ts'

/** What a person looks like, as far as that does not depend on the garment. */
export interface Look {
  /** Whether the legs are in the view. */
  readonly long: boolean
  readonly view: View
  /** As in the view, with whole hands. */
  readonly person: Person
  readonly body: BodyFrame
  readonly parts: Parts
}

/** Analyses the person in the frame. Throws `DrapeError` RESULT_REJECTED when the pose cannot be worked with. */
export async function lookAtPerson(
  { frame, seen, long }: { frame: Bitmap; seen: Person; long: boolean },
  stages: Stages,
): Promise<Look> {
  const view = await stages.run('view', 0.52, () => createView(frame, seen, { long }))
  const body = await stages.run('body', 0.55, () => measureBody(view.person))
  return stages.run('parts', 0.65, () => {
    const person = completeHands(view.analysed, view.person, body)
    return { long, view, person, body, parts: findParts(view.analysed, person, body) }
  })
}
