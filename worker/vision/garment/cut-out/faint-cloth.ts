import { connectedComponents, connectedToBorder } from '../../raster/components.ts'
import { distanceTo } from '../../raster/distance.ts'
import { gaussianBlur } from '../../raster/filter.ts'
import { below, countSet, intersect, invert, maskWhere, union, without } from '../../raster/mask.ts'
import { close, dilate, open } from '../../raster/morphology.ts'
import { createMask, longSide, type Mask, maskToPlane, type Plane } from '../../raster/plane.ts'
import { median } from '../../raster/statistics.ts'
import { addHoles } from './background-holes.ts'
import type { ComparedImage } from './shadow.ts'

// Min ΔE of a pixel from a background without noise, after a slight blur.
const FAINT = 0.6
/** Max ΔE of a region that is background. */
export const SAME = 0.15
// Shares of the long side and of the bitmap: blur of a strong edge by compression, and min area of an added region.
const SMEAR = 0.012
const LEAST = 0.002
const ROUNDING = 0.008

// Max ΔE of a pixel in an even background, and the px around it that are as even: cloth that has the background's colour is not even.
const EVEN_BACKGROUND = { difference: 0.3, around: 2 } as const

/**
 * Adds cloth that hardly differs from a background without any noise, such as white on white: every other region with an edge is
 * cloth. If nothing is added, returns the silhouette itself.
 */
export function addFaintCloth(image: ComparedImage, silhouette: Mask): Mask {
  const difference = gaussianBlur(image.comparison.difference, 1)
  const reached = reachedFromBorder(image.comparison.difference, below(difference, FAINT))
  const sure = below(difference, SAME)
  const background = addHoles(image, { background: reached, sure, inStripes: createMask(reached) })
  const cloth = invert(background)
  const smear = Math.ceil(SMEAR * longSide(silhouette))
  const known = dilate(silhouette, smear)
  const beyond = without(cloth, known)
  const added = keepCloth(open(beyond, 2), { image, difference, background })
  if (countSet(added) === 0) return silhouette
  // The blur between the known and the added cloth is cloth, too.
  const joined = close(union(silhouette, added), 2 * smear)
  const whole = open(intersect(cloth, joined), 1)
  // Compression leaves a ragged edge where the contrast is very low; the edge of the original silhouette is clean.
  const smooth = gaussianBlur(maskToPlane(whole), ROUNDING * longSide(whole))
  return union(silhouette, invert(below(smooth, 0.5)))
}

// The even background that is connected to the border, with its own uneven rim.
function reachedFromBorder(difference: Plane, faint: Mask): Mask {
  const { difference: limit, around } = EVEN_BACKGROUND
  const uneven = dilate(invert(below(difference, limit)), around)
  const near = dilate(connectedToBorder(invert(uneven)), around + 1)
  return intersect(faint, near)
}

// A share: a shadow is much fainter at its rim than inside; cloth is not.
const FADING = 0.4
// Min share of a part's pixels deep inside it.
const THICK = 0.1
// ΔE: an even patch around a product is a remnant of a manual cutout, mostly in one colour.
const EVEN = 0.02

// Lightness over the background's, after a blur that levels the noise of compression, and min share of such pixels in cloth: no shadow is
// brighter than its background.
const BRIGHTER = { light: 1.002, share: 0.3 } as const

function keepCloth(
  parts: Mask,
  { image, difference, background }: { image: ComparedImage; difference: Plane; background: Mask },
): Mask {
  const { labels, components } = connectedComponents(parts)
  const isLarge = components.map(({ area }) => area >= LEAST * labels.length)
  if (!isLarge.includes(true)) return createMask(parts)
  const depth = distanceTo(background)
  const light = gaussianBlur(image.comparison.light, 2)
  const seen = components.map(() => ({
    all: [] as number[],
    rim: [] as number[],
    inside: [] as number[],
    bright: 0,
    deep: 0,
  }))
  for (let i = 0; i < labels.length; i++) {
    if (labels[i] === 0 || !isLarge[labels[i] - 1]) continue
    const part = seen[labels[i] - 1]
    const { all, rim, inside } = part
    const value = difference.data[i]
    if (light.data[i] > BRIGHTER.light) part.bright++
    all.push(value)
    if (depth.data[i] >= 3 && depth.data[i] < 6) rim.push(value)
    if (depth.data[i] < 10) continue
    part.deep++
    if (depth.data[i] < 18) inside.push(value)
  }
  const kept = seen.map(({ all, rim, inside, bright, deep }, k) => {
    if (!isLarge[k]) return false
    const middle = median(all)
    if (bright > BRIGHTER.share * all.length) return true
    const isEven = all.filter((value) => Math.abs(value - middle) < EVEN).length > 0.6 * all.length
    // A thin strip beside the garment is mostly its shadow.
    if (deep < THICK * all.length) return false
    return middle > SAME && !isEven && median(rim) >= FADING * median(inside)
  })
  return maskWhere(parts, (i) => labels[i] > 0 && kept[labels[i] - 1])
}
