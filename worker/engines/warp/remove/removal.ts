import { below, invert } from '../../../vision/raster/mask.ts'
import { dilate } from '../../../vision/raster/morphology.ts'
import type { Colours, Mask, Plane } from '../../../vision/raster/plane.ts'
import type { Reduced } from '../../../vision/raster/reduce.ts'
import type { WornLower } from '../fit/lower/fitting.ts'
import { BACKGROUND_MARGIN, MAYBE_PERSON } from './tuning.ts'

/** Replacement of a worn garment's pixel that the new garment does not hide, from back to front. */
export const KEEP = 0
export const BACKGROUND = 1
export const LOWER = 2
export const SKIN = 3
/** A narrow strip along the new garment, which is drawn slightly larger there. */
export const GARMENT = 4

/** The clothes worn on the upper body. */
export interface WornGarment {
  /** All pixels of the worn upper garment, including its prints. */
  readonly mask: Mask
  /** Pixels that can be replaced, with a rim that mask and labels missed. */
  readonly removable: Mask
  /** Removable pixels along the person's edge that resemble the background. */
  readonly backgroundLike: Mask
  /** The garment's colour at every pixel, smoothly extrapolated, in CIE Lab. */
  readonly cloth: Reduced
  /** The scene without the person in CIE Lab. */
  readonly background: Reduced
}

/** Removal of the worn garment where the new garment does not hide it. */
export interface UpperRemoval {
  /** The replacement: premultiplied sRGB with alpha, 0 to 255, in the size of the analysed bitmap. */
  readonly layer: Colours
  /** Replacement per pixel: KEEP, BACKGROUND, LOWER, SKIN or GARMENT. */
  readonly zones: Uint8Array
  readonly worn: WornGarment
  readonly warnings: readonly string[]
}

/** Removal of the worn lower garment where the new garment does not hide it. */
export interface LowerRemoval {
  /** The replacement: premultiplied sRGB with alpha, 0 to 255, in the size of the analysed bitmap. */
  readonly layer: Colours
  /** Pixels replaced by background. */
  readonly background: Mask
  readonly worn: WornLower
  readonly warnings: readonly string[]
}

/** The person with a margin: the mask is unreliable at its edge, and a rim of cloth would colour the background. `unit` is the body unit in px. */
export function nearPerson(mask: Plane, unit: number): Mask {
  return dilate(invert(below(mask, MAYBE_PERSON)), BACKGROUND_MARGIN * unit)
}
