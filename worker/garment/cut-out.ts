import { DrapeError } from '../../api/shared/errors.ts'
import { rgbToLab } from '../raster/colour.ts'
import {
  type Bitmap,
  bitmapToColours,
  createMask,
  createPlane,
  type Mask,
  type Plane,
  type Size,
} from '../raster/plane.ts'
import { resizeAreaColours } from '../raster/sample.ts'
import { enlargeMatte } from './enlarge.ts'
import type { CutOut } from './garment.ts'
import { fitGround, type Ground } from './ground.ts'
import { matte } from './matte.ts'
import { removeMirroredShadow } from './mirrored-shadow.ts'
import { compareWithGround, type GroundComparison } from './shadow.ts'
import { findSilhouette, groundTolerance } from './silhouette.ts'

/** Longest side in px at which ground and edge are worked out. */
const WORKING_SIDE = 768

/**
 * The garment of a product photo on a plain ground, at the photo's own size. A photo with transparency is taken as cut out
 * already.
 * @throws DrapeError RESULT_REJECTED when the ground is not plain, when no garment stands out from it, or when the garment is
 * not wholly in the picture.
 */
export function cutOut(picture: Bitmap): CutOut {
  const alpha = givenAlpha(picture)
  if (alpha) {
    requireArea(shareAbove(alpha), 0.01)
    return { colours: bitmapToColours(picture), alpha }
  }
  const opaque = onWhite(picture)
  const size = workingSize(picture)
  const colours = size.width === picture.width ? bitmapToColours(opaque) : resizeAreaColours(opaque, size)
  const lab = rgbToLab(colours)
  const ground = fitGround(lab)
  requirePlain(ground)
  const comparison = compareWithGround(lab, ground)
  const grounded = { lab, ground, comparison }
  const silhouette = removeMirroredShadow(findSilhouette(grounded), grounded)
  requireWhole(silhouette)
  return enlargeMatte(opaque, matte(colours, silhouette, cleanGround(comparison, ground)))
}

function givenAlpha({ width, height, channels, data }: Bitmap): Plane | null {
  if (channels !== 4) return null
  const alpha = createPlane({ width, height })
  let clear = 0
  for (let i = 0; i < alpha.data.length; i++) {
    alpha.data[i] = data[4 * i + 3] / 255
    if (data[4 * i + 3] < 10) clear++
  }
  return clear > 0.02 * alpha.data.length ? alpha : null
}

function onWhite({ width, height, channels, data }: Bitmap): Bitmap {
  if (channels === 3) return { width, height, channels, data }
  const rgb = new Uint8Array(width * height * 3)
  for (let i = 0, j = 0; j < rgb.length; i += 4, j += 3) {
    const share = data[i + 3] / 255
    for (let c = 0; c < 3; c++) rgb[j + c] = Math.round(data[i + c] * share + 255 * (1 - share))
  }
  return { width, height, channels: 3, data: rgb }
}

function workingSize({ width, height }: Size): Size {
  const share = Math.min(1, WORKING_SIDE / Math.max(width, height))
  return { width: Math.max(1, Math.round(width * share)), height: Math.max(1, Math.round(height * share)) }
}

function requirePlain(ground: Ground): void {
  if (ground.explained >= 0.4) return
  throw new DrapeError('RESULT_REJECTED', 'The product photo has no plain background to tell the garment from.')
}

function requireWhole(silhouette: Mask): void {
  const { width, height, data } = silhouette
  let touching = 0
  let area = 0
  for (let i = 0; i < data.length; i++) {
    if (!data[i]) continue
    area++
    const x = i % width
    if (x === 0 || x === width - 1 || i < width || i >= width * (height - 1)) touching++
  }
  requireArea(area / data.length, 0.05)
  if (touching <= 0.02 * 2 * (width + height) && area <= 0.92 * data.length) return
  throw new DrapeError('RESULT_REJECTED', 'The garment is cut off by the border of the product photo.')
}

function requireArea(share: number, least: number): void {
  if (share < least) throw new DrapeError('RESULT_REJECTED', 'No garment was found in the product photo.')
}

function shareAbove({ data }: Plane): number {
  let set = 0
  for (let i = 0; i < data.length; i++) if (data[i] > 0.5) set++
  return set / data.length
}

// Pixels that may stand for the ground when the edge is worked out: neither garment nor deep shadow.
function cleanGround({ difference }: GroundComparison, ground: Ground): Mask {
  const limit = 3 * groundTolerance(ground) + 8
  const clean = createMask(difference)
  for (let i = 0; i < clean.data.length; i++) clean.data[i] = difference.data[i] < limit ? 1 : 0
  return clean
}
