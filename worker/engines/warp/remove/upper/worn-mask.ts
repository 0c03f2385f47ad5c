import { armMask } from '../../../../vision/body/arm-field.ts'
import { bothSides, type Side } from '../../../../vision/body/keypoints.ts'
import { type Lab, tintApart } from '../../../../vision/raster/colour.ts'
import { connectedComponents, fillHoles, keepComponents } from '../../../../vision/raster/components.ts'
import { fillSmoothly } from '../../../../vision/raster/fill.ts'
import { close, dilate, erode, open } from '../../../../vision/raster/morphology.ts'
import { type Colours, createMask, type Mask, maskWhere, subset, threshold } from '../../../../vision/raster/plane.ts'
import { cellAt, difference, type Reduced, reduceMasked } from '../../../../vision/raster/reduce.ts'
import { medianOf } from '../../../../vision/raster/statistics.ts'
import type { FittingRegions } from '../../fit/upper/fitting.ts'
import type { WornGarment } from '../removal.ts'
import {
  BACKGROUND_LIKE,
  COLLAR,
  COLLAR_SHADE,
  CUFF_INSIDE,
  HIGHEST,
  MAX_CLOTH_DELTA,
  OVER_EDGE,
  SLEEVE,
  TOP,
} from '../tuning.ts'

/** Finds the clothes on the upper body. `background` is the scene without the person in CIE Lab. */
export function findWornGarment(fitting: FittingRegions, background: Reduced): WornGarment {
  const { parts } = fitting
  const { mask: rough, prints } = outline(fitting)
  const sure = reduceMasked(parts.lab, rough, background.factor)
  const cloth = { cells: fillSmoothly(sure.colours, sure.weight), factor: background.factor }
  const mask = withoutStrangers(rough, fitting, { cloth, background })
  const grown = growOverEdge(mask, fitting, { cloth, background })
  const removable = allowedPart(grown, fitting, { mask, prints })
  return { mask, removable, backgroundLike: findBackgroundLike(removable, fitting, background), cloth, background }
}

function outline(fitting: FittingRegions): { mask: Mask; prints: Mask } {
  const { person, body, parts, placement, regions } = fitting
  const { skin, top, lower, along } = parts
  const { head, uncovered, hair } = regions
  const labelled = subset(top, (i) => !head.data[i] && !hair.data[i] && along.data[i] < TOP.until)
  // Small patches are shadows on skin.
  const seen = keepComponents(labelled, ({ area }) => area > TOP.area * body.unit ** 2)
  const closed = close(seen, TOP.gap * body.unit)
  const beside = dilate(seen, TOP.shaded * body.unit)
  const joined = maskWhere(top, (i) => {
    if (seen.data[i] || (parts.hair.data[i] && !hair.data[i])) return true
    // Above the hem, cloth in the shade of an arm is labelled as the lower garment.
    if (beside.data[i] && lower.data[i] && along.data[i] < placement.oldHem) return true
    if (!closed.data[i] || skin.data[i] || hair.data[i] || head.data[i] || person.mask.data[i] <= 0.5) return false
    return !(lower.data[i] && along.data[i] > TOP.lowerFrom)
  })
  const filled = fillHoles(joined)
  const prints = subset(filled, (i) => !joined.data[i] && !uncovered.data[i] && !head.data[i] && !hair.data[i])
  const [left, right] = bothSides((side) => wornSleeve(fitting, side))
  const collar = insideOfCollar(fitting, seen)
  const mask = maskWhere(
    top,
    (i) => joined.data[i] + prints.data[i] + left.data[i] + right.data[i] + collar.data[i] > 0,
  )
  return { mask, prints }
}

// The inside of a collar is in its own shade and is labelled as skin; the middle of the neck shows the colour of skin there.
function insideOfCollar({ body, parts, regions }: FittingRegions, top: Mask): Mask {
  const { skin, hair, along, across, lab } = parts
  const inNeck = (i: number) => along.data[i] > COLLAR.from && along.data[i] < COLLAR.until
  const factor = Math.max(1, Math.round(body.unit / 64))
  const middle = subset(skin, (i) => inNeck(i) && Math.abs(across.data[i]) < COLLAR.middle && !regions.head.data[i])
  const known = reduceMasked(lab, middle, factor)
  const neck = { cells: fillSmoothly(known.colours, known.weight), factor }
  const beside = dilate(top, COLLAR.near * body.unit)
  const shoulders = dilate(regions.shoulders, COLLAR.near * body.unit)
  const isCollar = (i: number) =>
    skin.data[i] === 1 &&
    beside.data[i] === 1 &&
    shoulders.data[i] === 1 &&
    inNeck(i) &&
    along.data[i] < COLLAR.skinUntil
  const odd = maskWhere(skin, (i) => {
    if (!(skin.data[i] || hair.data[i]) || along.data[i] < COLLAR_SHADE.from || along.data[i] > COLLAR_SHADE.until)
      return false
    if (regions.head.data[i] || Math.abs(across.data[i]) < COLLAR.middle) return false
    const darker = neck.cells.data[cellAt(neck, lab, i)] - lab.data[i * 3]
    return darker > COLLAR_SHADE.darker && difference(lab, neck, i) > COLLAR_SHADE.difference
  })
  return open(mostlyInside(odd, isCollar), 1)
}

// Connected regions that are mostly inside. Excludes regions that continue outside: hair behind a collar is as dark.
function mostlyInside(mask: Mask, isInside: (i: number) => boolean): Mask {
  const { labels, components } = connectedComponents(mask)
  const inside = new Uint32Array(components.length + 1)
  for (let i = 0; i < labels.length; i++) if (mask.data[i] && isInside(i)) inside[labels[i]]++
  return subset(mask, (i) => isInside(i) && inside[labels[i]] > COLLAR_SHADE.inside * components[labels[i] - 1].area)
}

// On an arm that is mostly cloth all pixels except skin and hair belong to the sleeve, for any pattern.
function wornSleeve({ person, body, parts, regions }: FittingRegions, side: Side): Mask {
  const { skin, top } = parts
  const arm = regions.arms[side]
  const radius = body.armRadius[side]
  const end = Math.min(arm.bareEnd, arm.sleeveEnd + SLEEVE.beyond * body.unit)
  const near = armMask(arm, (way) => (way > end ? 0 : radius * (way < arm.elbow || way > arm.wrist ? SLEEVE.width : 1)))
  const clothed = subset(near, (i) => person.mask.data[i] > 0.5 && !regions.hair.data[i] && !regions.head.data[i])
  let cloth = 0
  let all = 0
  for (let i = 0; i < clothed.data.length; i++) {
    all += clothed.data[i]
    cloth += clothed.data[i] & top.data[i]
  }
  if (cloth <= SLEEVE.cloth * all) return createMask(top)
  const cuff = shadedCuff({ person, body, parts, regions }, side)
  return maskWhere(top, (i) => cuff.data[i] === 1 || (clothed.data[i] === 1 && !skin.data[i]))
}

// The inside of a wide cuff is in its own shade and is labelled as the lower garment or as skin: use its hue.
function shadedCuff(
  { person, body, parts, regions }: Pick<FittingRegions, 'person' | 'body' | 'parts' | 'regions'>,
  side: Side,
): Mask {
  const { lab, top, lower, skin } = parts
  const arm = regions.arms[side]
  if (arm.sleeveEnd < CUFF_INSIDE.from * arm.wrist) return createMask(top)
  const around = armMask(arm, (way) =>
    Math.abs(way - arm.wrist) < CUFF_INSIDE.length * body.unit ? CUFF_INSIDE.width * body.armRadius[side] : 0,
  )
  const [cloth, others] = [medianColourOf(lab, top), [lower, skin].map((part) => medianColourOf(lab, part))]
  return subset(around, (i) => {
    if (person.mask.data[i] <= 0.3 || regions.hair.data[i] || top.data[i]) return false
    const own = tintApart(lab, i, cloth)
    return (
      lab.data[i * 3] < CUFF_INSIDE.darker * cloth[0] &&
      own < CUFF_INSIDE.tint &&
      others.every((other) => own < tintApart(lab, i, other))
    )
  })
}

function medianColourOf(lab: Colours, part: Mask): Lab {
  return [medianOf(lab, part, 0), medianOf(lab, part, 1), medianOf(lab, part, 2)]
}

// Where the mask is unreliable, objects behind the person were labelled as cloth: they resemble neither the cloth nor its shadow.
function withoutStrangers(
  mask: Mask,
  { person, parts }: FittingRegions,
  { cloth, background }: { cloth: Reduced; background: Reduced },
): Mask {
  return subset(mask, (i) => {
    if (person.mask.data[i] >= 0.9) return true
    return difference(parts.lab, cloth, i) < Math.max(MAX_CLOTH_DELTA, difference(parts.lab, background, i))
  })
}

// The soft edge of a mask leaves a rim of the garment outside: assign each pixel to the nearer colour.
function growOverEdge(
  mask: Mask,
  { person, body, parts }: FittingRegions,
  { cloth, background }: { cloth: Reduced; background: Reduced },
): Mask {
  const near = dilate(mask, OVER_EDGE.sure * body.unit)
  const far = dilate(mask, OVER_EDGE.alike * body.unit)
  const alike = subset(far, (i) => {
    if (mask.data[i]) return true
    const toCloth = difference(parts.lab, cloth, i)
    return toCloth < OVER_EDGE.difference && toCloth < difference(parts.lab, background, i)
  })
  const rim = dilate(alike, Math.max(1, OVER_EDGE.rim * body.unit))
  return maskWhere(mask, (i) => rim.data[i] === 1 || (near.data[i] === 1 && person.mask.data[i] > 0.5))
}

// A high collar extends to the chin. Other colours at that height are usually hair or background.
function allowedPart(
  grown: Mask,
  { body, parts, regions }: FittingRegions,
  { mask, prints }: { mask: Mask; prints: Mask },
): Mask {
  const { skin, lower, along, across } = parts
  const { hair } = regions
  const beside = dilate(mask, 1)
  // The blurred edge of a garment can have the colours of the lower one.
  const trousers = open(lower, OVER_EDGE.thread * body.unit)
  const shoulders = dilate(regions.shoulders, COLLAR.near * body.unit)
  const [left, right] = bothSides((side) =>
    armMask(regions.arms[side], () => HIGHEST.raisedWidth * body.armRadius[side]),
  )
  const raised = maskWhere(mask, (i) => left.data[i] + right.data[i] > 0)
  return subset(grown, (i) => {
    if (hair.data[i] || regions.head.data[i]) return false
    if (lower.data[i] && !mask.data[i] && trousers.data[i]) return false
    if (skin.data[i] && !prints.data[i] && !beside.data[i]) return false
    if (along.data[i] > HIGHEST.body || shoulders.data[i] || raised.data[i]) return true
    return mask.data[i] === 1 && Math.abs(across.data[i]) < HIGHEST.collarAcross && along.data[i] > HIGHEST.collar
  })
}

function findBackgroundLike(
  removable: Mask,
  { person, body, parts, regions }: FittingRegions,
  background: Reduced,
): Mask {
  const deep = erode(threshold(person.mask, 0.5), BACKGROUND_LIKE.deep * body.unit)
  return subset(removable, (i) => {
    const inside = deep.data[i] === 1 || (regions.shoulders.data[i] === 1 && parts.along.data[i] > HIGHEST.body)
    return !(inside && person.mask.data[i] >= 0.9) && difference(parts.lab, background, i) < BACKGROUND_LIKE.difference
  })
}
