import { gaussianBlur, gradientLength } from '../raster/filter.ts'
import { type Colours, channelOf, createPlane, type Plane } from '../raster/plane.ts'
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

/** Compares a picture (CIE Lab) with its ground. */
export function compareWithGround(lab: Colours, { surface }: Ground): GroundComparison {
  const { width, height, data } = lab
  const difference = createPlane(lab)
  const light = createPlane(lab)
  const tint = createPlane(lab)
  const rows = [0, 1, 2].map((channel) => rowCurves(surface, channel, height))
  for (let y = 0, i = 0, j = 0; y < height; y++) {
    const [l0, l1, l2] = rows.map((row) => row[y])
    for (let x = 0; x < width; x++, i++, j += 3) {
      const u = (2 * x) / width - 1
      const groundL = l0.start + u * (l0.slope + u * l0.bend)
      const groundA = l1.start + u * (l1.slope + u * l1.bend)
      const groundB = l2.start + u * (l2.slope + u * l2.bend)
      const dl = data[j] - groundL
      const da = data[j + 1] - groundA
      const db = data[j + 2] - groundB
      difference.data[i] = Math.sqrt(dl * dl + da * da + db * db)
      const ratio = Math.min(2, Math.max(0, data[j] / Math.max(1, groundL)))
      light.data[i] = ratio
      const ta = data[j + 1] - ratio * groundA
      const tb = data[j + 2] - ratio * groundB
      tint.data[i] = Math.sqrt(ta * ta + tb * tb)
    }
  }
  return { difference, light, tint, gradient: gradientLength(gaussianBlur(channelOf(lab, 0), 1)) }
}

// One channel of the ground along every row of the picture: start + slope · x + bend · x².
function rowCurves(surface: Float64Array, channel: number, height: number) {
  const [one, ofX, ofY, ofXX, ofXY, ofYY] = [0, 1, 2, 3, 4, 5].map((term) => surface[term * 3 + channel])
  return Array.from({ length: height }, (_, row) => {
    const y = (2 * row) / height - 1
    return { start: one + ofY * y + ofYY * y * y, slope: ofX + ofXY * y, bend: ofXX }
  })
}
