import { DrapeError } from '../../../api/shared/contract/errors.ts'
import { cutOut } from '../garment/cut-out/cut-out.ts'
import type { CutOut } from '../garment/garment.ts'
import { distanceToPalette, paletteOf } from '../garment/garment-palette.ts'
import type { Box } from '../person/person.ts'
import type { Cluster } from '../raster/clusters.ts'
import { type Lab, rgbToLab } from '../raster/colour.ts'
import { boundsOf } from '../raster/crop.ts'
import { gaussianBlur } from '../raster/filter.ts'
import { subset, threshold } from '../raster/mask.ts'
import { erode } from '../raster/morphology.ts'
import {
  type Bitmap,
  bitmapToColours,
  type Colours,
  channelOf,
  coloursToBitmap,
  type Mask,
  type Pixels,
} from '../raster/plane.ts'
import { resizeAreaColours } from '../raster/sample.ts'
import { meanOf } from './mean.ts'

/** The expected appearance of a product on a person, measured in its photo. */
export interface Product {
  /** Main colours of the garment, in CIE Lab. */
  readonly palette: readonly Cluster[]
  readonly mean: Lab
  /** Height of the garment over its width. */
  readonly ratio: number
  /** Offset of the print's centre to the right of the middle, in half widths; null without a print. */
  readonly print: number | null
  /** See `detailOf`. */
  readonly detail: number
}

const SIDE = 256

/**
 * Measures the garment of a product photo; null if the garment cannot be separated from its surroundings, as on a person. A photo with
 * transparency is already cut out.
 */
export function describeProduct(photo: Bitmap | Pixels): Product | null {
  const cut = cutOutSmall(photo)
  if (!cut) return null
  const lab = rgbToLab(bitmapToColours(cut.colours))
  const inside = threshold(cut.alpha, 0.95)
  const bounds = boundsOf(inside)
  const mean = meanOf(lab, inside)
  const palette = paletteOf(lab, inside)
  if (!bounds || !mean || palette.length === 0) return null
  return {
    palette,
    mean,
    ratio: bounds.height / bounds.width,
    print: findPrint(lab, chestOf(inside, bounds), palette),
    detail: detailOf(lab, erode(inside, 3)),
  }
}

function cutOutSmall(photo: Bitmap | Pixels): CutOut | null {
  const scale = Math.min(1, SIDE / Math.max(photo.width, photo.height))
  const size = { width: Math.ceil(photo.width * scale), height: Math.ceil(photo.height * scale) }
  try {
    return cutOut(coloursToBitmap(resizeAreaColours(photo, size)))
  } catch (error) {
    if (error instanceof DrapeError) return null
    throw error
  }
}

// Without sleeves.
function chestOf(inside: Mask, { x, y, width, height }: Box): Mask {
  return subset(inside, (i) => {
    const across = ((i % inside.width) - x) / width
    const down = (Math.floor(i / inside.width) - y) / height
    return across > 0.25 && across < 0.75 && down > 0.12
  })
}

/** Root mean square difference between the lightness within a mask and its local mean over 1/25 of the mask's width. */
export function detailOf(lab: Colours, mask: Mask): number {
  const bounds = boundsOf(mask)
  if (!bounds) return 0
  const lightness = channelOf(lab, 0)
  const smooth = gaussianBlur(lightness, Math.max(1, bounds.width / 25))
  let [sum, count] = [0, 0]
  for (let i = 0; i < mask.data.length; i++) {
    if (!mask.data[i]) continue
    sum += (lightness.data[i] - smooth.data[i]) ** 2
    count++
  }
  return Math.sqrt(sum / Math.max(1, count))
}

const PRINT = { from: 0.02, to: 0.5 } as const

/**
 * Centre of the region whose colour differs from most of the mask, in half widths to the right of its middle; null if that region is not a
 * print.
 */
export function findPrint(lab: Colours, mask: Mask, palette: readonly Cluster[]): number | null {
  const bounds = boundsOf(mask)
  const [main] = palette
  if (!bounds || !main) return null
  let [all, count, sum] = [0, 0, 0]
  for (let i = 0; i < mask.data.length; i++) {
    if (!mask.data[i]) continue
    all++
    if (distanceToPalette(lab, i, [main]) < 16) continue
    count++
    sum += (i % mask.width) - bounds.x - bounds.width / 2
  }
  return count < PRINT.from * all || count > PRINT.to * all ? null : sum / count / (bounds.width / 2)
}
