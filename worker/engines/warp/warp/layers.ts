import type { Colours, Plane } from '../../../vision/raster/plane.ts'
import type { Layer } from '../../../vision/raster/remap.ts'

/** One sleeve, warped to the person. */
export interface SleeveLayer {
  /** 0 = the arm at the image's left, 1 = the arm at its right. */
  readonly side: 0 | 1
  readonly layer: Layer
  /** Position across the sleeve in 127ths: −127 at the outer edge, 0 in the middle and outside the sleeve, 127 at the inner edge. */
  readonly across: Int8Array
}

/** A garment warped to the person. All layers have the size of the output. */
export interface UpperLayers {
  readonly torso: Layer
  /** The inside of the back, visible through the neck opening. */
  readonly back: Layer
  readonly sleeves: readonly SleeveLayer[]
  /** Share of the torso, and of each sleeve in order, that is folded over, 0 to 1. */
  readonly folds: { readonly torso: number; readonly sleeves: readonly number[] }
  readonly warnings: readonly string[]
}

/** A lower garment warped to the person: premultiplied sRGB with alpha, 0 to 255, back to front. */
export interface LowerLayers {
  readonly pieces: readonly Layer[]
  readonly warnings: readonly string[]
}

/** A garment's layers flattened to one bitmap. */
export interface FlatGarment {
  /** The sleeves over the torso: premultiplied sRGB with alpha, 0 to 255. */
  readonly colours: Colours
  /** Coverage of each pixel by the whole garment, its torso and its sleeves, 0 to 1. */
  readonly cover: Plane
  readonly torso: Plane
  readonly sleeves: Plane
}
