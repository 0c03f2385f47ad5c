import type { Models } from '../../inference/models.ts'
import { boundsOf } from '../raster/crop.ts'
import type { Bitmap, Size } from '../raster/plane.ts'
import { createPyramid, levelFor, type Pyramid } from '../raster/pyramid.ts'
import { norm } from '../raster/vector.ts'
import { type Detection, detectPeople, withoutRepeats } from './detect.ts'
import { faceColour, locateFace } from './face.ts'
import { locateHands } from './hand.ts'
import { segmentHand } from './hand-area.ts'
import { type LocatedBody, locateBody } from './landmarks.ts'
import type { Box, Person } from './person.ts'
import { type Region, regionOfBitmap } from './region.ts'
import { segmentPerson } from './segment.ts'
import { tilesOfBitmap } from './tiles.ts'

// The detector's scores of objects reach 0.7; scores of real people at a good size are above 0.8.
const POSSIBLE = 0.5
const SURE = 0.75
// Enlarged pieces of background are mistaken for people more often than whole photos.
const SURE_IN_TILE = 0.8
const PRESENT = 0.5
const CERTAIN = 0.9
const FACE_SEEN = 0.7

/**
 * Finds the main person: the largest and most central one; null without a person. Searches parts of the bitmap for small people
 * if the whole bitmap shows no person with certainty, unless `small: false`. With `count` it also searches and counts
 * bystanders; otherwise `people` is the number of the first detections. With `roughMask` it locates no face and no hands, and the
 * mask is computed from a bitmap of about 512 px around the person, which is enough for the box.
 */
export async function findPerson(
  bitmap: Bitmap,
  models: Models,
  { small = true, count = false, pyramid = createPyramid(bitmap), roughMask = false }: FindOptions = {},
): Promise<Person | null> {
  const search = { pyramid, models, roughMask }
  const seen = await detectIn([regionOfBitmap(pyramid)], POSSIBLE, search)
  const sure = seen.filter(({ score }) => score >= SURE)
  const person =
    (await confirmFirst(sure, isPresent, search)) ??
    (small ? await searchTiles(search) : null) ??
    (await confirmFirst(seen, isCertain, search))
  if (person === null) return null
  const people = count ? await countPeople(person, seen, search) : sure.length
  if (roughMask) return { ...person, face: null, hands: [], people: Math.max(1, people) }
  const face = await locateFace(pyramid, person, models.session('face_landmark'))
  const skin = face && faceColour(pyramid, face)
  const found = await locateHands(pyramid, person, models.session('hand_landmark'))
  const hands = [found.left, found.right].flatMap((points) => (points ? [segmentHand(pyramid, points, skin)] : []))
  return { ...person, face, hands, people: Math.max(1, people) }
}

interface FindOptions {
  readonly small?: boolean
  readonly count?: boolean
  /** Pyramid of the bitmap, if it already exists. */
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
  for (const squares of tilesOfBitmap(search.pyramid.size)) {
    const person = await confirmFirst(await detectIn(squares, SURE_IN_TILE, search), isPresent, search)
    if (person !== null) return person
  }
  return null
}

// Min size of a second person's face, as a share of the main person's: a smaller face is a passer-by or an image on the wall.
const MIN_BYSTANDER = 0.3
const MAX_CONFIRMED = 3

// Searches the whole bitmap and its first set of tiles, where people beside a larger person are found, and confirms each detection.
async function countPeople(main: Body, seen: readonly Detection[], search: Search): Promise<number> {
  const [tiles = []] = tilesOfBitmap(search.pyramid.size)
  const all = withoutRepeats([...seen, ...(await detectIn(tiles, SURE_IN_TILE, search))])
  const { nose, leftEar, rightEar } = main.landmarks
  const near = (face: Detection['face']) =>
    norm((face[0].x + face[1].x) / 2 - nose.x, (face[0].y + face[1].y) / 2 - nose.y)
  const side = ({ face }: Detection) => Math.abs(face[1].x - face[0].x)
  const own = all.toSorted((a, b) => near(a.face) - near(b.face))[0]
  const ears = norm(leftEar.x - rightEar.x, leftEar.y - rightEar.y)
  const minSide = MIN_BYSTANDER * Math.max(ears, own ? side(own) : 0)
  const others = all.filter((other) => other !== own && near(other.face) > ears && side(other) > minSide)
  let people = 1
  for (const other of others.slice(0, MAX_CONFIRMED)) {
    const body = await locateBody(search.pyramid, other.region, search.models.session('pose_landmark_heavy'))
    if (body.presence >= CERTAIN && body.landmarks.nose.visibility >= FACE_SEEN) people++
  }
  return people
}

// The people in all these squares, most prominent first.
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

// Area × centrality, which falls from 1 in the middle of the bitmap to 0.5 in its corners.
function prominence({ region: { centre, side } }: Detection, { size }: Pyramid): number {
  const x = centre.x - (size.width - 1) / 2
  const y = centre.y - (size.height - 1) / 2
  return side * side * (1 - norm(x, y) / norm(size.width, size.height))
}

function isPresent({ presence }: LocatedBody): boolean {
  return presence >= PRESENT
}

// For a doubtful detection: clothes without a head are not enough.
function isCertain({ presence, landmarks }: LocatedBody): boolean {
  return presence >= CERTAIN && landmarks.nose.visibility >= FACE_SEEN
}

const ROUGH_SIDE = 512

// The first detection that the landmark model confirms twice.
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
    const bounds = boundsOf(mask, 0.5)
    if (bounds === null) continue
    const box = boxInBitmap(bounds, level, pyramid.size)
    return { landmarks: body.landmarks, mask, box, score, presence: body.presence }
  }
  return null
}

function regionInLevel({ centre, side, angle }: Region, level: number): Region {
  const scale = 2 ** level
  return { centre: { x: (centre.x + 0.5) / scale - 0.5, y: (centre.y + 0.5) / scale - 0.5 }, side: side / scale, angle }
}

function boxInBitmap({ x, y, width, height }: Box, level: number, size: Size): Box {
  const scale = 2 ** level
  return {
    x: x * scale,
    y: y * scale,
    width: Math.min(width * scale, size.width - x * scale),
    height: Math.min(height * scale, size.height - y * scale),
  }
}
