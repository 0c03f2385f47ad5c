import { cropBitmap } from '../../../api/shared/image/image.ts'
import { boxBlur } from '../raster/filter.ts'
import { type Bitmap, createPlane, type Plane, type Point, type Size } from '../raster/plane.ts'
import { createPyramid, type Pyramid } from '../raster/pyramid.ts'
import { resizeAreaPlane } from '../raster/sample.ts'
import type { Box, Person } from './person.ts'

export const PHOTO_WARNINGS = ['no_person', 'several_people', 'too_small', 'blurred', 'truncated', 'too_dark'] as const
export type PhotoWarning = (typeof PHOTO_WARNINGS)[number]

const MIN_HEIGHT = 256
// Height in px at which sharpness is measured: finer detail does not affect the result.
export const JUDGED_HEIGHT = 512
const MAX_BLUR = 0.65
// A skull extends above the eyes by 1.5 times the distance between eyes and mouth.
const MIN_FOREHEAD = 1.3

/** Warnings against a try-on with this photo. `person` is the main person in the photo, `pyramid` the photo's pyramid. */
export function warnAboutPhoto(
  bitmap: Bitmap,
  person: Pick<Person, 'box' | 'landmarks' | 'people'> | null,
  pyramid = createPyramid(bitmap),
): PhotoWarning[] {
  if (person === null) return ['no_person']
  const warnings: PhotoWarning[] = []
  if (person.people > 1) warnings.push('several_people')
  if (person.box.height < MIN_HEIGHT) warnings.push('too_small')
  const brightness = brightnessOf(pyramid, person.box)
  if (blurOf(brightness) > MAX_BLUR) warnings.push('blurred')
  if (isTruncated(person, bitmap)) warnings.push('truncated')
  if (isDark(brightness)) warnings.push('too_dark')
  return warnings
}

// Dark clothes in front of a dark wall still leave a lit face: a photo is dark if even its brightest parts are.
const DARKEST_HIGHLIGHT = 80

function isDark({ data }: Plane): boolean {
  const counts = new Uint32Array(256)
  for (let i = 0; i < data.length; i++) counts[Math.min(255, Math.max(0, Math.round(data[i])))]++
  let rest = 0.05 * data.length
  for (let value = 255; value > 0; value--) {
    rest -= counts[value]
    if (rest <= 0) return value < DARKEST_HIGHLIGHT
  }
  return true
}

/**
 * Blur of the bitmap within `box`, 0 (sharp) to 1: the share of the differences between neighbours that remains after another blur
 * (after Crété, Dolmiere, Ladret, Nicolas 2007, "The blur effect"). Measured at a height of 512 px at most.
 */
export function measureBlur(bitmap: Bitmap, box: Box): number {
  return blurOf(brightnessOf(createPyramid(bitmap), box))
}

function blurOf(brightness: Plane): number {
  const blurred = boxBlur(brightness, 4)
  return Math.max(differenceLeft(brightness, blurred, 'across'), differenceLeft(brightness, blurred, 'down'))
}

function brightnessOf(pyramid: Pyramid, box: Box): Plane {
  const level = Math.max(0, Math.floor(Math.log2(box.height / JUDGED_HEIGHT)))
  const whole = pyramid.level(level)
  const [x, y] = [Math.floor(box.x / 2 ** level), Math.floor(box.y / 2 ** level)]
  const { data, channels, ...size } = cropBitmap(whole, {
    x,
    y,
    width: Math.max(1, Math.min(whole.width - x, Math.round(box.width / 2 ** level))),
    height: Math.max(1, Math.min(whole.height - y, Math.round(box.height / 2 ** level))),
  })
  const plane = createPlane(size)
  for (let i = 0, from = 0; i < plane.data.length; i++, from += channels)
    plane.data[i] = (data[from] + data[from + 1] + data[from + 2]) / 3
  const scale = JUDGED_HEIGHT / plane.height
  if (scale >= 1) return plane
  return resizeAreaPlane(plane, { width: Math.max(1, Math.round(plane.width * scale)), height: JUDGED_HEIGHT })
}

function differenceLeft(sharp: Plane, blurred: Plane, direction: 'across' | 'down'): number {
  const step = direction === 'across' ? 1 : sharp.width
  let total = 0
  let left = 0
  for (let y = direction === 'down' ? 1 : 0; y < sharp.height; y++) {
    for (let x = direction === 'across' ? 1 : 0; x < sharp.width; x++) {
      const i = y * sharp.width + x
      const before = Math.abs(sharp.data[i] - sharp.data[i - step])
      total += before
      left += Math.min(before, Math.abs(blurred.data[i] - blurred.data[i - step]))
    }
  }
  return total > 0 ? left / total : 1
}

// Whether the frame crops the head, the shoulders or the hips, which a try-on needs.
function isTruncated({ landmarks }: Pick<Person, 'landmarks'>, { width, height }: Size): boolean {
  const { leftEye, rightEye, mouthLeft, mouthRight } = landmarks
  const eyes = (leftEye.y + rightEye.y) / 2
  const forehead = MIN_FOREHEAD * ((mouthLeft.y + mouthRight.y) / 2 - eyes)
  const isOutside = ({ x, y }: Point) => x < 0 || y < 0 || x > width - 1 || y > height - 1
  const torso = [landmarks.leftShoulder, landmarks.rightShoulder, landmarks.leftHip, landmarks.rightHip]
  return eyes < forehead || torso.some(isOutside)
}
