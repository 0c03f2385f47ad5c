import type { ArmField } from '../../../../body/arm-field.ts'
import type { ArmProfile } from '../../../../body/arm-profile.ts'
import type { BodyFrame } from '../../../../body/body-frame.ts'
import type { Side, Sides } from '../../../../body/keypoints.ts'
import type { Parts } from '../../../../body/parts.ts'
import type { View } from '../../../../body/view.ts'
import type { UpperGarment } from '../../../../garment/garment.ts'
import type { Person } from '../../../../person/person.ts'
import type { Mask, Plane, Point } from '../../../../raster/plane.ts'
import type { PointGrid } from '../patch.ts'

/** Where one sleeve goes on a person. */
export interface SleevePlacement {
  readonly side: Side
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
  readonly hemCorners: Sides<Point>
  /** The edges of an open front from the neck corners down past the hem; null for a closed garment. */
  readonly openFront: Sides<readonly Point[]> | null
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

/** Where the body's pieces lie in the analysed picture. */
export interface Regions {
  readonly arms: Sides<ArmField>
  /** The face with ears, cut off below the chin. */
  readonly head: Mask
  /** The face inside of its outline; nothing where that is not known. */
  readonly face: Mask
  /** Bare arms from the shoulder to a little below the wrist as they would look without sleeves. */
  readonly limbs: Mask
  /** What of arms and hands lies in front of the garment's body, from just above the sleeve's end. */
  readonly uncovered: Mask
  /** What of the arms lies beyond the sleeves' ends, with the loose cloth around them; nothing for a garment without sleeves. */
  readonly beyondCuffs: Mask
  readonly hands: Mask
  /** Shoulders between neck corners, tips and joints. */
  readonly shoulders: Mask
  /** Hair, without what below the chin only has the colour of some hair or hat. */
  readonly hair: Mask
  /** Distance from the body's axis as a multiple of the torso's half width at that height; not negative. */
  readonly sideways: Plane
}

/** A person and where a garment lies on them; all in the analysed picture's px. */
export interface PlacedGarment {
  readonly person: Person
  readonly body: BodyFrame
  readonly parts: Parts
  readonly placement: Placement
}

export interface FittingRegions extends PlacedGarment {
  readonly regions: Regions
}

/** A top or dress that has been fitted: what all later stages work with. */
export interface UpperFitting extends FittingRegions {
  readonly kind: 'upper'
  /** What of the photo the garment and the worn one can touch. */
  readonly view: View
  readonly garment: UpperGarment
  /** By name, in px of the analysed picture. */
  readonly landmarks: Readonly<Record<string, Point>>
  readonly warnings: readonly string[]
}
