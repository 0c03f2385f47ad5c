import { findBareBody } from '../../../../vision/body/bare-body.ts'
import { forearmCore, forearmMask, forearmWithHand } from '../../../../vision/body/forearms.ts'
import { bothSides } from '../../../../vision/body/keypoints.ts'
import { type Lab, tintApart } from '../../../../vision/raster/colour.ts'
import { componentsTouching } from '../../../../vision/raster/components.ts'
import { fillSmoothly } from '../../../../vision/raster/fill.ts'
import {
  below,
  countSet,
  intersect,
  subset,
  threshold,
  union,
  without,
  withValue,
} from '../../../../vision/raster/mask.ts'
import { close, dilate, open } from '../../../../vision/raster/morphology.ts'
import { type Colours, createMask, type Mask } from '../../../../vision/raster/plane.ts'
import { fillCapsules } from '../../../../vision/raster/polygon.ts'
import { cellAt, difference, type Reduced, reduceMasked } from '../../../../vision/raster/reduce.ts'
import { medianOf } from '../../../../vision/raster/statistics.ts'
import { norm } from '../../../../vision/raster/vector.ts'
import { CLOTH_LIKENESS, LEGS_FROM, SHOES_FROM, SLEEVED } from '../tuning.ts'
import type { PlacedLegs, WornLower } from './fitting.ts'
import { isOutside, measureReach } from './worn-reach.ts'

/** Finds trousers, shorts or a skirt from the labels, and their lower ends beside the shoes by colour. */
export function findWornLower(input: PlacedLegs): WornLower {
  const { person, body, parts } = input
  const { lower, skin, top, along, lab } = parts
  const bare = findBareBody(person, skin, body)
  const arms = without(forearmMask(skin, body), bare)
  const sleeves = sleevesOf(input, arms)
  const isAboveShoes = levelTest(input, SHOES_FROM)
  const seen = withValue(withValue(lower, person.mask, { over: 0.8 }), along, { over: 0.9 })
  const sure = subset(seen, isAboveShoes)
  const factor = Math.max(1, Math.round(body.unit / 64))
  const { colours, weight } = reduceMasked(lab, sure, factor)
  const cloth = { cells: fillSmoothly(colours, weight), factor }
  const isShoe = shoeTest(input, { cloth, beyond: isAboveShoes })
  const possible = without(threshold(person.mask, 0.5), skin, sleeves, below(along, 0.55))
  const hips = withValue(possible, along, { under: LEGS_FROM })
  const legs = subset(without(possible, hips, intersect(arms, top)), (i) => isAboveShoes(i) || !isShoe(i))
  const worn = union(intersect(hips, lower), legs)
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

// Shoes differ from trousers by colour, learnt at toes and heels. If both look alike, the ankle separates them.
function shoeTest(
  input: PlacedLegs,
  { cloth, beyond }: { cloth: Reduced; beyond: (i: number) => boolean },
): (i: number) => boolean {
  const { person, body, parts, fields } = input
  const { lab } = parts
  const names = ['leftHeel', 'leftFootIndex', 'rightHeel', 'rightFootIndex'] as const
  const radius = 0.07 * body.unit
  const feet = fillCapsules(
    parts.skin,
    names.map((name) => person.landmarks[name]).flatMap((point) => [point, point]),
    new Array(8).fill(radius),
  )
  const shoes = subset(without(withValue(feet, person.mask, { over: 0.8 }), parts.skin), (i) => !beyond(i))
  const isAboveAnkle = levelTest(input, 1.02)
  const [l, a, b] = [0, 1, 2].map((channel) => medianOf(lab, shoes, channel))
  const known = subset(shoes, (i) => difference(lab, cloth, i) > CLOTH_LIKENESS.difference)
  if (countSet(known) < 0.5 * countSet(shoes) || countSet(shoes) < 12)
    return (i) => !isAboveAnkle(i) || difference(lab, cloth, i) > CLOTH_LIKENESS.difference
  return (i) => {
    if (fields.every((field) => field.distance.data[i] > 0.3 * body.unit)) return true
    if (isShadedCloth(lab, i, { cloth, shoe: [l, a, b] })) return false
    const toCloth = difference(lab, cloth, i)
    const toShoe = norm(lab.data[i * 3] - l, lab.data[i * 3 + 1] - a, lab.data[i * 3 + 2] - b)
    return toCloth > CLOTH_LIKENESS.difference || toCloth > 0.6 * toShoe
  }
}

// In the shade cloth is as dark as shoes, but keeps its tint.
function isShadedCloth(lab: Colours, i: number, { cloth, shoe }: { cloth: Reduced; shoe: Lab }): boolean {
  const cell = cellAt(cloth, lab, i)
  const [l, a, b] = cloth.cells.data.subarray(cell, cell + 3)
  if (lab.data[i * 3] >= l) return false
  return tintApart(lab, i, [l, a, b]) + CLOTH_LIKENESS.tint < tintApart(lab, i, shoe)
}

// Whether a pixel is above `share` of the distance from hip to ankle on the nearer leg.
function levelTest({ legs, fields: [left, right] }: PlacedLegs, share: number): (i: number) => boolean {
  return (i) => {
    const side = left.distance.data[i] <= right.distance.data[i] ? 0 : 1
    const { along } = side === 0 ? left : right
    return along.data[i] < share * legs[side].length
  }
}
