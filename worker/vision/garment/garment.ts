import type { Category } from '../../../api/shared/generations/generation.ts'
import type { Bitmap, Pixels, Plane, Point } from '../raster/plane.ts'

export type { Category }

/** Kind of garment by its outline, independent of the caller's classification. */
export type GarmentKind = 'top' | 'dress' | 'skirt' | 'trousers'

/**
 * How an upper garment was classified as a top or dress: by the caller, by its outline, or by default (top).
 */
export type KindFrom = 'words' | 'outline' | 'doubt'

/** A garment cutout: colours without the background's spill, and the coverage of each pixel. */
export interface CutOut {
  /** Straight (not premultiplied) sRGB, 3 channels. */
  readonly colours: Bitmap
  /** 0 to 1. */
  readonly alpha: Plane
  /** Whether the background has several colours, so that the outline is less certain. */
  readonly onBusyBackground: boolean
  /** Whether much of the cutout resembles the background, so that it can be a piece of it. */
  readonly doubtful: boolean
}

/** One half of the outline of a top or dress, as chains of points from the top down. */
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
 * A top or dress, rotated upright on a square canvas so that its symmetry axis is the column `axis`. Sides are ordered
 * [left, right] of the image; every position is in px of `image`.
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
  /** The front neckline from the left to the right neck corner, 61 points; the front is below, the inside of the back above. */
  readonly neckline: readonly Point[]
  /**
   * The edges of a front that is open from collar to hem, [left, right] of the image, from the neck corners down past the hem. The inside
   * of the back is visible between them. Null for a closed garment.
   */
  readonly openFront: readonly [readonly Point[], readonly Point[]] | null
  /** Whether the product photo shows a folded sleeve. Its outline is then that of the other sleeve. */
  readonly foldedSleeve: boolean
  /** Median width of the body part in px. */
  readonly torsoWidth: number
  /** Overlap of the mask with its mirror image, 0 to 1. */
  readonly symmetry: number
  /** Rotation of the photographed garment, in degrees. */
  readonly angle: number
}

interface LowerBase {
  /** Premultiplied sRGB with alpha, 0 to 255, 4 channels, upright on a square canvas. Every position is in px of this bitmap. */
  readonly image: Pixels
  readonly axis: number
  /** Upper edge from the left to the right corner of the image. */
  readonly waist: readonly Point[]
  /** Outer edges from the waist down, [left, right] of the image. */
  readonly sides: readonly [readonly Point[], readonly Point[]]
  /** Overlap of the mask with its mirror image, 0 to 1. */
  readonly symmetry: number
  /** Rotation of the photographed garment, in degrees. */
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
  /** Lower edge from the left to the right corner of the image. */
  readonly hem: readonly Point[]
}

export type LowerGarment = Trousers | Skirt
