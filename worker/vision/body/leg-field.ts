import type { Size } from '../raster/plane.ts'
import { unit as directionOf, move, subtract } from '../raster/vector.ts'
import type { BodyFrame } from './body-frame.ts'
import { type BoneField, measureNearness } from './bone-field.ts'
import { bothSides, type Sides } from './keypoints.ts'
import type { LegProfile } from './leg-profile.ts'
import { LEG_REACH } from './tuning.ts'

/** Distance to the bones of both legs, from the hip joints to slightly below the ankles. */
export function measureLegFields(size: Size, legs: Sides<LegProfile>, { unit }: BodyFrame): Sides<BoneField> {
  return bothSides((side) => {
    const { points } = legs[side]
    const ankle = points[points.length - 1]
    const foot = move(ankle, directionOf(subtract(ankle, points[points.length - 6])), LEG_REACH.foot * unit)
    return measureNearness(size, { chain: [...points, foot], reach: LEG_REACH.around * unit })
  })
}
