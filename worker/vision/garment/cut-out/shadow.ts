import { gaussianBlur, gradientLength } from '../../raster/filter.ts'
import { type Colours, channelOf, createPlane, type Mask, type Plane } from '../../raster/plane.ts'
import type { Background } from './background.ts'

/** Comparison of every pixel with the background behind it. All planes have the size of the bitmap. */
export interface BackgroundComparison {
  /** ΔE to the background. */
  readonly difference: Plane
  /** Lightness over the background's lightness, 0 to 2. */
  readonly light: Plane
  /** Distance in a, b to the background's colour dimmed to this pixel's lightness: small in a shadow of any depth. */
  readonly tint: Plane
  /** Change of lightness per px, after a slight blur. */
  readonly gradient: Plane
}

/** A bitmap with its background model and the comparison. */
export interface ComparedImage {
  /** CIE Lab. */
  readonly lab: Colours
  readonly background: Background
  readonly comparison: BackgroundComparison
}

/** ΔE up to which a pixel counts as background. */
export function backgroundTolerance({ deviation }: Background): number {
  return Math.min(12, Math.max(2.5, 5 * deviation + 1.2))
}

/** Distance of a pixel's colour from those that the background has in shadows, in ΔE. */
export function distanceToShadow({ comparison: { light, tint } }: ComparedImage, pixel: number): number {
  const r = light.data[pixel]
  return tint.data[pixel] + 80 * Math.max(0, 0.45 - r) + 100 * Math.max(0, r - 1)
}

/** Compares a bitmap (CIE Lab) with its background. */
export function compareWithBackground(lab: Colours, background: Background): BackgroundComparison {
  const comparison = {
    difference: createPlane(lab),
    light: createPlane(lab),
    tint: createPlane(lab),
    gradient: gradientLength(gaussianBlur(channelOf(lab, 0), 1)),
  }
  for (let y = 0; y < lab.height; y++) compareRow(lab, background, { y, comparison })
  return comparison
}

/**
 * The comparison of a bitmap that differs from the compared one only in a and b, and only inside `changed`: lightness, and with it
 * `light` and `gradient`, are the same.
 */
export function compareHueAgain(
  lab: Colours,
  { background, comparison }: Omit<ComparedImage, 'lab'>,
  changed: Mask,
): BackgroundComparison {
  const { difference, tint } = comparison
  const again = {
    ...comparison,
    difference: { ...difference, data: difference.data.slice() },
    tint: { ...tint, data: tint.data.slice() },
  }
  for (let y = 0; y < lab.height; y++) {
    const row = changed.data.subarray(y * lab.width, (y + 1) * lab.width)
    if (row.includes(1)) compareRow(lab, background, { y, comparison: again, changed: row })
  }
  return again
}

function compareRow(
  { width, height, data }: Colours,
  { surface }: Background,
  {
    y,
    comparison: { difference, light, tint },
    changed = null,
  }: { y: number; comparison: BackgroundComparison; changed?: Uint8Array | null },
): void {
  const [l0, l1, l2] = rowCurve(surface, 0, (2 * y) / height - 1)
  const [a0, a1, a2] = rowCurve(surface, 1, (2 * y) / height - 1)
  const [b0, b1, b2] = rowCurve(surface, 2, (2 * y) / height - 1)
  for (let x = 0, i = y * width, j = 3 * i; x < width; x++, i++, j += 3) {
    if (changed && !changed[x]) continue
    const u = (2 * x) / width - 1
    const backgroundL = l0 + u * (l1 + u * l2)
    const backgroundA = a0 + u * (a1 + u * a2)
    const backgroundB = b0 + u * (b1 + u * b2)
    const dl = data[j] - backgroundL
    const da = data[j + 1] - backgroundA
    const db = data[j + 2] - backgroundB
    difference.data[i] = Math.sqrt(dl * dl + da * da + db * db)
    const ratio = Math.min(2, Math.max(0, data[j] / Math.max(1, backgroundL)))
    light.data[i] = ratio
    const ta = data[j + 1] - ratio * backgroundA
    const tb = data[j + 2] - ratio * backgroundB
    tint.data[i] = Math.sqrt(ta * ta + tb * tb)
  }
}

// One channel of the background along the row at `y` (−1 to 1): coefficients of 1, x, x².
function rowCurve(surface: Float64Array, channel: number, y: number): readonly [number, number, number] {
  const [one, ofX, ofY, ofXX, ofXY, ofYY] = [0, 1, 2, 3, 4, 5].map((term) => surface[term * 3 + channel])
  return [one + ofY * y + ofYY * y * y, ofX + ofXY * y, ofXX]
}
