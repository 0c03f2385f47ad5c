import { DrapeError } from '../../../../api/shared/contract/errors.ts'
import { copyRgb } from '../../composite/blend.ts'
import { onWhite } from '../../raster/bytes.ts'
import { rgbToLab } from '../../raster/colour.ts'
import { below, countSet, invert } from '../../raster/mask.ts'
import {
  type Bitmap,
  bitmapToColours,
  type Colours,
  createPlane,
  type Mask,
  type Plane,
  type Size,
} from '../../raster/plane.ts'
import { resizeAreaColours } from '../../raster/sample.ts'
import type { CutOut } from '../garment.ts'
import { type Background, fitBackground } from './background.ts'
import { addFaintCloth, SAME } from './faint-cloth.ts'
import { enlargeMatte, matte } from './matte.ts'
import { removeMirroredShadow } from './mirrored-shadow.ts'
import { silhouetteOfSalience } from './salience.ts'
import { type BackgroundComparison, backgroundTolerance, compareWithBackground } from './shadow.ts'
import { findSilhouette } from './silhouette.ts'

/** Longest side in px for the search of background and edge. */
const WORKING_SIDE = 768

/**
 * Cuts out the garment of a product photo at the photo's own size: on a plain background by colour, otherwise, and if `salience` is
 * given, by salience. A photo with transparency is already a cutout.
 * @throws DrapeError RESULT_REJECTED if no garment stands out from the background, or if the photo crops the garment.
 */
export function cutOut(bitmap: Bitmap, salience: Plane | null = null): CutOut {
  const alpha = givenAlpha(bitmap)
  if (alpha) {
    if (shareAbove(alpha) < 0.01) throw rejected('No garment was found in the product photo.')
    return { colours: copyRgb(bitmap), alpha, onBusyBackground: false, doubtful: false }
  }
  const opaque = onWhite(bitmap)
  const size = workingSize(bitmap)
  const colours = size.width === bitmap.width ? bitmapToColours(opaque) : resizeAreaColours(opaque, size)
  const lab = rgbToLab(colours)
  const { silhouette, clean, ...background } = salience ? onAnyBackground(lab, salience) : onPlainBackground(lab)
  return { ...enlargeMatte(opaque, matte(colours, silhouette, clean)), ...background }
}

interface Found {
  readonly silhouette: Mask
  /** Pixels that can represent the background when the edge is computed. */
  readonly clean: Mask
  readonly onBusyBackground: boolean
  readonly doubtful: boolean
}

function onAnyBackground(lab: Colours, salience: Plane): Found {
  const silhouette = silhouetteOfSalience(lab, salience)
  const problem = checkWhole(silhouette)
  if (problem) throw problem
  return { silhouette, clean: invert(silhouette), onBusyBackground: true, doubtful: false }
}

// Min share of the silhouette that resembles the background to doubt it: tiles do if the outline follows their joints, but so does a white
// garment on white.
const MAX_GROUND_INSIDE = 0.06

function shareOfBackground({ data }: Mask, { difference }: BackgroundComparison, background: Background): number {
  const limit = background.exact ? SAME : backgroundTolerance(background)
  let inside = 0
  let alike = 0
  for (let i = 0; i < data.length; i++) {
    if (!data[i]) continue
    inside++
    if (difference.data[i] < limit) alike++
  }
  return alike / Math.max(1, inside)
}

function onPlainBackground(lab: Colours): Found {
  const background = fitBackground(lab)
  if (background.explained < MIN_EXPLAINED)
    throw rejected('The product photo needs a plain background that differs from the garment.')
  const comparison = compareWithBackground(lab, background)
  const compared = { lab, background, comparison }
  const clear = removeMirroredShadow(findSilhouette(compared), compared)
  const whole = background.exact ? addFaintCloth(compared, clear) : clear
  const silhouette = checkWhole(whole) ? clear : whole
  const problem = checkWhole(silhouette)
  if (problem) throw problem
  const doubtful = shareOfBackground(silhouette, comparison, background) >= MAX_GROUND_INSIDE
  const clean = cleanBackground(comparison, background)
  const onBusyBackground = background.deviation > MAX_PLAIN_DEVIATION
  return { silhouette, clean, onBusyBackground, doubtful }
}

const MIN_EXPLAINED = 0.4
// Max ΔE between a plain background, with its grain, and the surface fitted to it. A wall or a floor exceeds it.
const MAX_PLAIN_DEVIATION = 4
const MIN_AREA = 0.05
const MAX_AREA = 0.92
const MAX_TOUCHING = 0.02

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

function workingSize({ width, height }: Size): Size {
  const share = Math.min(1, WORKING_SIDE / Math.max(width, height))
  return { width: Math.max(1, Math.round(width * share)), height: Math.max(1, Math.round(height * share)) }
}

// Shares of the bitmap, and of its border.
function measureSilhouette(silhouette: Mask): { area: number; touching: number } {
  const { width, height, data } = silhouette
  let touching = 0
  for (let x = 0; x < width; x++) touching += data[x] + (height > 1 ? data[(height - 1) * width + x] : 0)
  for (let y = 1; y < height - 1; y++) touching += data[y * width] + (width > 1 ? data[y * width + width - 1] : 0)
  return { area: countSet(silhouette) / data.length, touching: touching / (2 * (width + height)) }
}

function checkWhole(silhouette: Mask): DrapeError | null {
  const { area, touching } = measureSilhouette(silhouette)
  if (area < MIN_AREA) return rejected('No garment was found in the product photo.')
  if (touching <= MAX_TOUCHING && area <= MAX_AREA) return null
  return rejected('The garment is cut off by the border of the product photo.')
}

function rejected(message: string): DrapeError {
  return new DrapeError('RESULT_REJECTED', message)
}

function shareAbove({ data }: Plane): number {
  let set = 0
  for (let i = 0; i < data.length; i++) if (data[i] > 0.5) set++
  return set / data.length
}

// Pixels that can represent the background when the edge is computed: neither garment nor deep shadow.
function cleanBackground({ difference }: BackgroundComparison, background: Background): Mask {
  const limit = 3 * backgroundTolerance(background) + 8
  return below(difference, limit)
}
