import { type Bitmap, decodeOnWhite, encodeView } from '../../api/shared/image/image.ts'
import { hashImage } from '../../api/shared/image/image-hash.ts'
import type { Models } from '../inference/models.ts'
import type { PreparedPhoto, PrepareRequest } from '../inference/protocol.ts'
import { cropAroundPerson, cropWithoutPerson } from '../vision/person/crop.ts'
import { findPerson } from '../vision/person/find-person.ts'
import type { Box, Person } from '../vision/person/person.ts'
import { JUDGED_HEIGHT, warnAboutPhoto } from '../vision/person/photo-gate.ts'
import type { Point } from '../vision/raster/plane.ts'
import { createPyramid, levelFor, type Pyramid } from '../vision/raster/pyramid.ts'

const VIEW_SIDE = 1024
/** Approximate longest side, in px, of the bitmap in which the person is detected. */
const SEARCHED_SIDE = 1500

/** Analyses an uploaded photo: the 4:5 crop around the person, warnings, and a view of the crop. */
export async function preparePhoto({ photo }: PrepareRequest, { models }: { models: Models }): Promise<PreparedPhoto> {
  const frame = await decodeOnWhite(photo)
  const level = levelFor(Math.max(frame.width, frame.height), SEARCHED_SIDE)
  const pyramid = createPyramid(frame)
  const options = { count: true, roughMask: true, pyramid: pyramid.from(level) }
  const person = await findPerson(pyramid.level(level), models, options)
  const crop = person ? cropAround(person, frame, 2 ** level) : cropWithoutPerson(frame)
  // The encoder has its own thread; the photo is checked concurrently.
  const encoded = encodeView(frame, crop, VIEW_SIDE)
  encoded.catch(() => {})
  const warnings = person ? warnAbout(person, { pyramid, level }) : warnAboutPhoto(frame, null)
  const view = await encoded
  const hash = (await hashImage(view))?.hash ?? null
  return { crop, personDetected: person !== null, warnings, view, hash }
}

function cropAround({ box, landmarks }: Person, frame: Bitmap, scale: number): Box {
  return cropAroundPerson(enlarged(box, scale), frame, enlarged(landmarks.nose, scale))
}

/** The downscaled bitmap is enough for the checks, unless the person is so small in it that relevant detail is lost. */
function warnAbout(person: Person, { pyramid, level }: { pyramid: Pyramid; level: number }): readonly string[] {
  if (level === 0 || person.box.height >= JUDGED_HEIGHT)
    return warnAboutPhoto(pyramid.level(level), person, pyramid.from(level))
  const { people, box, landmarks } = person
  const scale = 2 ** level
  const names = Object.keys(landmarks) as (keyof Person['landmarks'])[]
  const inFrame = {
    people,
    box: enlarged(box, scale),
    landmarks: Object.fromEntries(names.map((name) => [name, enlarged(landmarks[name], scale)])) as Person['landmarks'],
  }
  return warnAboutPhoto(pyramid.level(0), inFrame, pyramid)
}

/** The same place in a bitmap that is `scale` times larger. */
function enlarged<T extends Point & Partial<Box>>(place: T, scale: number): T {
  const { x, y, width, height } = place
  const size = width === undefined || height === undefined ? {} : { width: width * scale, height: height * scale }
  return { ...place, x: x * scale, y: y * scale, ...size }
}
