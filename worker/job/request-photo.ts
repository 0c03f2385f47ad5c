import { type Bitmap, cropBitmap, type Rectangle } from '../../api/shared/image/image.ts'
import type { Models } from '../inference/models.ts'
import type { PreparedPhoto, TryOnRequest } from '../inference/protocol.ts'
import { cropAroundPerson, cropWithoutPerson } from '../vision/person/crop.ts'
import { findPerson } from '../vision/person/find-person.ts'
import type { Person } from '../vision/person/person.ts'
import { warnAboutPhoto } from '../vision/person/photo-gate.ts'
import { personWithin } from '../vision/person/within.ts'

/** The part of the caller's photo that the engine receives. */
export interface RequestPhoto {
  readonly photo: Bitmap
  /** Position in the frame; null for the whole frame. */
  readonly crop: Rectangle | null
  /** The main person, in px of `bitmap`; absent if not analysed or if there is no person. */
  readonly person?: Person
  /** Warnings about the photo, as far as it was analysed. */
  readonly warnings: readonly string[]
  /** Analysis to store for the next try-on with the same photo; null if the crop was known. */
  readonly found: Pick<PreparedPhoto, 'crop' | 'personDetected' | 'warnings'> | null
}

/** Min share of the frame that a person fills; a smaller person is detected again in the crop, at a higher resolution. */
const MIN_PERSON_SHARE = 0.8

/**
 * Crops the decoded `frame` as requested. `needsPerson`: the engine needs the position of the person. `countsPeople`: bystanders
 * are searched in the crop.
 */
export async function photoOfRequest(
  frame: Bitmap,
  wanted: TryOnRequest['crop'],
  { models, needsPerson, countsPeople = false }: { models: Models; needsPerson: boolean; countsPeople?: boolean },
): Promise<RequestPhoto> {
  if (wanted === 'auto') return cropFrame(frame, { models, needsPerson, countsPeople })
  const crop = wanted === 'none' ? null : wanted
  const photo = crop ? cropBitmap(frame, crop) : frame
  const person = needsPerson || countsPeople ? await findPerson(photo, models, { count: countsPeople }) : null
  const warnings = needsPerson ? warnAboutPhoto(photo, person) : []
  return { photo, crop, person: person ?? undefined, warnings, found: null }
}

async function cropFrame(
  frame: Bitmap,
  { models, needsPerson, countsPeople }: { models: Models; needsPerson: boolean; countsPeople: boolean },
): Promise<RequestPhoto> {
  const inFrame = await findPerson(frame, models, { count: true })
  const crop = inFrame ? cropAroundPerson(inFrame.box, frame, inFrame.landmarks.nose) : cropWithoutPerson(frame)
  const photo = cropBitmap(frame, crop)
  const warnings = warnAboutPhoto(frame, inFrame)
  const seenWell = inFrame && crop.height >= MIN_PERSON_SHARE * frame.height ? personWithin(inFrame, crop) : null
  const isSearched = seenWell === null && inFrame !== null && (needsPerson || countsPeople)
  const person = isSearched ? await findPerson(photo, models, { count: countsPeople }) : seenWell
  return {
    photo,
    crop,
    person: person ?? undefined,
    warnings,
    found: { crop, personDetected: inFrame !== null, warnings },
  }
}
