import { cropBitmap, type Rectangle } from '../../../api/shared/image/image.ts'
import { type BodyKeypoints, measureKeypoints } from '../../vision/body/keypoints.ts'
import { movePoints, type Person } from '../../vision/person/person.ts'
import { rgbToLab } from '../../vision/raster/colour.ts'
import { cropPlane } from '../../vision/raster/crop.ts'
import type { Bitmap, Colours, Plane, Size } from '../../vision/raster/plane.ts'
import { resizeAreaColours, resizeAreaPlane } from '../../vision/raster/sample.ts'
import { pointAtSize } from '../../vision/raster/vector.ts'

/** A photo and its change. */
export interface DrawnPhoto {
  /** RGB, and the main person in it. */
  readonly photo: Bitmap
  readonly person: Person
  /** As an engine returns them: of one size, with the photo's aspect. */
  readonly image: Bitmap
  readonly change: Plane
}

/** The person before and after, downscaled to at most `UNIT` px per body unit. */
export interface Scene {
  readonly person: Person
  readonly keypoints: BodyKeypoints
  /** CIE Lab. */
  readonly before: Colours
  readonly after: Colours
  /** 0 to 1. */
  readonly change: Plane
}

const UNIT = 56
/** Min size of a body unit in px; smaller people cannot be measured. */
const MIN_UNIT = 20

/** Crops the photo to the surroundings of the person; null if the person is too small to be measured. */
export function sceneOf({ photo, person, image, change }: DrawnPhoto): Scene | null {
  const { unit } = measureKeypoints(person)
  if (unit < MIN_UNIT) return null
  const window = surroundings(person, unit, photo)
  const scale = Math.min(1, UNIT / unit)
  const size = { width: Math.ceil(window.width * scale), height: Math.ceil(window.height * scale) }
  const inImage = atSize(window, { from: photo, to: image })
  const before = resizeAreaColours(cropBitmap(photo, window), size)
  const drawn = resizeAreaColours(cropBitmap(image, inImage), size)
  const share = resizeAreaPlane(cropPlane(change, inImage), size)
  const data = before.data.map((value, k) => value + (drawn.data[k] - value) * share.data[Math.floor(k / 3)])
  const moved = intoWindow(person, window, size)
  return {
    person: moved,
    keypoints: measureKeypoints(moved),
    change: share,
    before: rgbToLab(before),
    after: rgbToLab({ ...before, data }),
  }
}

function surroundings({ box, landmarks }: Person, unit: number, { width, height }: Size): Rectangle {
  const arms = [landmarks.leftWrist, landmarks.rightWrist, landmarks.leftElbow, landmarks.rightElbow].map(({ x }) => x)
  const x = Math.max(0, Math.floor(Math.min(box.x, ...arms) - 0.3 * unit))
  const y = Math.max(0, Math.floor(box.y - 0.1 * unit))
  const right = Math.min(width, Math.ceil(Math.max(box.x + box.width, ...arms) + 0.3 * unit))
  const bottom = Math.min(height, Math.ceil(box.y + box.height + 0.2 * unit))
  return { x, y, width: Math.max(1, right - x), height: Math.max(1, bottom - y) }
}

function atSize(window: Rectangle, { from, to }: { from: Size; to: Size }): Rectangle {
  const [across, down] = [to.width / from.width, to.height / from.height]
  const x = Math.min(to.width - 1, Math.round(window.x * across))
  const y = Math.min(to.height - 1, Math.round(window.y * down))
  const width = Math.max(1, Math.min(to.width - x, Math.round(window.width * across)))
  return { x, y, width, height: Math.max(1, Math.min(to.height - y, Math.round(window.height * down))) }
}

function intoWindow(person: Person, window: Rectangle, size: Size): Person {
  const scale = { x: size.width / window.width, y: size.height / window.height }
  const points = movePoints(person, ({ x, y }) => pointAtSize({ x: x - window.x, y: y - window.y }, scale))
  return { ...person, ...points, mask: resizeAreaPlane(cropPlane(person.mask, window), size) }
}
