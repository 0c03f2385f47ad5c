import type { EngineResult } from '../../worker/engines/engine.ts'
import { rgbToLab } from '../../worker/vision/raster/colour.ts'
import { maskWhere, subset } from '../../worker/vision/raster/mask.ts'
import { dilate, erode } from '../../worker/vision/raster/morphology.ts'
import { type Bitmap, bitmapToColours, createMask, type Mask } from '../../worker/vision/raster/plane.ts'
import { fillCapsules } from '../../worker/vision/raster/polygon.ts'
import { medianOf } from '../../worker/vision/raster/statistics.ts'
import { move, subtract, unit } from '../../worker/vision/raster/vector.ts'
import { landmarkError } from './landmark-error.ts'
import type { KnownFigure, Pair } from './pair.ts'
import { perceptualDistance } from './perceptual.ts'
import { structuralSimilarity } from './similarity.ts'
import { underFronts } from './under-fronts.ts'

/** Quality of one result, measured against the known truth of the rendered images; null without a truth. */
export interface Quality {
  /** Mean distance of the garment's landmarks from the true ones, in % of the body's height. */
  readonly landmarks: number | null
  /** Share of the worn garment's pixels that were changed, 0 to 1; under an open jacket only of those that its fronts hide. */
  readonly covered: number
  /** Overlap of the changed region with the region of the worn or the true new garment, 0 to 1. */
  readonly overlap: number | null
  /** Mean distance of that region's four sides from the true ones, in % of the body height. */
  readonly edges: number | null
  /** ΔE (CIE 1976) between the product's median colour and its colour on the person. */
  readonly colour: number
  /** Structural similarity to the true image within both garments, 1 if equal; and perceptual distance of both, in CIEDE2000. */
  readonly similarity: number | null
  readonly perceptual: number | null
  /** Changed pixels: of the face, of the hands, where the engine reports no change, and far from both garments. */
  readonly face: number
  readonly hands: number
  /** Share of the hair that is still visible, 0 to 1; null if the hair is unknown. */
  readonly hair: number | null
  readonly outside: number
  readonly stray: number
}

/** A result of the engine; `image` is the photo with the change blended in. */
export type Judged = Pick<EngineResult, 'image' | 'change' | 'landmarks'>

export function measureQuality(pair: Pair, result: Judged): Quality {
  const { figure, truth, name } = pair
  const changed = maskWhere(result.change, (i) => result.change.data[i] > 0.5)
  const touched = maskWhere(result.change, (i) => result.change.data[i] > 0)
  const old = figure.parts[name.part]
  const target = truth ? truth.parts[name.part] : old
  const both = maskWhere(old, (i) => old.data[i] === 1 || target.data[i] === 1)
  const region = dilate(both, 0.02 * figure.height)
  // Without a truth the length of the new garment is unknown.
  const near = truth ? both : maskWhere(both, (i) => both.data[i] === 1 || figure.person.data[i] === 1)
  const far = dilate(near, 0.15 * figure.height)
  return {
    landmarks: truth && result.landmarks ? landmarkError(result.landmarks, truth, name.part) : null,
    covered: share(pair.garment.open ? underFronts(old, result.landmarks) : old, changed),
    overlap: truth ? overlap(both, changed) : null,
    edges: truth ? edgeError(both, changed, figure.height) : null,
    colour: colourDifference(pair, result, target),
    similarity: truth ? structuralSimilarity(truth.bitmap, result.image, region) : null,
    perceptual: truth ? perceptualDistance(truth.bitmap, result.image, region) : null,
    face: count(faceOf(figure), touched),
    hands: count(handsOf(figure), touched),
    hair: figure.hair ? 1 - share(erode(figure.hair, 2), visibleChange(figure.bitmap, result.image)) : null,
    outside: countDifferences(figure.bitmap, result.image, touched),
    stray: countDifferences(figure.bitmap, result.image, far),
  }
}

function edgeError(truth: Mask, found: Mask, height: number): number {
  const [a, b] = [sidesOf(truth), sidesOf(found)]
  return a.reduce((sum, side, i) => sum + Math.abs(side - b[i]), 0) / 4 / (height / 100)
}

// Bounds of 99 % of the mask: left, right, top, bottom.
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

function faceOf({ joints, height, parts: { both }, person }: KnownFigure): Mask {
  const { left_eye: left, right_eye: right, nose } = joints
  const radius = 0.022 * height
  const face = fillCapsules(person, [left, right, nose], [radius, radius, radius])
  return subset(face, (i) => person.data[i] === 1 && both.data[i] === 0)
}

// Beyond the wrists by a finger's width, where a cuff ends; excludes the two edge pixels, which are mixed.
export function handsOf({ hands: known, joints, height, person, parts }: KnownFigure): Mask {
  if (known) return erode(known, 2)
  const chains = ['left', 'right'].flatMap((side) => {
    const [elbow, wrist] = [joints[`${side}_elbow`], joints[`${side}_wrist`]]
    if (!wrist.inside || wrist.occluded || wrist.y < 0) return []
    const along = unit(subtract(wrist, elbow))
    return [[move(wrist, along, 0.03 * height), move(wrist, along, 0.075 * height)]]
  })
  const bare = maskWhere(person, (i) => person.data[i] === 1 && parts.both.data[i] === 0)
  const hands = createMask(person)
  for (const chain of chains) {
    const hand = fillCapsules(person, chain, [0.02 * height, 0.02 * height])
    for (let i = 0; i < hands.data.length; i++) hands.data[i] |= hand.data[i] & bare.data[i]
  }
  return erode(hands, 2)
}

function colourDifference({ garment, figure }: Pair, { image, change }: Judged, target: Mask): number {
  const worn = erode(
    maskWhere(target, (i) => target.data[i] === 1 && change.data[i] === 1),
    0.012 * figure.height,
  )
  const laid = erode(garment.mask, 0.02 * garment.mask.height)
  const [a, b] = [medianLab(garment.bitmap, laid), medianLab(image, worn)]
  return Math.hypot(a[0] - b[0], a[1] - b[1], a[2] - b[2])
}

/** Median CIE Lab colour of a region. Not the mean: uncovered pixels within the region are not garment. */
export function medianLab(bitmap: Bitmap, mask: Mask): number[] {
  const lab = rgbToLab(bitmapToColours(bitmap))
  return [0, 1, 2].map((channel) => medianOf(lab, mask, channel))
}

// A darker or lighter strand is still a strand.
const VISIBLE = 24

function visibleChange(before: Bitmap, after: Bitmap): Mask {
  return maskWhere(before, (i) => {
    const apart = (c: number) => Math.abs(before.data[i * before.channels + c] - after.data[i * after.channels + c])
    return Math.max(apart(0), apart(1), apart(2)) > VISIBLE
  })
}

// Pixels outside the mask that differ between two bitmaps.
function countDifferences(a: Bitmap, b: Bitmap, mask: Mask): number {
  let n = 0
  for (let i = 0; i < mask.data.length; i++) {
    if (mask.data[i]) continue
    const [p, q] = [i * a.channels, i * b.channels]
    if (a.data[p] !== b.data[q] || a.data[p + 1] !== b.data[q + 1] || a.data[p + 2] !== b.data[q + 2]) n++
  }
  return n
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
