import { gaussianBlur, gradientLength } from '../raster/filter.ts'
import { type Colours, channelOf, type Plane } from '../raster/plane.ts'
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

/** Compares a bitmap (CIE Lab) with its background. */
export function compareWithBackground(lab: Colours, { surface }: Background): BackgroundComparison {
  const { width, height, data } = lab
  const difference = new Float32Array(width * height)
  const light = new Float32Array(width * height)
  const tint = new Float32Array(width * height)
  for (let y = 0, i = 0, j = 0; y < height; y++) {
    const [l0, l1, l2] = rowCurve(surface, 0, (2 * y) / height - 1)
    const [a0, a1, a2] = rowCurve(surface, 1, (2 * y) / height - 1)
    const [b0, b1, b2] = rowCurve(surface, 2, (2 * y) / height - 1)
    for (let x = 0; x < width; x++, i++, j += 3) {
      const u = (2 * x) / width - 1
      const backgroundL = l0 + u * (l1 + u * l2)
      const backgroundA = a0 + u * (a1 + u * a2)
      const backgroundB = b0 + u * (b1 + u * b2)
      const dl = data[j] - backgroundL
      const da = data[j + 1] - backgroundA
      const db = data[j + 2] - backgroundB
      difference[i] = Math.sqrt(dl * dl + da * da + db * db)
      const ratio = Math.min(2, Math.max(0, data[j] / Math.max(1, backgroundL)))
      light[i] = ratio
      const ta = data[j + 1] - ratio * backgroundA
      const tb = data[j + 2] - ratio * backgroundB
      tint[i] = Math.sqrt(ta * ta + tb * tb)
    }
  }
  const plane = (values: Float32Array): Plane => ({ width, height, data: values })
  const gradient = gradientLength(gaussianBlur(channelOf(lab, 0), 1))
  return { difference: plane(difference), light: plane(light), tint: plane(tint), gradient }
}

// One channel of the background along the row at `y` (−1 to 1): coefficients of 1, x, x².
function rowCurve(surface: Float64Array, channel: number, y: number): readonly [number, number, number] {
  const [one, ofX, ofY, ofXX, ofXY, ofYY] = [0, 1, 2, 3, 4, 5].map((term) => surface[term * 3 + channel])
  return [one + ofY * y + ofYY * y * y, ofX + ofXY * y, ofXX]
}
