import type { Models } from '../inference/models.ts'
import type { Bitmap, Size } from '../raster/plane.ts'
import { createPyramid, levelFor, type Pyramid } from '../raster/pyramid.ts'
import { boundsOf } from './bounds.ts'
import { type Detection, detectPeople, withoutRepeats } from './detect.ts'
import { locateFace } from './face.ts'
import { locateHands } from './hand.ts'
import { segmentHand } from './hand-area.ts'
import { type LocatedBody, locateBody } from './landmarks.ts'
import type { Box, Person } from './person.ts'
import { type Region, regionOfPicture } from './region.ts'
import { segmentPerson } from './segment.ts'
import { tilesOfPicture } from './tiles.ts'

// The detector's scores of things that are no people reach 0.7, those of real people at a good size lie above 0.8.
const POSSIBLE = 0.5
const SURE = 0.75
// Magnified pieces of background look like people more often than whole pictures do.
const SURE_IN_TILE = 0.8
const PRESENT = 0.5
const CERTAIN = 0.9
const FACE_SEEN = 0.7

/**
 * The main person of the picture: the largest and most central one, or null when there is none. Small people are searched in
 * parts of the picture when the whole shows no person for sure, unless only a person who fills it matters (`small: false`). With
 * `count` bystanders are looked for and counted, too; without it `people` only says how many the detector saw at once. Whoever
 * needs the box and not the mask (`roughMask`) gets one that is drawn in a picture of about 512 px around the person.
 */
export async function findPerson(
  picture: Bitmap,
  models: Models,
  { small = true, count = false, pyramid = createPyramid(picture), roughMask = false }: FindOptions = {},
): Promise<Person | null> {
  const search = { pyramid, models, roughMask }
  const seen = await detectIn([regionOfPicture(pyramid)], POSSIBLE, search)
  const sure = seen.filter(({ score }) => score >= SURE)
  const person =
    (await confirmFirst(sure, isPresent, search)) ??
    (small ? await searchTiles(search) : null) ??
    (await confirmFirst(seen, isCertain, search))
  if (person === null) return null
  const people = count ? await countPeople(person, seen, search) : sure.length
  const face = await locateFace(pyramid, person, models.session('face_landmark'))
  const found = await locateHands(pyramid, person, models.session('hand_landmark'))
  const hands = [found.left, found.right].flatMap((points) => (points ? [segmentHand(pyramid, points)] : []))
  return { ...person, face, hands, people: Math.max(1, people) }
}

interface FindOptions {
  readonly small?: boolean
  readonly count?: boolean
  /** Of the picture, where it has been made already. */
  readonly pyramid?: Pyramid
  readonly roughMask?: boolean
}

type Body = Omit<Person, 'people' | 'face' | 'hands'>

interface Search {
  readonly pyramid: Pyramid
  readonly models: Models
  readonly roughMask: boolean
}

async function searchTiles(search: Search): Promise<Body | null> {
  for (const squares of tilesOfPicture(search.pyramid.size)) {
    const person = await confirmFirst(await detectIn(squares, SURE_IN_TILE, search), isPresent, search)
    if (person !== null) return person
  }
  return null
}

// A face at least so large as the main person's, as a share, is a second person and not a passer-by or a picture on the wall.
const MIN_BYSTANDER = 0.3
const MAX_CONFIRMED = 3

// In the whole picture and in its first set of parts, where people beside a larger one are found; each looked at a second time.
async function countPeople(main: Body, seen: readonly Detection[], search: Search): Promise<number> {
  const [tiles = []] = tilesOfPicture(search.pyramid.size)
  const all = withoutRepeats([...seen, ...(await detectIn(tiles, SURE_IN_TILE, search))])
  const { nose, leftEar, rightEar } = main.landmarks
  const near = (face: Detection['face']) =>
    Math.hypot((face[0].x + face[1].x) / 2 - nose.x, (face[0].y + face[1].y) / 2 - nose.y)
  const side = ({ face }: Detection) => Math.abs(face[1].x - face[0].x)
  const own = all.toSorted((a, b) => near(a.face) - near(b.face))[0]
  const ears = Math.hypot(leftEar.x - rightEar.x, leftEar.y - rightEar.y)
  const least = MIN_BYSTANDER * Math.max(ears, own ? side(own) : 0)
  const others = all.filter((other) => other !== own && near(other.face) > ears && side(other) > least)
  let people = 1
  for (const other of others.slice(0, MAX_CONFIRMED)) {
    const body = await locateBody(search.pyramid, other.region, search.models.session('pose_landmark_heavy'))
    if (body.presence >= CERTAIN && body.landmarks.nose.visibility >= FACE_SEEN) people++
  }
  return people
}

// The people in all these squares, the most prominent first.
async function detectIn(
  squares: readonly Region[],
  minimum: number,
  { pyramid, models }: Search,
): Promise<Detection[]> {
  const detections: Detection[] = []
  const session = models.session('pose_detection')
  for (const square of squares) detections.push(...(await detectPeople(pyramid, { square, minimum, session })))
  return withoutRepeats(detections).sort((a, b) => prominence(b, pyramid) - prominence(a, pyramid))
}

// Area × centrality, which falls from 1 in the middle of the picture to a half in its corners.
function prominence({ region: { centre, side } }: Detection, { size }: Pyramid): number {
  const x = centre.x - (size.width - 1) / 2
  const y = centre.y - (size.height - 1) / 2
  return side * side * (1 - Math.hypot(x, y) / Math.hypot(size.width, size.height))
}

function isPresent({ presence }: LocatedBody): boolean {
  return presence >= PRESENT
}

// For a doubtful detection: clothes without a head are not enough.
function isCertain({ presence, landmarks }: LocatedBody): boolean {
  return presence >= CERTAIN && landmarks.nose.visibility >= FACE_SEEN
}

const ROUGH_SIDE = 512

// The first detection in which the landmark model sees a person, too, twice.
async function confirmFirst(
  detections: readonly Detection[],
  confirms: (body: LocatedBody) => boolean,
  { pyramid, models, roughMask }: Search,
): Promise<Body | null> {
  const session = models.session('pose_landmark_heavy')
  for (const { region, score } of detections) {
    const rough = await locateBody(pyramid, region, session)
    if (!confirms(rough)) continue
    const body = await locateBody(pyramid, rough.next, session)
    if (!confirms(body)) continue
    const level = roughMask ? levelFor(rough.next.side, ROUGH_SIDE) : 0
    const mask = segmentPerson(pyramid.from(level), regionInLevel(rough.next, level), body.segmentation)
    const bounds = boundsOf(mask, (value) => value > 0.5)
    if (bounds === null) continue
    const box = boxInPicture(bounds, level, pyramid.size)
    return { landmarks: body.landmarks, mask, box, score, presence: body.presence }
  }
  return null
}

function regionInLevel({ centre, side, angle }: Region, level: number): Region {
  const scale = 2 ** level
  return { centre: { x: (centre.x + 0.5) / scale - 0.5, y: (centre.y + 0.5) / scale - 0.5 }, side: side / scale, angle }
}

function boxInPicture({ x, y, width, height }: Box, level: number, size: Size): Box {
  const scale = 2 ** level
  return {
    ...{ x: x * scale, y: y * scale },
    width: Math.min(width * scale, size.width - x * scale),
    height: Math.min(height * scale, size.height - y * scale),
  }
}
