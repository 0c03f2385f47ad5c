import type { ArmField } from '../../../../vision/body/arm-field.ts'
import type { ArmProfile } from '../../../../vision/body/arm-profile.ts'
import type { BodyFrame } from '../../../../vision/body/body-frame.ts'
import type { Side, Sides } from '../../../../vision/body/keypoints.ts'
import type { Parts } from '../../../../vision/body/parts.ts'
import type { View } from '../../../../vision/body/view.ts'
import type { UpperGarment } from '../../../../vision/garment/garment.ts'
import type { Person } from '../../../../vision/person/person.ts'
import type { Mask, Plane, Point } from '../../../../vision/raster/plane.ts'
import type { PointGrid } from '../patch.ts'

/** Position of one sleeve on a person. */
export interface SleevePlacement {
  readonly side: Side
  /** The same grid in garment px and in person px: rows from shoulder to cuff, columns from the outer to the inner edge. */
  readonly source: PointGrid
  readonly target: PointGrid
  /** True when the sleeve reaches the wrist. */
  readonly long: boolean
  /** End of the sleeve: px from the shoulder joint along the bones. */
  readonly length: number
  readonly profile: ArmProfile
  /** The sleeve's edges on the person, from the shoulder down. */
  readonly outer: readonly Point[]
  readonly inner: readonly Point[]
}

/** Position of all pieces of a garment on a person, in px of the analysed bitmap. */
export interface Placement {
  /** Matching points of the torso piece: garment px, and person px. */
  readonly source: readonly Point[]
  readonly target: readonly Point[]
  /** Outline of the torso piece in garment px. */
  readonly torso: readonly Point[]
  /** On the person: ends of the shoulder seams, armpits, and corners between collar and shoulder line. */
  readonly tips: Sides<Point>
  readonly armpits: Sides<Point>
  readonly neckCorners: Sides<Point>
  /** The front neckline on the person, from the left to the right corner. */
  readonly neckline: readonly Point[]
  readonly hemCorners: Sides<Point>
  /** The edges of an open front from the neck corners down past the hem; null for a closed garment. */
  readonly openFront: Sides<readonly Point[]> | null
  /** Empty for sleeveless garments. */
  readonly sleeves: readonly SleevePlacement[]
  readonly arms: Sides<ArmProfile>
  /** Body coordinate F of the new hem, and of the worn garment's hem (0 if not visible). */
  readonly hem: number
  readonly oldHem: number
  /** Vertical scale of the torso over its horizontal scale: 1 if the garment keeps its proportions. */
  readonly aspect: number
  readonly warnings: readonly string[]
}

/** Regions of the body in the analysed bitmap. */
export interface Regions {
  readonly arms: Sides<ArmField>
  /** The face with ears, cut off below the chin. */
  readonly head: Mask
  /** The face inside its outline; empty if the outline is unknown. */
  readonly face: Mask
  /** Bare arms without sleeves, from the shoulder to slightly below the wrist. */
  readonly limbs: Mask
  /** Parts of arms and hands in front of the garment's body, from just above the end of the sleeve. */
  readonly uncovered: Mask
  /** Parts of the arms beyond the ends of the sleeves, with the loose cloth around them; empty for a sleeveless garment. */
  readonly beyondCuffs: Mask
  readonly hands: Mask
  /** Shoulders between neck corners, tips and joints. */
  readonly shoulders: Mask
  /** Distance from the body's axis as a multiple of the torso's half width at that height; at least 0. */
  readonly sideways: Plane
}

/** A person and the position of a garment, in px of the analysed bitmap. */
export interface PlacedGarment {
  readonly person: Person
  readonly body: BodyFrame
  readonly parts: Parts
  readonly placement: Placement
}

export interface FittingRegions extends PlacedGarment {
  readonly regions: Regions
}

/** A fitted top or dress: the input of all later stages. */
export interface UpperFitting extends FittingRegions {
  readonly kind: 'upper'
  /** The part of the photo that the new or the worn garment can cover. */
  readonly view: View
  readonly garment: UpperGarment
  /** By name, in px of the analysed bitmap. */
  readonly landmarks: Readonly<Record<string, Point>>
  readonly warnings: readonly string[]
}
