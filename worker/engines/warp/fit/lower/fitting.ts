import type { BodyFrame } from '../../../../body/body-frame.ts'
import type { BoneField } from '../../../../body/bone-field.ts'
import type { Sides } from '../../../../body/keypoints.ts'
import type { LegProfile } from '../../../../body/leg-profile.ts'
import type { Parts } from '../../../../body/parts.ts'
import type { View } from '../../../../body/view.ts'
import type { LowerGarment } from '../../../../garment/garment.ts'
import type { Person } from '../../../../person/person.ts'
import type { Mask, Point } from '../../../../raster/plane.ts'
import type { Reduced } from '../../../../raster/reduce.ts'
import type { PointGrid } from '../patch.ts'

/** Where the worn garments meet, as body coordinates F. */
export interface WornWaist {
  /** Highest row in whose middle the worn lower garment is seen; 0 when none is. */
  readonly lowerTop: number
  /** Lowest row in whose middle the worn top is seen. */
  readonly topHem: number
}

/** A piece of a lower garment: the same grid in garment px and in px of the analysed picture. */
export interface Piece {
  readonly source: PointGrid
  readonly target: PointGrid
}

/** Where a lower garment goes on a person; person positions in px of the analysed picture. */
export interface LowerPlacement {
  /** Back to front. */
  readonly pieces: readonly Piece[]
  /** Body coordinate F of the waistband. */
  readonly waist: number
  /** How far each leg is covered, in px along its bones; the hip joint is 0. */
  readonly covered: Sides<number>
  readonly legs: Sides<LegProfile>
  readonly worn: WornWaist
  /** By name, `_l` and `_r` the picture's left and right. */
  readonly landmarks: Readonly<Record<string, Point>>
  readonly warnings: readonly string[]
}

/** The legs of a person on whom a garment is placed. */
export interface PlacedLegs {
  readonly person: Person
  readonly body: BodyFrame
  readonly parts: Parts
  readonly legs: Sides<LegProfile>
  /** Nearness to each leg's bones, hip to a little below the ankle. */
  readonly fields: Sides<BoneField>
  /** Where each leg comes out of the new garment: way from the hip in px. */
  readonly covered: Sides<number>
}

/** What the person wears on hips and legs. */
export interface WornLower {
  readonly mask: Mask
  /** Its colour everywhere, carried on smoothly, in CIE Lab. */
  readonly cloth: Reduced
  /** Forearms and hands, which may lie before it. */
  readonly arms: Mask
}

/** The same with what hips and legs wear. */
export interface FittedLegs extends PlacedLegs {
  readonly worn: WornLower
}

/** Trousers or a skirt that have been fitted: what all later stages work with. */
export interface LowerFitting extends FittedLegs {
  readonly kind: 'lower'
  readonly view: View
  readonly garment: LowerGarment
  readonly placement: LowerPlacement
  readonly landmarks: LowerPlacement['landmarks']
  readonly warnings: readonly string[]
}

export interface LowerInput {
  readonly body: BodyFrame
  readonly legs: Sides<LegProfile>
  /** How far the worn lower garment reaches outwards from each leg's bones, in px, by the way along them. */
  readonly reach: Sides<(way: number) => number>
  readonly worn: WornWaist
}
