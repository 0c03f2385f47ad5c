import type { Colours, Plane } from '../../../raster/plane.ts'
import type { Layer } from '../../../raster/remap.ts'

/** One sleeve in the shape it takes on a person. */
export interface SleeveLayer {
  /** 0 = the picture's left arm, 1 = its right arm. */
  readonly side: 0 | 1
  readonly layer: Layer
  /** Position across the sleeve in 127ths: −127 at the outer edge, 0 in the middle and outside of the sleeve, 127 at the inner edge. */
  readonly across: Int8Array
}

/** A garment in the shape it takes on a person; all of the output's size. */
export interface UpperLayers {
  readonly torso: Layer
  /** The inside of the back that shows through the neck opening. */
  readonly back: Layer
  readonly sleeves: readonly SleeveLayer[]
  /** Share of the torso, and of each sleeve in order, that is turned over itself, 0 to 1. */
  readonly folds: { readonly torso: number; readonly sleeves: readonly number[] }
  readonly warnings: readonly string[]
}

/** A lower garment in the shape it takes on a person: premultiplied sRGB with alpha, 0 to 255, back to front. */
export interface LowerLayers {
  readonly pieces: readonly Layer[]
  readonly warnings: readonly string[]
}

/** A garment's layers seen as one picture. */
export interface FlatGarment {
  /** The sleeves over the torso: premultiplied sRGB with alpha, 0 to 255. */
  readonly colours: Colours
  /** How much of each pixel the whole garment, its torso and its sleeves cover, 0 to 1. */
  readonly cover: Plane
  readonly torso: Plane
  readonly sleeves: Plane
  /** One plane a sleeve, in the layers' order. */
  readonly eachSleeve: readonly Plane[]
}
