import { connectedComponents, connectedToBorder } from '../raster/components.ts'
import { distanceTo } from '../raster/distance.ts'
import { gaussianBlur } from '../raster/filter.ts'
import { close, dilate, open } from '../raster/morphology.ts'
import { countSet, createMask, invert, type Mask, maskToPlane, maskWhere, type Plane, subset } from '../raster/plane.ts'
import { addHoles } from './background-holes.ts'
import type { ComparedImage } from './shadow.ts'

// Min ΔE of a pixel from a background without noise, after a slight blur.
const FAINT = 0.6
/** Max ΔE of a region that is background. */
export const SAME = 0.15
// Shares of the long side and of the bitmap: blur of a strong edge by compression, and min area of an added region.
const SMEAR = 0.012
const LEAST = 0.002
const ROUNDING = 0.004

/**
 * Adds cloth that hardly differs from its background, such as white on white: if the background has no noise at all, every other
 * region with an edge is cloth. Otherwise, or if nothing is added, returns the silhouette itself.
 */
export function addFaintCloth(image: ComparedImage, silhouette: Mask): Mask {
  if (!image.background.exact) return silhouette
  const difference = gaussianBlur(image.comparison.difference, 1)
  const where = (limit: number) => maskWhere(difference, (i) => difference.data[i] < limit)
  const reached = connectedToBorder(where(FAINT))
  const background = addHoles(image, { background: reached, sure: where(SAME), inStripes: createMask(reached) })
  const cloth = invert(background)
  const smear = Math.ceil(SMEAR * Math.max(silhouette.width, silhouette.height))
  const known = dilate(silhouette, smear)
  const beyond = subset(cloth, (i) => !known.data[i])
  const added = keepCloth(open(beyond, 2), { difference, depth: distanceTo(background) })
  if (countSet(added) === 0) return silhouette
  // The blur between the known and the added cloth is cloth, too.
  const joined = close(
    maskWhere(added, (i) => silhouette.data[i] === 1 || added.data[i] === 1),
    2 * smear,
  )
  const whole = open(
    subset(cloth, (i) => joined.data[i] === 1),
    1,
  )
  // Compression leaves a ragged edge where the contrast is very low; the edge of the original silhouette is clean.
  const smooth = gaussianBlur(maskToPlane(whole), ROUNDING * Math.max(whole.width, whole.height))
  return maskWhere(whole, (i) => smooth.data[i] >= 0.5 || silhouette.data[i] === 1)
}

// A share: a shadow is much fainter at its rim than inside; cloth is not.
const FADING = 0.4
// ΔE: an even patch around a product is a remnant of a manual cutout, mostly in one colour.
const EVEN = 0.02

function keepCloth(parts: Mask, { difference, depth }: { difference: Plane; depth: Plane }): Mask {
  const { labels, components } = connectedComponents(parts)
  const seen = components.map(() => ({ all: [] as number[], rim: [] as number[], inside: [] as number[] }))
  for (let i = 0; i < labels.length; i++) {
    if (labels[i] === 0) continue
    const { all, rim, inside } = seen[labels[i] - 1]
    const value = difference.data[i]
    all.push(value)
    if (depth.data[i] >= 3 && depth.data[i] < 6) rim.push(value)
    if (depth.data[i] >= 10 && depth.data[i] < 18) inside.push(value)
  }
  const kept = seen.map(({ all, rim, inside }) => {
    if (all.length < LEAST * labels.length) return false
    const middle = medianOf(all)
    const isEven = all.filter((value) => Math.abs(value - middle) < EVEN).length > 0.6 * all.length
    return middle > SAME && !isEven && medianOf(rim) >= FADING * medianOf(inside)
  })
  return maskWhere(parts, (i) => labels[i] > 0 && kept[labels[i] - 1])
}

function medianOf(values: readonly number[]): number {
  return values.length === 0 ? 0 : values.toSorted((a, b) => a - b)[values.length >> 1]
}
