import { type Bitmap, decodeOnWhite, encodeView, inspectImage } from '../../api/shared/image/image.ts'
import { hashImage } from '../../api/shared/image/image-hash.ts'
import type { Models } from '../inference/models.ts'
import type { PreparedPhoto, PrepareRequest } from '../inference/protocol.ts'
import { cropAroundPerson, cropWithoutPerson } from '../vision/person/crop.ts'
import { findPerson } from '../vision/person/find-person.ts'
import type { Box, Person } from '../vision/person/person.ts'
import { JUDGED_HEIGHT, warnAboutPhoto } from '../vision/person/photo-gate.ts'
import type { Point, Size } from '../vision/raster/plane.ts'
import { createPyramid, levelFor, type Pyramid } from '../vision/raster/pyramid.ts'

const VIEW_SIDE = 1024
/** Approximate longest side, in px, of the bitmap in which the person is detected. */
const SEARCHED_SIDE = 1500

/**
 * Analyses an uploaded photo, as it is stored: the 4:5 crop around the person, warnings, and a view of the crop. Detects the person in
 * a bitmap that is reduced while it is decoded, and decodes all pixels only for a crop or a person that is small in it.
 */
export async function preparePhoto({ photo }: PrepareRequest, { models }: { models: Models }): Promise<PreparedPhoto> {
  const { width, height } = inspectImage(photo)
  const level = levelFor(Math.max(width, height), SEARCHED_SIDE)
  const scale = 2 ** level
  const reduced = { width: Math.ceil(width / scale), height: Math.ceil(height / scale) }
  const searched = await decodeOnWhite(photo, level > 0 ? reduced : undefined)
  const pyramid = createPyramid(searched)
  const person = await findPerson(searched, models, { count: true, roughMask: true, pyramid })
  const crop = person ? cropAround(person, { width, height }, scale) : cropWithoutPerson({ width, height })
  const small = reduceBox(crop, searched, scale)
  const isEnough = level === 0 || Math.max(small.width, small.height) >= VIEW_SIDE
  // The encoder has its own thread; the photo is checked concurrently.
  const encoded = isEnough ? encodeView(searched, small, VIEW_SIDE) : encodeView(photo, crop, VIEW_SIDE)
  encoded.catch(() => {})
  const warnings = await warnAbout(person, { searched, pyramid, level, photo })
  const view = await encoded
  const hash = (await hashImage(view))?.hash ?? null
  return { crop, personDetected: person !== null, warnings, view, hash }
}

/** The box in a bitmap that is `scale` times smaller. */
function reduceBox({ x, y, width, height }: Box, frame: Size, scale: number): Box {
  const [left, top] = [Math.floor(x / scale), Math.floor(y / scale)]
  return {
    x: left,
    y: top,
    width: Math.min(frame.width - left, Math.ceil(width / scale)),
    height: Math.min(frame.height - top, Math.ceil(height / scale)),
  }
}

function cropAround({ box, landmarks }: Person, frame: Size, scale: number): Box {
  return cropAroundPerson(enlarged(box, scale), frame, enlarged(landmarks.nose, scale))
}

interface Searched {
  readonly searched: Bitmap
  readonly pyramid: Pyramid
  readonly level: number
  readonly photo: Uint8Array
}

/** The reduced bitmap is enough for the checks, unless the person is so small in it that relevant detail is lost. */
async function warnAbout(
  person: Person | null,
  { searched, pyramid, level, photo }: Searched,
): Promise<readonly string[]> {
  if (person === null || level === 0 || person.box.height >= JUDGED_HEIGHT)
    return warnAboutPhoto(searched, person, pyramid)
  const { people, box, landmarks } = person
  const scale = 2 ** level
  const names = Object.keys(landmarks) as (keyof Person['landmarks'])[]
  const inFrame = {
    people,
    box: enlarged(box, scale),
    landmarks: Object.fromEntries(names.map((name) => [name, enlarged(landmarks[name], scale)])) as Person['landmarks'],
  }
  return warnAboutPhoto(await decodeOnWhite(photo), inFrame)
}

/** The same place in a bitmap that is `scale` times larger. */
function enlarged<T extends Point & Partial<Box>>(place: T, scale: number): T {
  const { x, y, width, height } = place
  const size = width === undefined || height === undefined ? {} : { width: width * scale, height: height * scale }
  return { ...place, x: x * scale, y: y * scale, ...size }
}
