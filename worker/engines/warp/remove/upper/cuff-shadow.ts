import { type ArmField, armMask, bareRadiusAt } from '../../../../vision/body/arm-field.ts'
import { bothSides, type Side } from '../../../../vision/body/keypoints.ts'
import { apartInLight } from '../../../../vision/raster/colour.ts'
import { dilate } from '../../../../vision/raster/morphology.ts'
import { countSet, createMask, type Mask, subset, union } from '../../../../vision/raster/plane.ts'
import { difference, type Reduced } from '../../../../vision/raster/reduce.ts'
import { medianOf } from '../../../../vision/raster/statistics.ts'
import type { FittingRegions } from '../../fit/upper/fitting.ts'
import { CUFF_SHADOW } from '../tuning.ts'

/**
 * Remains of worn cuffs on arms that the new garment leaves bare: shadows, and cloth that is labelled dark skin and would remain
 * as a bracelet. `cloth` is the worn garment in CIE Lab.
 */
export function findCuffShadows(fitting: FittingRegions, cloth: Reduced): Mask {
  const [left, right] = bothSides((side) => underCuff(fitting, cloth, side))
  return union(left, right)
}

function underCuff({ person, body, parts, placement, regions }: FittingRegions, cloth: Reduced, side: Side): Mask {
  const arm = regions.arms[side]
  const { unit } = body
  const sleeve = placement.sleeves.find((candidate) => candidate.side === side)?.length ?? 0
  if (arm.sleeveEnd === 0 || sleeve > arm.sleeveEnd - CUFF_SHADOW.before * unit) return createMask(parts.skin)
  const within = (from: number, to: number) =>
    armMask(arm, (way) =>
      way > from && way < to ? CUFF_SHADOW.width * bareRadiusAt(arm, Math.min(way, arm.wrist)) : 0,
    )
  const { sleeveEnd } = arm
  const bare = subset(
    within(sleeveEnd + CUFF_SHADOW.beyond * unit, sleeveEnd + CUFF_SHADOW.toneUntil * unit),
    (i) => parts.skin.data[i] === 1,
  )
  const tone = countSet(bare) < 20 ? null : medianOf(parts.lab, bare, 0)
  const isCloth = (i: number) => {
    if (parts.skinColour === null) return false
    const toCloth = difference(parts.lab, cloth, i)
    const toSkin = apartInLight(parts.lab, i, { colour: parts.skinColour, lightness: 1 })
    return toCloth < CUFF_SHADOW.cloth && toCloth < CUFF_SHADOW.likeness * toSkin
  }
  const around = within(sleeveEnd - CUFF_SHADOW.before * unit, sleeveEnd + CUFF_SHADOW.beyond * unit)
  const isOtherHand = handTest(regions.arms[side === 0 ? 1 : 0], body.armRadius[side])
  const dark = subset(
    around,
    (i) =>
      person.mask.data[i] > 0.3 &&
      !isOtherHand(i) &&
      (isCloth(i) || (tone !== null && parts.lab.data[i * 3] < tone - CUFF_SHADOW.darker)),
  )
  return subset(dilate(dark, 1), (i) => !isOtherHand(i))
}

// Fingers of crossed arms are in front of the other arm's cuff.
function handTest({ along, distance, wrist }: ArmField, radius: number): (i: number) => boolean {
  return (i) => distance.data[i] < radius && along.data[i] > wrist - radius
}
