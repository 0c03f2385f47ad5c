import type { Point } from '../../raster/plane.ts'
import type { ArmProfile } from './arm.ts'
import type { Sides } from './body.ts'

/** Rows of points; every row has the same length. */
export type PointGrid = readonly (readonly Point[])[]

export interface SleevePlacement {
  /** 0 = the picture's left arm, 1 = its right arm. */
  readonly side: 0 | 1
  /** The same grid in garment px and in person px: rows from shoulder to cuff, columns from the outer to the inner edge. */
  readonly source: PointGrid
  readonly target: PointGrid
  /** True when the sleeve reaches the wrist. */
  readonly long: boolean
  /** Where the sleeve ends: way from the shoulder joint along the bones in px. */
  readonly length: number
  readonly profile: ArmProfile
  /** The sleeve's edges on the person, from the shoulder down. */
  readonly outer: readonly Point[]
  readonly inner: readonly Point[]
}

/** Where every piece of a garment goes on a person; person positions in px of the analysed picture. */
export interface Placement {
  /** Matching points of the torso piece: garment px, and person px. */
  readonly source: readonly Point[]
  readonly target: readonly Point[]
  /** Outline of the torso piece in garment px. */
  readonly torso: readonly Point[]
  /** On the person: where the shoulder seams end, the armpits, and the corners of collar and shoulder line. */
  readonly tips: Sides<Point>
  readonly armpits: Sides<Point>
  readonly neckCorners: Sides<Point>
  /** The front neckline on the person, from the left to the right corner. */
  readonly neckline: readonly Point[]
  /** Empty for sleeveless garments. */
  readonly sleeves: readonly SleevePlacement[]
  readonly arms: Sides<ArmProfile>
  /** Body coordinate F of the new hem and of the worn garment's hem (0 when none was seen). */
  readonly hem: number
  readonly oldHem: number
  /** Vertical scale of the torso over its horizontal scale: 1 when the garment keeps its proportions. */
  readonly aspect: number
  readonly warnings: readonly string[]
}
