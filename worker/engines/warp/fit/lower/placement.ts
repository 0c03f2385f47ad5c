import type { BodyFrame } from '../../../../body/body-frame.ts'
import type { Sides } from '../../../../body/keypoints.ts'
import type { LegProfile } from '../../../../body/leg-profile.ts'
import type { Point } from '../../../../raster/plane.ts'
import type { PointGrid } from '../patch.ts'
import type { WornWaist } from './waist.ts'

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

export interface LowerInput {
  readonly body: BodyFrame
  readonly legs: Sides<LegProfile>
  /** How far the worn lower garment reaches outwards from each leg's bones, in px, by the way along them. */
  readonly reach: Sides<(way: number) => number>
  readonly worn: WornWaist
}
