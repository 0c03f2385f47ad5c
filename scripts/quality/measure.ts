import { rgbToLab } from '../../worker/raster/colour.ts'
import { gaussianBlurColours } from '../../worker/raster/filter.ts'
import { dilate, erode } from '../../worker/raster/morphology.ts'
import type { Bitmap, Mask, Plane } from '../../worker/raster/plane.ts'
import { bitmapToColours, maskWhere } from '../../worker/raster/plane.ts'
import { fillCapsules } from '../../worker/raster/polygon.ts'
import { medianOf } from '../../worker/raster/statistics.ts'
import type { KnownFigure, Pair } from './pair.ts'

/** How good one result is, by what is known about the rendered pictures. */
export interface Quality {
  /** Share of the worn garment's pixels that were changed, 0 to 1. */
  readonly covered: number
  /** Overlap of the changed region with where the worn or the true new garment is, 0 to 1; null without a truth. */
  readonly overlap: number | null
  /** Mean distance of that region's four sides from where they should be, in % of the body's height; null without a truth. */
  readonly edges: number | null
  /** ΔE (CIE 1976) of the product's median colour to its colour on the person. */
  readonly colour: number
  /** Mean ΔE to the true picture within both garments, after a blur of 1 % of the body height; null without a truth. */
  readonly likeness: number | null
  /** Pixels of the face, and of all that lies far from the person, that were changed. */
  readonly face: number
  readonly outside: number
}

export function measureQuality(pair: Pair, result: { image: Bitmap; change: Plane }): Quality {
  const { figure, truth, name } = pair
  const changed = maskWhere(result.change, (i) => result.change.data[i] > 0.5)
  const touched = maskWhere(result.change, (i) => result.change.data[i] > 0)
  const old = figure.parts[name.part]
  const target = truth ? truth.parts[name.part] : old
  const both = maskWhere(old, (i) => old.data[i] === 1 || target.data[i] === 1)
  const far = dilate(
    maskWhere(both, (i) => both.data[i] === 1 || figure.person.data[i] === 1),
    0.12 * figure.height,
  )
  return {
    covered: share(old, changed),
    overlap: truth ? overlap(both, changed) : null,
    edges: truth ? edgeError(both, changed, figure.height) : null,
    colour: colourDifference(pair, result, target),
    likeness: truth ? likeness(truth, result.image, both) : null,
    face: count(faceOf(figure), touched),
    outside: count(
      maskWhere(far, (i) => far.data[i] === 0),
      touched,
    ),
  }
}

function edgeError(truth: Mask, found: Mask, height: number): number {
  const [a, b] = [sidesOf(truth), sidesOf(found)]
  return a.reduce((sum, side, i) => sum + Math.abs(side - b[i]), 0) / 4 / (height / 100)
}

// Columns and rows within which 99 % of the mask lie: left, right, top, bottom.
function sidesOf({ width, data }: Mask): number[] {
  const xs: number[] = []
  const ys: number[] = []
  for (let i = 0; i < data.length; i++) {
    if (!data[i]) continue
    xs.push(i % width)
    ys.push(Math.floor(i / width))
  }
  return [xs, ys].flatMap((values) => {
    const sorted = Float64Array.from(values).sort()
    return [0.005, 0.995].map((share) => sorted[Math.floor(share * (sorted.length - 1))] ?? 0)
  })
}

function faceOf({ joints, height, person }: KnownFigure): Mask {
  const { left_eye: left, right_eye: right, nose } = joints
  return fillCapsules(person, [left, right, nose], [0.012 * height, 0.012 * height, 0.012 * height])
}

function colourDifference(
  { garment, figure }: Pair,
  { image, change }: { image: Bitmap; change: Plane },
  target: Mask,
): number {
  const worn = erode(
    maskWhere(target, (i) => target.data[i] === 1 && change.data[i] === 1),
    0.012 * figure.height,
  )
  const laid = erode(garment.mask, 0.02 * garment.mask.height)
  const [a, b] = [medianLab(garment.picture, laid), medianLab(image, worn)]
  return Math.hypot(a[0] - b[0], a[1] - b[1], a[2] - b[2])
}

// Medians, because what the garment leaves open within the region is no garment.
function medianLab(picture: Bitmap, mask: Mask): number[] {
  const lab = rgbToLab(bitmapToColours(picture))
  return [0, 1, 2].map((channel) => medianOf(lab, mask, channel))
}

function likeness(truth: KnownFigure, image: Bitmap, region: Mask): number {
  const soft = (picture: Bitmap) => rgbToLab(gaussianBlurColours(bitmapToColours(picture), 0.01 * truth.height)).data
  const [a, b] = [soft(truth.picture), soft(image)]
  let sum = 0
  let n = 0
  for (let i = 0, k = 0; i < region.data.length; i++, k += 3) {
    if (!region.data[i]) continue
    n++
    sum += Math.hypot(a[k] - b[k], a[k + 1] - b[k + 1], a[k + 2] - b[k + 2])
  }
  return sum / n
}

function count(a: Mask, b: Mask): number {
  let n = 0
  for (let i = 0; i < a.data.length; i++) n += a.data[i] & b.data[i]
  return n
}

function share(of: Mask, within: Mask): number {
  return count(of, within) / Math.max(1, count(of, of))
}

function overlap(a: Mask, b: Mask): number {
  const both = count(a, b)
  return both / Math.max(1, count(a, a) + count(b, b) - both)
}
