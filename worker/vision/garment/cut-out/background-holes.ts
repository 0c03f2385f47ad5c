import { type Component, connectedComponents, connectedToBorder } from '../../raster/components.ts'
import { boundsOf } from '../../raster/crop.ts'
import { below, invert, union, without, withValue } from '../../raster/mask.ts'
import { erode, open } from '../../raster/morphology.ts'
import type { Mask } from '../../raster/plane.ts'
import { distanceToPalette, paletteOf } from '../garment-palette.ts'
import { backgroundTolerance, type ComparedImage } from './shadow.ts'

// Min distance of a gap between sleeve and body from the garment's middle, over the garment's width.
const BESIDE = 0.2
// Min area of a hole, as a share of the bitmap.
const SMALL = 0.0006

/** Background candidates: `sure` pixels match the background, `inStripes` pixels are unreliable. */
interface Candidates {
  readonly background: Mask
  readonly sure: Mask
  readonly inStripes: Mask
}

/**
 * Adds background visible through a gap, as between sleeve and body or below the band of a halter neck, and that band, which is behind
 * the neck of a wearer. A light print in the middle of a garment looks alike and stays.
 */
export function addHoles(image: ComparedImage, { background, sure, inStripes }: Candidates): Mask {
  const holes = enclosedParts(background, sure).filter((part) => isFlatBackground(image, part))
  const necks = holes.filter((part) => isBelowBand(background, part))
  const added = addParts(background, [...necks, ...holes.filter((part) => part.across > BESIDE)])
  for (const { left, right, bottom, labels, label } of necks) {
    for (let x = left; x < right; x++) {
      for (let y = 0; y < bottom && labels[y * added.width + x] !== label; y++) added.data[y * added.width + x] = 1
    }
  }
  return image.background.deviation > 0.5 ? addShadedHoles(image, added, inStripes) : added
}

interface Enclosed extends Component {
  readonly labels: Int32Array
  /** Distance between the centres of the region and the garment, over the garment's width. */
  readonly across: number
}

// Regions of a mask that are not connected to the background.
function enclosedParts(background: Mask, mask: Mask): Enclosed[] {
  const { width, height } = background
  const found = connectedComponents(without(mask, background), 4)
  const large = found.components.filter(({ area }) => area > SMALL * width * height)
  if (large.length === 0) return []
  const { labels } = found
  const garment = boundsOf(invert(background)) ?? { x: 0, width: width }
  return large.map((part) => {
    const middle = (part.left + part.right) / 2
    return { ...part, labels, across: Math.abs((middle - garment.x) / garment.width - 0.5) }
  })
}

// Max thickness of a band around the neck, and min height of the opening below it, over the garment's height.
const BAND = 0.07
const OPENING = 0.2

/** Whether only a band is above the region. A print has cloth above it. */
function isBelowBand({ width, height, data }: Mask, part: Enclosed): boolean {
  const rows = Array.from({ length: height }, (_, y) => data.subarray(y * width, (y + 1) * width).includes(0))
  const garmentHeight = rows.lastIndexOf(true) - rows.indexOf(true) + 1
  if (part.bottom - part.top < OPENING * garmentHeight) return false
  const thickness: number[] = []
  for (let x = part.left; x < part.right; x++) {
    let above = 0
    for (let y = 0; y < part.bottom && part.labels[y * width + x] !== part.label; y++) if (!data[y * width + x]) above++
    thickness.push(above)
  }
  thickness.sort((a, b) => a - b)
  return thickness[thickness.length >> 1] < BAND * garmentHeight
}

function addParts(background: Mask, parts: readonly Enclosed[]): Mask {
  const added: Mask = { ...background, data: background.data.slice() }
  for (const part of parts)
    forEachOf(part, background.width, (i) => {
      added.data[i] = 1
    })
  return added
}

function isFlatBackground({ background, comparison }: ComparedImage, part: Enclosed): boolean {
  const { width, data } = comparison.difference
  let sum = 0
  const gradients: number[] = []
  forEachOf(part, width, (i) => {
    sum += data[i]
    gradients.push(comparison.gradient.data[i])
  })
  gradients.sort((a, b) => a - b)
  return sum / part.area < 0.6 * backgroundTolerance(background) && gradients[gradients.length >> 1] < 0.5
}

// Min ΔE from all colours of the garment.
const UNLIKE = 14

// On a table a gap is in the shade of both its sides: all its pixels have the background's hue, and no pixel of the garment has.
function addShadedHoles(image: ComparedImage, background: Mask, inStripes: Mask): Mask {
  const { light, tint } = image.comparison
  const limit = Math.max(2.5, 4 * image.background.deviation)
  const shaded = withValue(below(tint, limit), light, { over: 0.45, under: 1 })
  const seen = union(background, without(shaded, inStripes))
  const enclosed = enclosedParts(connectedToBorder(seen), open(seen, 2))
  // If a region with that hue is in the middle of the garment, it is a print or a stripe, and so can be a region at the side.
  if (enclosed.length === 0 || enclosed.some(({ across }) => across <= BESIDE)) return background
  const cloth = invert(union(background, shaded))
  const palette = paletteOf(image.lab, erode(cloth, 2))
  if (palette.length === 0) return background
  const gaps = enclosed.filter((part) => {
    let sum = 0
    forEachOf(part, background.width, (i) => {
      sum += distanceToPalette(image.lab, i, palette)
    })
    return part.bottom - part.top > 1.5 * (part.right - part.left) && sum > UNLIKE * part.area
  })
  return addParts(background, gaps)
}

function forEachOf(part: Enclosed, width: number, visit: (index: number) => void): void {
  for (let y = part.top; y < part.bottom; y++) {
    for (let i = y * width + part.left; i < y * width + part.right; i++) if (part.labels[i] === part.label) visit(i)
  }
}
