import type { Colours, Plane } from '../../raster/plane.ts'

export interface SleeveLayer {
  /** 0 = the picture's left arm, 1 = its right arm. */
  readonly side: 0 | 1
  readonly layer: Colours
  /** Position across the sleeve: −1 at the outer edge, 0 in the middle, 1 at the inner edge; 0 outside of the sleeve. */
  readonly across: Plane
}

/** A garment in the shape it takes on a person; premultiplied sRGB with alpha, 0 to 255, all of the output's size. */
export interface GarmentLayers {
  readonly torso: Colours
  /** The inside of the back that shows through the neck opening. */
  readonly back: Colours
  readonly sleeves: readonly SleeveLayer[]
  /** Share of the torso, and of each sleeve in order, that is turned over itself, 0 to 1. */
  readonly folds: { readonly torso: number; readonly sleeves: readonly number[] }
  readonly warnings: readonly string[]
}
