import { gaussianBlur, gradientLength } from '../raster/filter.ts'
import { type Colours, channelOf, type Plane } from '../raster/plane.ts'
import type { Ground } from './ground.ts'

/** How every pixel compares with the ground behind it; all of the picture's size. */
export interface GroundComparison {
  /** ΔE to the ground. */
  readonly difference: Plane
  /** Lightness over the ground's lightness, 0 to 2. */
  readonly light: Plane
  /** Distance in a, b to the ground's colour dimmed to this pixel's lightness: small in a shadow of any depth. */
  readonly tint: Plane
  /** Change of lightness per px, after a slight blur. */
  readonly gradient: Plane
}

/** A picture beside what is known of its ground. */
export interface GroundedPicture {
  /** CIE Lab. */
  readonly lab: Colours
  readonly ground: Ground
  readonly comparison: GroundComparison
}

/** ΔE up to which a pixel counts as ground. */
export function groundTolerance({ deviation }: Ground): number {
  return Math.min(12, Math.max(2.5, 5 * deviation + 1.2))
}

/** Compares a picture (CIE Lab) with its ground. */
export function compareWithGround(lab: Colours, { surface }: Ground): GroundComparison {
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
      const groundL = l0 + u * (l1 + u * l2)
      const groundA = a0 + u * (a1 + u * a2)
      const groundB = b0 + u * (b1 + u * b2)
      const dl = data[j] - groundL
      const da = data[j + 1] - groundA
      const db = data[j + 2] - groundB
      difference[i] = Math.sqrt(dl * dl + da * da + db * db)
      const ratio = Math.min(2, Math.max(0, data[j] / Math.max(1, groundL)))
      light[i] = ratio
      const ta = data[j + 1] - ratio * groundA
      const tb = data[j + 2] - ratio * groundB
      tint[i] = Math.sqrt(ta * ta + tb * tb)
    }
  }
  const plane = (values: Float32Array): Plane => ({ width, height, data: values })
  const gradient = gradientLength(gaussianBlur(channelOf(lab, 0), 1))
  return { difference: plane(difference), light: plane(light), tint: plane(tint), gradient }
}

// One channel of the ground along the row at `y` (−1 to 1): factors of 1, x, x².
function rowCurve(surface: Float64Array, channel: number, y: number): readonly [number, number, number] {
  const [one, ofX, ofY, ofXX, ofXY, ofYY] = [0, 1, 2, 3, 4, 5].map((term) => surface[term * 3 + channel])
  return [one + ofY * y + ofYY * y * y, ofX + ofXY * y, ofXX]
}
