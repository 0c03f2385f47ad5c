import { type ArmField, armMask, bareRadiusAt } from '../../../../body/arm-field.ts'
import { bothSides, type Side } from '../../../../body/keypoints.ts'
import { dilate } from '../../../../raster/morphology.ts'
import { countSet, createMask, type Mask, subset, union } from '../../../../raster/plane.ts'
import { medianOf } from '../../../../raster/statistics.ts'
import type { FittingRegions } from '../../fit/upper/fitting.ts'
import { CUFF_SHADOW } from '../tuning.ts'

/**
 * Remains of worn cuffs on arms that the new garment leaves bare: shadows and threads that are labelled dark skin and would remain
 * as a bracelet.
 */
export function findCuffShadows(fitting: FittingRegions): Mask {
  const [left, right] = bothSides((side) => underCuff(fitting, side))
  return union(left, right)
}

function underCuff({ person, body, parts, placement, regions }: FittingRegions, side: Side): Mask {
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
  if (countSet(bare) < 20) return createMask(parts.skin)
  const tone = medianOf(parts.lab, bare, 0)
  const around = within(sleeveEnd - CUFF_SHADOW.before * unit, sleeveEnd + CUFF_SHADOW.beyond * unit)
  const isOtherHand = handTest(regions.arms[side === 0 ? 1 : 0], body.armRadius[side])
  const dark = subset(
    around,
    (i) => person.mask.data[i] > 0.3 && parts.lab.data[i * 3] < tone - CUFF_SHADOW.darker && !isOtherHand(i),
  )
  return subset(dilate(dark, 1), (i) => !isOtherHand(i))
}

// Fingers of crossed arms are in front of the other arm's cuff.
function handTest({ along, distance, wrist }: ArmField, radius: number): (i: number) => boolean {
  return (i) => distance.data[i] < radius && along.data[i] > wrist - radius
}
