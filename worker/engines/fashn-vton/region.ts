import type { LandmarkName, Person } from '../../vision/person/person.ts'
import { personAtSize } from '../../vision/person/within.ts'
import { featherMask } from '../../vision/raster/feather.ts'
import { subset, threshold } from '../../vision/raster/mask.ts'
import { dilate } from '../../vision/raster/morphology.ts'
import type { Plane, Point, Size } from '../../vision/raster/plane.ts'
import { distanceToSegment } from '../../vision/raster/polygon.ts'
import { between, distance } from '../../vision/raster/vector.ts'
import type { TrainedCategory } from './category.ts'

/**
 * Extent of each garment: distance beyond the body, in torso lengths, and range along the torso (0 at the shoulders, 1 at the hips).
 */
const EXTENTS: Readonly<Record<TrainedCategory, { reach: number; from: number; to: number }>> = {
  tops: { reach: 0.15, from: -0.25, to: 1.6 },
  bottoms: { reach: 0.25, from: 0.5, to: Number.POSITIVE_INFINITY },
  'one-pieces': { reach: 0.3, from: -0.25, to: Number.POSITIVE_INFINITY },
}
/** Sleeves follow the arms, even above the head: radius around the bones, in torso lengths. */
const SLEEVE = 0.25
const ARMS: readonly (readonly [LandmarkName, LandmarkName])[] = [
  ['leftShoulder', 'leftElbow'],
  ['leftElbow', 'leftWrist'],
  ['rightShoulder', 'rightElbow'],
  ['rightElbow', 'rightWrist'],
]
/** Radius of a face around the nose, in distances between eyes and mouth. */
const FACE_RADIUS = 1.8
/** Feather of the region's edge, in torso lengths. */
const FEATHER = 0.02
/** A smaller change does not alter any byte. */
const MIN_SHARE = 1 / 512

/**
 * Blend factor of a drawn bitmap of `size` over the photo, 0 to 1: the body and its surroundings where a garment of the category
 * is, without the face. The model draws the whole image anew; everything outside this region keeps the photo's pixels.
 */
export function changeRegion(person: Person, category: TrainedCategory, size: Size): Plane {
  const { landmarks, mask } = personAtSize(person, size)
  const middle = (a: LandmarkName, b: LandmarkName): Point => between(landmarks[a], landmarks[b], 0.5)
  const shoulders = middle('leftShoulder', 'rightShoulder')
  const hips = middle('leftHip', 'rightHip')
  const face = landmarks.nose
  const faceRadius = FACE_RADIUS * distance(middle('leftEye', 'rightEye'), middle('mouthLeft', 'mouthRight'))
  const axis = { x: hips.x - shoulders.x, y: hips.y - shoulders.y }
  const torso = Math.hypot(axis.x, axis.y)
  const { reach, from, to } = EXTENTS[category]
  const arms = ARMS.map(([a, b]) => [landmarks[a], landmarks[b]] as const)
  const near = dilate(threshold(mask, 0.3), reach * torso)
  const region = subset(near, (i) => {
    const x = i % size.width
    const y = Math.floor(i / size.width)
    if (distance({ x, y }, face) < faceRadius) return false
    const along = ((x - shoulders.x) * axis.x + (y - shoulders.y) * axis.y) / torso ** 2
    if (along >= from) return along <= to
    return category !== 'bottoms' && arms.some((arm) => distanceToSegment({ x, y }, ...arm).distance < SLEEVE * torso)
  })
  const soft = featherMask(region, FEATHER * torso)
  return { ...soft, data: soft.data.map((share) => (share < MIN_SHARE ? 0 : Math.min(1, share))) }
}
