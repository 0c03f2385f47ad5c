import { type Bitmap, cropBitmap, type Rectangle } from '../api/shared/image.ts'
import type { Models } from './inference/models.ts'
import type { PreparedPhoto, TryOnRequest } from './inference/protocol.ts'
import { cropAroundPerson, cropWithoutPerson } from './person/crop.ts'
import { findPerson } from './person/find-person.ts'
import type { Person } from './person/person.ts'
import { warnAboutPhoto } from './person/photo-gate.ts'
import { personWithin } from './person/within.ts'

/** The part of the caller's photo that an engine is to see. */
export interface RequestPhoto {
  readonly photo: Bitmap
  /** Where it lies in the frame; null when it is the frame. */
  readonly crop: Rectangle | null
  /** The main person in it, in its px; absent when it was not analysed or shows no person. */
  readonly person?: Person
  /** What speaks against the photo, as far as it was analysed. */
  readonly warnings: readonly string[]
  /** What is worth keeping for the next try-on with the same photo; null when its crop was known. */
  readonly found: Pick<PreparedPhoto, 'crop' | 'personDetected' | 'warnings'> | null
}

/** A person that fills less of the frame than this is looked at again in the crop, where there is more of them to see. */
const SEEN_WELL = 0.8

/** Crops the decoded `frame` as the request asks; `needsPerson` says whether the engine wants to know where the person is. */
export async function photoOfRequest(
  frame: Bitmap,
  wanted: TryOnRequest['crop'],
  { models, needsPerson }: { models: Models; needsPerson: boolean },
): Promise<RequestPhoto> {
  if (wanted === 'auto') return cropFrame(frame, { models, needsPerson })
  const crop = wanted === 'none' ? null : wanted
  const photo = crop ? cropBitmap(frame, crop) : frame
  const person = needsPerson ? await findPerson(photo, models) : null
  const warnings = needsPerson ? warnAboutPhoto(photo, person) : []
  return { photo, crop, person: person ?? undefined, warnings, found: null }
}

async function cropFrame(
  frame: Bitmap,
  { models, needsPerson }: { models: Models; needsPerson: boolean },
): Promise<RequestPhoto> {
  const inFrame = await findPerson(frame, models, { count: true })
  const crop = inFrame ? cropAroundPerson(inFrame.box, frame, inFrame.landmarks.nose) : cropWithoutPerson(frame)
  const photo = cropBitmap(frame, crop)
  const warnings = warnAboutPhoto(frame, inFrame)
  const seenWell = inFrame && crop.height >= SEEN_WELL * frame.height ? personWithin(inFrame, crop) : null
  const person = seenWell ?? (needsPerson && inFrame ? await findPerson(photo, models) : null) ?? undefined
  return { photo, crop, person, warnings, found: { crop, personDetected: inFrame !== null, warnings } }
}
