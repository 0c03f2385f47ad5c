import { cropBitmap, decodeImage, encodeImage, resizeBitmap } from '../api/shared/image.ts'
import type { Models } from './inference/models.ts'
import type { PreparedPhoto, PrepareRequest } from './inference/protocol.ts'
import { cropAroundPerson, cropWithoutPerson } from './person/crop.ts'
import { findPerson } from './person/find-person.ts'
import { warnAboutPhoto } from './person/photo-gate.ts'

const VIEW_SIDE = 1024

/** Finds the person in an uploaded photo: the 4:5 crop around them, what speaks against the photo, and a view of the crop. */
export async function preparePhoto({ photo }: PrepareRequest, { models }: { models: Models }): Promise<PreparedPhoto> {
  const frame = await decodeImage(photo)
  const person = await findPerson(frame, models, { count: true })
  const crop = person ? cropAroundPerson(person.box, frame, person.landmarks.nose) : cropWithoutPerson(frame)
  const view = await resizeBitmap(cropBitmap(frame, crop), { longest: VIEW_SIDE })
  return {
    crop,
    personDetected: person !== null,
    warnings: warnAboutPhoto(frame, person),
    view: await encodeImage(view, { format: 'jpeg' }),
  }
}
