import type { Models } from '../inference/models.ts'
import type { Bitmap, Plane } from '../raster/plane.ts'
import { createPyramid, type Pyramid } from '../raster/pyramid.ts'
import { type Detection, detectPeople } from './detect.ts'
import { type LocatedBody, locateBody } from './landmarks.ts'
import type { Box, Person } from './person.ts'
import { type Region, regionOfPicture } from './region.ts'
import { segmentPerson } from './segment.ts'

const LEAST_SCORE = 0.5
const LEAST_PRESENCE = 0.5

/** The main person of the picture: the largest and most central one, or null when there is nobody. */
export async function findPerson(picture: Bitmap, models: Models): Promise<Person | null> {
  const pyramid = createPyramid(picture)
  const session = models.session('pose_detection')
  const detections = await detectPeople(pyramid, { square: regionOfPicture(pyramid), minimum: LEAST_SCORE, session })
  const ranked = detections.toSorted((a, b) => prominence(b.region, pyramid) - prominence(a.region, pyramid))
  for (const detection of ranked) {
    const person = await look(pyramid, detection, models)
    if (person !== null) return { ...person, people: detections.length }
  }
  return null
}

// Area × centrality, where centrality falls from 1 in the middle of the picture to a half in its corners.
function prominence({ centre, side }: Region, { size }: Pyramid): number {
  const x = centre.x - (size.width - 1) / 2
  const y = centre.y - (size.height - 1) / 2
  return side * side * (1 - Math.hypot(x, y) / Math.hypot(size.width, size.height))
}

async function look(pyramid: Pyramid, detection: Detection, models: Models): Promise<Omit<Person, 'people'> | null> {
  const session = models.session('pose_landmark_heavy')
  const first = await locateBody(pyramid, detection.region, session)
  if (first.presence < LEAST_PRESENCE) return null
  const body: LocatedBody = await locateBody(pyramid, first.next, session)
  if (body.presence < LEAST_PRESENCE) return null
  const mask = segmentPerson(pyramid, first.next, body.segmentation)
  const box = boundsOf(mask)
  if (box === null) return null
  return { landmarks: body.landmarks, mask, box, score: detection.score, presence: body.presence }
}

function boundsOf({ width, height, data }: Plane): Box | null {
  let left = width
  let top = height
  let right = 0
  let bottom = 0
  for (let y = 0, i = 0; y < height; y++) {
    for (let x = 0; x < width; x++, i++) {
      if (data[i] <= 0.5) continue
      if (x < left) left = x
      if (x >= right) right = x + 1
      if (y < top) top = y
      bottom = y + 1
    }
  }
  return right > left ? { x: left, y: top, width: right - left, height: bottom - top } : null
}
