import type { Category } from '../../api/shared/generation.ts'
import type { Bitmap, Pixels, Plane, Point } from '../raster/plane.ts'

export type { Category }

/** What the outline looks like, whatever the caller calls the product. */
export type GarmentKind = 'top' | 'dress' | 'skirt' | 'trousers'

/**
 * What says that an upper garment is a top or a dress: what the caller calls it, its outline, or neither; then it is taken for a top.
 */
export type KindFrom = 'words' | 'outline' | 'doubt'

/** A garment on its own: colours without the background's spill, and how much of each pixel it covers. */
export interface CutOut {
  /** Straight (not premultiplied) sRGB, 3 channels. */
  readonly colours: Bitmap
  /** 0 to 1. */
  readonly alpha: Plane
}

/** One half of a top's or dress's outline, as chains of points from the top down. */
export interface SideOutline {
  /** Neck corner → shoulder tip. */
  readonly shoulder: readonly Point[]
  /** Shoulder tip → armpit of a sleeveless garment. */
  readonly armhole?: readonly Point[]
  readonly sleeve?: {
    /** Shoulder tip → outer end of the cuff. */
    readonly outer: readonly Point[]
    /** Armpit → inner end of the cuff. */
    readonly inner: readonly Point[]
  }
  /** Armpit → hem corner. */
  readonly side: readonly Point[]
  /** Hem corner → middle of the hem. */
  readonly hem: readonly Point[]
}

/** Landmarks of one half; `neck` is the corner where collar and shoulder line meet. */
export interface SideLandmarks {
  readonly neck: Point
  readonly shoulder: Point
  readonly armpit: Point
  readonly hem: Point
  readonly sleeveOuter?: Point
  readonly sleeveInner?: Point
}

/**
 * A top or dress, turned upright on a square canvas so that its symmetry axis is the column `axis`. Sides are ordered
 * [picture left, picture right]; every position is in px of `image`.
 */
export interface UpperGarment {
  readonly kind: 'top' | 'dress'
  readonly kindFrom: KindFrom
  /** Premultiplied sRGB with alpha, 0 to 255, 4 channels. */
  readonly image: Pixels
  readonly axis: number
  readonly sides: readonly [SideOutline, SideOutline]
  readonly landmarks: readonly [SideLandmarks, SideLandmarks]
  readonly sleeved: boolean
  /** The front neckline from the left to the right neck corner, 61 points; below it lies the front, above it the inside of the back. */
  readonly neckline: readonly Point[]
  /**
   * The edges of a front that is open from collar to hem, [picture left, picture right], from the neck corners down past the hem: between
   * them the inside of the back shows. Null for a closed garment.
   */
  readonly openFront: readonly [readonly Point[], readonly Point[]] | null
  /** Whether the product photo shows a sleeve that lies folded; its outline is then that of the other one where both are alike. */
  readonly foldedSleeve: boolean
  /** Median width of the body part in px. */
  readonly torsoWidth: number
  /** Overlap of the mask with its mirror image, 0 to 1. */
  readonly symmetry: number
  /** How far the photographed garment was turned, in degrees. */
  readonly angle: number
}

interface LowerBase {
  /** Premultiplied sRGB with alpha, 0 to 255, 4 channels, upright on a square canvas; every position is in its px. */
  readonly image: Pixels
  readonly axis: number
  /** Upper edge from the picture's left corner to its right one. */
  readonly waist: readonly Point[]
  /** Outer edges from the waist down, [picture left, picture right]. */
  readonly sides: readonly [readonly Point[], readonly Point[]]
  /** Overlap of the mask with its mirror image, 0 to 1. */
  readonly symmetry: number
  /** How far the photographed garment was turned, in degrees. */
  readonly angle: number
}

export interface Trousers extends LowerBase {
  readonly kind: 'trousers'
  readonly crotch: Point
  /** Crotch → inner end of the hem. */
  readonly inseams: readonly [readonly Point[], readonly Point[]]
  /** Outer → inner end of each leg's hem. */
  readonly hems: readonly [readonly Point[], readonly Point[]]
}

export interface Skirt extends LowerBase {
  readonly kind: 'skirt'
  /** Lower edge from the picture's left corner to its right one. */
  readonly hem: readonly Point[]
}

export type LowerGarment = Trousers | Skirt
