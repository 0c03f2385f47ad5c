import type { Parts } from '../../../../vision/body/parts.ts'
import { countSet, maskWhere, subset } from '../../../../vision/raster/plane.ts'
import { medianOf } from '../../../../vision/raster/statistics.ts'
import { DRESS_CLOTH, NATURAL_WAIST } from '../tuning.ts'

/**
 * Splits a dress, one piece of cloth from chest to thighs, at the natural waist into a top and a skirt. Its labels change at an arbitrary
 * place, and fragments labelled top below the new waistband would remain in front of trousers.
 */
export function partDress(parts: Parts): Parts {
  const { top, lower, along, across, lab } = parts
  const middle = (i: number) => Math.abs(across.data[i]) < DRESS_CLOTH.across
  const within = (i: number, [from, to]: readonly [number, number]) => along.data[i] > from && along.data[i] < to
  const chest = subset(top, (i) => middle(i) && within(i, DRESS_CLOTH.chest))
  const thighs = subset(lower, (i) => middle(i) && within(i, DRESS_CLOTH.thighs))
  const difference = Math.hypot(...[0, 1, 2].map((c) => medianOf(lab, chest, c) - medianOf(lab, thighs, c)))
  if (countSet(chest) === 0 || countSet(thighs) === 0 || difference > DRESS_CLOTH.difference) return parts
  const hangs = (i: number) => top.data[i] === 1 && along.data[i] > NATURAL_WAIST
  return {
    ...parts,
    top: subset(top, (i) => !hangs(i)),
    lower: maskWhere(lower, (i) => lower.data[i] === 1 || hangs(i)),
  }
}
