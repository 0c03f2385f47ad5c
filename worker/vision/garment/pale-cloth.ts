import { connectedComponents, connectedToBorder } from '../raster/components.ts'
import { gaussianBlur, gradientLength } from '../raster/filter.ts'
import { close, dilate, erode, open } from '../raster/morphology.ts'
import {
  createMask,
  invert,
  longSide,
  type Mask,
  maskToPlane,
  maskWhere,
  type Plane,
  threshold,
} from '../raster/plane.ts'
import { percentile } from '../raster/statistics.ts'
import { addHoles } from './background-holes.ts'
import { backgroundTolerance, type ComparedImage } from './shadow.ts'

// All values of this file were chosen on real photos of white clothes on light grey.

// Min change of ΔE per px at an edge: a fixed one, and relative to the 95th percentile along the border of the photo.
const EDGE = { least: 0.15, ofFrame: 2 } as const
// Px, at a long side of 768 px, of a break in an edge that does not let the background in.
const BREAK = 4
// Width of the border strip whose noise is measured, as a share of the short side.
const FRAME = 0.04

/**
 * A region of cloth: min share of the bitmap, min share of its pixels at `depth` px from its edge, min share of its edge that borders
 * on the background (a gap under a sleeve borders on cloth) or min share of pixels brighter than the background (no gap is), max
 * share of pixels that a shadow can explain, and min ΔE from the background.
 */
const CLOTH = { area: 0.002, depth: 8, thick: 0.1, free: 0.1, bright: 0.5, shadow: 0.5, difference: 1.5 } as const
// Max px between an edge and the background on which it borders.
const FREE = 1.9
// Min excess of a bright pixel's lightness, as a share of the background's.
const BRIGHTER = 0.008

// Max ΔE of an even background seen through a gap, in deviations of the background.
const EVEN = 2
// Blur of the added edge, as a share of the long side, and where it is cut: the edge found is that of the gradient, 1 to 2 px outside.
const ROUNDING = { blur: 0.004, above: 0.65 } as const

/**
 * Adds cloth whose colour is within the tolerance of the background, such as white on light grey: regions that an edge, even a weak
 * one, separates from the background all around, and that are no shadow. `known` are pixels that were judged before, garment or
 * not. If nothing is added, returns the silhouette itself.
 */
export function addPaleCloth(image: ComparedImage, silhouette: Mask, known: Mask): Mask {
  const { difference } = image.comparison
  const blurred = gaussianBlur(difference, 1)
  const background = reachedFromBorder(image, blurred)
  const beyond = maskWhere(background, (i) => background.data[i] === 0 && known.data[i] === 0)
  const added = keepCloth(open(beyond, 2), { image, blurred, background })
  if (added === null) return silhouette
  const joined = close(
    maskWhere(added, (i) => silhouette.data[i] === 1 || added.data[i] === 1),
    breakOf(difference),
  )
  // Folds and prints are enclosed by cloth, as the gap under a sleeve is: only the gap is even background.
  const even = EVEN * image.background.deviation
  const sure = maskWhere(joined, (i) => joined.data[i] === 0 && difference.data[i] < even)
  const around = connectedToBorder(invert(joined))
  const whole = invert(addHoles(image, { background: around, sure, inStripes: createMask(joined) }))
  const { blur, above } = ROUNDING
  const smooth = threshold(gaussianBlur(maskToPlane(whole), blur * longSide(whole)), above)
  return maskWhere(smooth, (i) => smooth.data[i] === 1 || silhouette.data[i] === 1)
}

// What resembles the background and is connected to the border without an edge between.
function reachedFromBorder({ background, comparison: { difference } }: ComparedImage, blurred: Plane): Mask {
  const steep = gradientLength(blurred)
  const edge = Math.max(EDGE.least, EDGE.ofFrame * frameSteepness(steep))
  const tolerance = backgroundTolerance(background)
  const passable = maskWhere(difference, (i) => difference.data[i] < tolerance && steep.data[i] < edge)
  const radius = breakOf(difference)
  return dilate(connectedToBorder(open(passable, radius)), radius)
}

function frameSteepness({ width, height, data }: Plane): number {
  const frame = Math.max(4, Math.round(FRAME * Math.min(width, height)))
  const values: number[] = []
  // The gradient is undefined at the border itself.
  for (let y = 2; y < height - 2; y++) {
    const isFrameRow = Math.min(y, height - 1 - y) < frame
    for (let x = 2; x < width - 2; x++) {
      if (!isFrameRow && x === frame) x = Math.max(x, width - frame)
      values.push(data[y * width + x])
    }
  }
  return percentile(values, 0.95)
}

interface Evidence {
  readonly image: ComparedImage
  readonly blurred: Plane
  readonly background: Mask
}

function keepCloth(parts: Mask, { image, blurred, background }: Evidence): Mask | null {
  const { width, height } = parts
  const { labels, components } = connectedComponents(parts)
  const isCandidate = components.map(({ area, left, top, right, bottom }) => {
    const isWhole = left > 0 && top > 0 && right < width && bottom < height
    return isWhole && area >= CLOTH.area * width * height
  })
  if (!isCandidate.includes(true)) return null
  const deep = erode(parts, CLOTH.depth - 0.4)
  const inside = erode(parts, 1)
  const nearBackground = dilate(background, FREE)
  const isShadow = shadowTest(image)
  const light = gaussianBlur(image.comparison.light, 1)
  const bright = 1 + Math.max(BRIGHTER, image.background.deviation / 100)
  const seen = components.map(() => ({ deep: 0, edge: 0, free: 0, bright: 0, shadow: 0, differences: [] as number[] }))
  for (let i = 0; i < labels.length; i++) {
    if (labels[i] === 0 || !isCandidate[labels[i] - 1]) continue
    const part = seen[labels[i] - 1]
    part.differences.push(blurred.data[i])
    if (isShadow(i)) part.shadow++
    if (light.data[i] > bright) part.bright++
    if (deep.data[i]) part.deep++
    if (inside.data[i]) continue
    part.edge++
    if (nearBackground.data[i]) part.free++
  }
  const kept = components.map(({ area }, k) => {
    const { deep, edge, free, shadow, differences } = seen[k]
    const isNoGap = free >= CLOTH.free * edge || seen[k].bright >= CLOTH.bright * area
    return (
      isCandidate[k] &&
      deep >= CLOTH.thick * area &&
      isNoGap &&
      shadow <= CLOTH.shadow * area &&
      percentile(differences, 0.5) > CLOTH.difference
    )
  })
  return kept.includes(true) ? maskWhere(parts, (i) => labels[i] > 0 && kept[labels[i] - 1]) : null
}

// Darker than the background and of its hue.
function shadowTest({ background, comparison }: ComparedImage): (index: number) => boolean {
  const { light, tint } = comparison
  const limit = Math.max(2.5, 4 * background.deviation)
  return (i) => light.data[i] < 1 && tint.data[i] < limit
}

function breakOf(plane: Plane): number {
  return Math.max(1, Math.round((BREAK * longSide(plane)) / 768))
}
