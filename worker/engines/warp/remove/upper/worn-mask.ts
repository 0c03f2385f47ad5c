import { armMask } from '../../../../vision/body/arm-field.ts'
import { bothSides, type Side } from '../../../../vision/body/keypoints.ts'
import { fillHoles } from '../../../../vision/raster/components.ts'
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
import { dilate, erode } from '../../../../vision/raster/morphology.ts'
import { createMask, type Mask } from '../../../../vision/raster/plane.ts'
import { difference, type Reduced, reduceMasked } from '../../../../vision/raster/reduce.ts'
import type { FittingRegions } from '../../fit/upper/fitting.ts'
import type { WornGarment } from '../removal.ts'
import { BACKGROUND_LIKE, HIGHEST, NEAR_SHOULDERS, OVER_EDGE, SLEEVE, TOP_UNTIL } from '../tuning.ts'

/** Finds the clothes on the upper body. `background` is the scene without the person in CIE Lab. */
export function findWornGarment(fitting: FittingRegions, background: Reduced): WornGarment {
  const { parts } = fitting
  const { mask, prints } = outline(fitting)
  const sure = reduceMasked(parts.lab, mask, background.factor)
  const cloth = { cells: fillSmoothly(sure.colours, sure.weight), factor: background.factor }
  const grown = growOverEdge(mask, fitting, { cloth, background })
  const removable = allowedPart(grown, fitting, { mask, prints })
  return { mask, removable, backgroundLike: findBackgroundLike(removable, fitting, background), cloth, background }
}

function outline(fitting: FittingRegions): { mask: Mask; prints: Mask } {
  const { parts, regions } = fitting
  const { top, hair, along } = parts
  const { head, uncovered } = regions
  const seen = withValue(without(top, head), along, { under: TOP_UNTIL })
  const prints = without(fillHoles(seen), seen, uncovered, head, hair)
  const [left, right] = bothSides((side) => wornSleeve(fitting, side))
  return { mask: union(seen, prints, left, right), prints }
}

// On an arm that is mostly cloth all pixels except skin and hair belong to the sleeve, for any pattern.
function wornSleeve({ person, body, parts, regions }: FittingRegions, side: Side): Mask {
  const { skin, top } = parts
  const arm = regions.arms[side]
  const radius = body.armRadius[side]
  const end = Math.min(arm.bareEnd, arm.sleeveEnd + SLEEVE.beyond * body.unit)
  const near = armMask(arm, (way) => (way > end ? 0 : radius * (way < arm.elbow || way > arm.wrist ? SLEEVE.width : 1)))
  const clothed = without(withValue(near, person.mask, { over: 0.5 }), parts.hair, regions.head)
  if (countSet(intersect(clothed, top)) <= SLEEVE.cloth * countSet(clothed)) return createMask(top)
  return without(clothed, skin)
}

// The soft edge of a mask leaves a rim of the garment outside: assign each pixel to the nearer colour.
function growOverEdge(
  mask: Mask,
  { person, body, parts }: FittingRegions,
  { cloth, background }: { cloth: Reduced; background: Reduced },
): Mask {
  const near = dilate(mask, OVER_EDGE.sure * body.unit)
  const far = dilate(mask, OVER_EDGE.alike * body.unit)
  const alike = subset(without(far, mask), (i) => {
    const toCloth = difference(parts.lab, cloth, i)
    return toCloth < OVER_EDGE.difference && toCloth < difference(parts.lab, background, i)
  })
  const rim = dilate(union(mask, alike), Math.max(1, OVER_EDGE.rim * body.unit))
  return union(rim, withValue(near, person.mask, { over: 0.5 }))
}

// A high collar extends to the chin. Other colours at that height are usually hair or background.
function allowedPart(
  grown: Mask,
  { body, parts, regions }: FittingRegions,
  { mask, prints }: { mask: Mask; prints: Mask },
): Mask {
  const { skin, lower, hair, along, across } = parts
  const beside = dilate(mask, 1)
  const shoulders = dilate(regions.shoulders, NEAR_SHOULDERS * body.unit)
  const [left, right] = bothSides((side) =>
    armMask(regions.arms[side], () => HIGHEST.raisedWidth * body.armRadius[side]),
  )
  const bare = without(skin, prints, beside)
  const possible = without(grown, hair, regions.head, without(lower, mask), bare)
  const collar = withValue(withValue(intersect(possible, mask), along, { over: HIGHEST.collar }), across, {
    over: -HIGHEST.collarAcross,
    under: HIGHEST.collarAcross,
  })
  const beneath = withValue(possible, along, { over: HIGHEST.body })
  return union(beneath, intersect(possible, union(shoulders, left, right)), collar)
}

function findBackgroundLike(
  removable: Mask,
  { person, body, parts, regions }: FittingRegions,
  background: Reduced,
): Mask {
  const deep = erode(threshold(person.mask, 0.5), BACKGROUND_LIKE.deep * body.unit)
  const inside = union(deep, withValue(regions.shoulders, parts.along, { over: HIGHEST.body }))
  const sure = without(inside, below(person.mask, 0.9))
  return subset(without(removable, sure), (i) => difference(parts.lab, background, i) < BACKGROUND_LIKE.difference)
}
