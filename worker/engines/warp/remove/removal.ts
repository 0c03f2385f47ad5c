import type { Colours, Mask } from '../../../raster/plane.ts'
import type { Reduced } from '../../../raster/reduce.ts'
import type { WornLower } from '../fit/lower/fitting.ts'

/** What takes the place of a pixel of the worn garment that the new one leaves open, from back to front. */
export const KEEP = 0
export const BACKGROUND = 1
export const LOWER = 2
export const SKIN = 3
/** A sliver along the new garment, which is drawn a little larger there. */
export const GARMENT = 4

/** What the person wears on the upper body. */
export interface WornGarment {
  /** Everything that the worn upper garment covers, its prints included. */
  readonly mask: Mask
  /** Its pixels that may be replaced, with a rim that the mask and the parts missed. */
  readonly removable: Mask
  /** Removable pixels along the person's edge that look like the background already. */
  readonly backgroundLike: Mask
  /** Its colour everywhere, carried on smoothly, in CIE Lab. */
  readonly cloth: Reduced
  /** The picture without the person in CIE Lab. */
  readonly background: Reduced
}

/** The worn garment taken away where the new one does not hide it. */
export interface UpperRemoval {
  /** What is seen instead: premultiplied sRGB with alpha, 0 to 255, the analysed picture's size. */
  readonly layer: Colours
  /** What was painted where: KEEP, BACKGROUND, LOWER, SKIN or GARMENT. */
  readonly zones: Uint8Array
  readonly worn: WornGarment
  readonly warnings: readonly string[]
}

/** The worn lower garment taken away where the new garment does not hide it. */
export interface LowerRemoval {
  /** What is seen instead: premultiplied sRGB with alpha, 0 to 255, the analysed picture's size. */
  readonly layer: Colours
  /** Pixels where background, and where skin was put. */
  readonly background: Mask
  readonly skin: Mask
  readonly worn: WornLower
  readonly warnings: readonly string[]
}
