import { findBareBody } from '../../../../vision/body/bare-body.ts'
import { forearmCore, forearmMask, forearmWithHand } from '../../../../vision/body/forearms.ts'
import { bothSides } from '../../../../vision/body/keypoints.ts'
import type { Lab } from '../../../../vision/raster/colour.ts'
import { componentsTouching } from '../../../../vision/raster/components.ts'
import { fillSmoothly } from '../../../../vision/raster/fill.ts'
import { countSet, intersect, subset, union, without, withValue } from '../../../../vision/raster/mask.ts'
import { close, dilate, open } from '../../../../vision/raster/morphology.ts'
import { createMask, type Mask } from '../../../../vision/raster/plane.ts'
import { reduceMasked } from '../../../../vision/raster/reduce.ts'
import { medianOf } from '../../../../vision/raster/statistics.ts'
import { norm } from '../../../../vision/raster/vector.ts'
import { LEGS_FROM, SLEEVED } from '../tuning.ts'
import type { PlacedLegs, WornLower } from './fitting.ts'
import { isOutside, measureReach } from './worn-reach.ts'

/** Trousers, shorts or a skirt. */
export function findWornLower(input: PlacedLegs): WornLower {
  const { person, body, parts } = input
  const { lower, skin, top, along, lab } = parts
  const bare = findBareBody(person, skin, body)
  const arms = without(forearmMask(skin, body), bare)
  const sleeves = sleevesOf(input, arms)
  const sure = withValue(withValue(lower, person.mask, { over: 0.8 }), along, { over: 0.9 })
  const factor = Math.max(1, Math.round(body.unit / 64))
  const { colours, weight } = reduceMasked(lab, sure, factor)
  const cloth = { cells: fillSmoothly(colours, weight), factor }
  const worn = withValue(without(lower, sleeves), along, { over: 0.55 })
  const closed = withValue(close(worn, 0.015 * body.unit), person.mask, { over: 0.3 })
  return { mask: union(worn, without(closed, skin, top, sleeves)), cloth, arms, sleeves }
}

// Sleeves in nearly the colour of the trousers have their label next to the hips. If the forearms are clothed above the hips, pixels
// before the hips that are closer to the colour of the sleeves than to that of the trousers are sleeves. Patterns have colours of both:
// where labels misread a forearm, pixels around its bones, and further out than the trousers above and below it, are sleeves in any colour.
function sleevesOf(input: PlacedLegs, arms: Mask): Mask {
  const { person, body, parts } = input
  const { lower, skin, top, along, lab } = parts
  const onArms = (mask: Mask) => withValue(intersect(mask, arms), along, { under: SLEEVED.until })
  const cloth = onArms(top)
  const area = countSet(cloth) / body.unit ** 2
  if (area < SLEEVED.area || countSet(cloth) < SLEEVED.overSkin * countSet(onArms(skin))) return createMask(arms)
  const trousers = withValue(without(lower, arms), along, { over: SLEEVED.until, under: LEGS_FROM })
  const medianLab = (mask: Mask): Lab => [medianOf(lab, mask, 0), medianOf(lab, mask, 1), medianOf(lab, mask, 2)]
  const [sleeve, leg] = [medianLab(cloth), medianLab(trousers)]
  const apart = (i: number, [l, a, b]: Lab) =>
    norm(lab.data[3 * i] - l, lab.data[3 * i + 1] - a, lab.data[3 * i + 2] - b)
  const misread = misreadForearms(input)
  const isBeyondLeg = countSet(misread.arms) > 0 ? beyondLegs(input, arms) : () => false
  const isSleeve = (i: number) =>
    misread.cores.data[i] === 1 || (misread.arms.data[i] === 1 && isBeyondLeg(i)) || apart(i, sleeve) <= apart(i, leg)
  const sleeves = subset(withValue(intersect(arms, lower), person.mask, { over: 0.5 }), isSleeve)
  const found = componentsTouching(open(sleeves, 1), dilate(union(intersect(top, arms), misread.cores), 2))
  return close(found, 0.03 * body.unit)
}

// Forearms much of whose cores have the label of trousers or a skirt.
function misreadForearms({ body, parts: { lower, top } }: PlacedLegs): { cores: Mask; arms: Mask } {
  const [left, right] = bothSides((side) => {
    const core = forearmCore(lower, body, side)
    const seen = countSet(intersect(core, union(lower, top)))
    const isMisread = countSet(intersect(core, lower)) > SLEEVED.misread * seen
    return isMisread
      ? { cores: core, arms: forearmWithHand(lower, body, side) }
      : { cores: createMask(core), arms: createMask(core) }
  })
  return { cores: union(left.cores, right.cores), arms: union(left.arms, right.arms) }
}

function beyondLegs({ legs, fields, parts: { lower } }: PlacedLegs, arms: Mask): (i: number) => boolean {
  const reach = measureReach(lower, { legs, fields, arms })
  return (i) => {
    const side = fields[0].distance.data[i] <= fields[1].distance.data[i] ? 0 : 1
    const way = fields[side].along.data[i]
    const limit = reach[side](way)
    return limit > 0 && fields[side].distance.data[i] > limit && isOutside(i, lower, { leg: legs[side], way })
  }
}
