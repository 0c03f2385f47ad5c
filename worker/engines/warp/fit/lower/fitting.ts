import type { BodyFrame } from '../../../../vision/body/body-frame.ts'
import type { BoneField } from '../../../../vision/body/bone-field.ts'
import type { Sides } from '../../../../vision/body/keypoints.ts'
import type { LegProfile } from '../../../../vision/body/leg-profile.ts'
import type { Parts } from '../../../../vision/body/parts.ts'
import type { View } from '../../../../vision/body/view.ts'
import type { LowerGarment } from '../../../../vision/garment/garment.ts'
import type { Person } from '../../../../vision/person/person.ts'
import type { Mask, Point } from '../../../../vision/raster/plane.ts'
import type { Reduced } from '../../../../vision/raster/reduce.ts'
import type { PointGrid } from '../patch.ts'

/** Borders of the worn garments at the waist, as body coordinates F. */
export interface WornWaist {
  /** Highest row with worn lower garment in its middle; 0 if none is visible. */
  readonly lowerTop: number
  /** Lowest row with worn top in its middle. */
  readonly topHem: number
}

/** A piece of a lower garment: the same grid in garment px and in px of the analysed bitmap. */
export interface Piece {
  readonly source: PointGrid
  readonly target: PointGrid
}

/** Position of a lower garment on a person, in px of the analysed bitmap. */
export interface LowerPlacement {
  /** Back to front. */
  readonly pieces: readonly Piece[]
  /** Body coordinate F of the waistband. */
  readonly waist: number
  /** Covered length of each leg, in px along its bones from the hip joint. */
  readonly covered: Sides<number>
  readonly legs: Sides<LegProfile>
  readonly worn: WornWaist
  /** By name; `_l` and `_r` are the left and right of the image. */
  readonly landmarks: Readonly<Record<string, Point>>
  readonly warnings: readonly string[]
}

/** The legs of a person with a placed garment. */
export interface PlacedLegs {
  readonly person: Person
  readonly body: BodyFrame
  readonly parts: Parts
  readonly legs: Sides<LegProfile>
  /** Distance to each leg's bones, from the hip to slightly below the ankle. */
  readonly fields: Sides<BoneField>
  /** End of the new garment on each leg: px from the hip. */
  readonly covered: Sides<number>
}

/** Worn clothes on hips and legs. */
export interface WornLower {
  readonly mask: Mask
  /** The cloth's colour at every pixel, smoothly extrapolated, in CIE Lab. */
  readonly cloth: Reduced
  /** Forearms and hands, which can be in front of the clothes. */
  readonly arms: Mask
  /** Sleeves that have the label of trousers or a skirt because of their colour. */
  readonly sleeves: Mask
}

/** The legs with their worn clothes. */
export interface FittedLegs extends PlacedLegs {
  readonly worn: WornLower
}

/** Fitted trousers or a fitted skirt: the input of all later stages. */
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
  /** Distance in px by which the worn lower garment extends outwards from each leg's bones, by position along the bones. */
  readonly reach: Sides<(way: number) => number>
  readonly worn: WornWaist
}
