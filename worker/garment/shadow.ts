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

/** Compares a picture (CIE Lab) with its ground. */
export function compareWithGround(lab: Colours, { surface }: Ground): GroundComparison {
  const count = lab.width * lab.height
  const difference = new Float32Array(count)
  const light = new Float32Array(count)
  const tint = new Float32Array(count)
  for (let i = 0, j = 0; i < count; i++, j += 3) {
    const dl = lab.data[j] - surface.data[j]
    const da = lab.data[j + 1] - surface.data[j + 1]
    const db = lab.data[j + 2] - surface.data[j + 2]
    difference[i] = Math.sqrt(dl * dl + da * da + db * db)
    const ratio = Math.min(2, Math.max(0, lab.data[j] / Math.max(1, surface.data[j])))
    light[i] = ratio
    const ta = lab.data[j + 1] - ratio * surface.data[j + 1]
    const tb = lab.data[j + 2] - ratio * surface.data[j + 2]
    tint[i] = Math.sqrt(ta * ta + tb * tb)
  }
  const plane = (data: Float32Array): Plane => ({ width: lab.width, height: lab.height, data })
  const gradient = gradientLength(gaussianBlur(channelOf(lab, 0), 1))
  return { difference: plane(difference), light: plane(light), tint: plane(tint), gradient }
}
