import type { Side } from '../../../../vision/body/keypoints.ts'
import type { Parts } from '../../../../vision/body/parts.ts'
import { isSeated } from '../../../../vision/body/seated.ts'
import { apartInLight } from '../../../../vision/raster/colour.ts'
import { componentsTouching, connectedToBorder, keepComponents } from '../../../../vision/raster/components.ts'
import { featherMask, smoothOutline } from '../../../../vision/raster/feather.ts'
import { fillSmoothly } from '../../../../vision/raster/fill.ts'
import { below, intersect, subset, union, withLabel, without, withValue } from '../../../../vision/raster/mask.ts'
import { erode, open } from '../../../../vision/raster/morphology.ts'
import { channelOf, createPlane, type Mask, type Plane } from '../../../../vision/raster/plane.ts'
import { cellAt, difference, enlargeByFactor, reduceByFactor, reduceMasked } from '../../../../vision/raster/reduce.ts'
import { shiftDown } from '../../../../vision/raster/shift.ts'
import { clamp } from '../../../../vision/raster/statistics.ts'
import { dot, subtract } from '../../../../vision/raster/vector.ts'
import type { FittingRegions } from '../../fit/upper/fitting.ts'
import { BACKGROUND, SKIN, type UpperRemoval, type WornGarment } from '../../remove/removal.ts'
import type { FlatGarment } from '../../warp/layers.ts'
import { bringHandsToFront, edgeSoftness } from '../front.ts'
import {
  AROUND,
  CONTACT,
  GAP,
  HANGING_TOP,
  HIDDEN_OVER,
  HUE,
  LAP,
  LIMB_OUTLINE,
  MIN_SHOWN,
  ON_PERSON,
  SURE_PERSON,
} from '../tuning.ts'

// Indices of the fields in the sampler's rows.
export const REMOVAL = 0
export const BACK = 4
export const SHADOW = 5
export const CUFF_SHADOW = 6
export const ARM = 7
export const HANDS = 8
export const FACE = 9
/** The first of the masks that hide the sleeves behind the body. */
export const HIDDEN_SLEEVE = 10

/**
 * The occlusion order: planes of the analysed bitmap's size, 0 to 1, in the order of the constants above.
 */
export function findOcclusionOrder(
  fitting: FittingRegions,
  { garment, removal }: { garment: FlatGarment; removal: UpperRemoval },
): Plane[] {
  const { person } = fitting
  const { zones } = removal
  const arm = armInFront(fitting, removal)
  const hands = handsInFront(fitting, removal)
  return [
    ...[0, 1, 2].map((channel) => behind(channelOf(removal.layer, channel), hands)),
    behind(channelOf(removal.layer, 3, 1 / 255), hands),
    behindPerson(person.mask),
    contactShadow(fitting, { cover: garment.cover, zones }),
    contactShadow(fitting, { cover: garment.sleeves, zones }),
    arm,
    hands,
    faceInFront(fitting),
    ...(isAnyBehind(fitting) ? fitting.placement.sleeves.map(({ side }) => sleeveBehind(fitting, side)) : []),
  ]
}

function behindPerson(mask: Plane): Plane {
  const share = createPlane(mask)
  for (let i = 0; i < share.data.length; i++)
    share.data[i] = 1 - clamp(ON_PERSON.back[0] * mask.data[i] - ON_PERSON.back[1])
  return share
}

// Skin and sleeve of the arm. The edge follows the skin softly. A fingertip behind cloth is not part of the arm.
function armInFront(fitting: FittingRegions, { zones, worn }: UpperRemoval): Plane {
  const { body, parts, regions } = fitting
  const { uncovered, limbs } = regions
  const invented = intersect(uncovered, limbs, withLabel(limbs, zones, SKIN))
  const labelled = intersect(uncovered, parts.skin)
  const seen = subset(labelled, skinTest(parts, worn))
  const wall = union(wallBeside(seen, fitting), without(labelled, seen))
  const skin = union(invented, without(seen, wall))
  const shown = keepComponents(open(skin, 1), ({ area }) => area > MIN_SHOWN.limb * body.unit ** 2)
  const softness = edgeSoftness(body.unit)
  const arm = smoothOutline(shown, { sigma: Math.max(softness, LIMB_OUTLINE * body.unit), softness })
  const sure = intersect(erode(shown, 1), parts.skin)
  for (let i = 0; i < arm.data.length; i++) if (sure.data[i]) arm.data[i] = 1
  return arm
}

// In the gap between arm and body the mask is unreliable, and a shaded wall is as dark as an arm: use the hue.
function skinTest({ lab, skinColour }: Parts, { background }: WornGarment): (index: number) => boolean {
  if (!skinColour) return () => true
  const { cells } = background
  return (i) => {
    const cell = cellAt(background, lab, i)
    const a = skinColour[1] - cells.data[cell + 1]
    const b = skinColour[2] - cells.data[cell + 2]
    const length = a * a + b * b
    if (length < HUE.difference ** 2) return true
    const along = (lab.data[i * 3 + 1] - cells.data[cell + 1]) * a + (lab.data[i * 3 + 2] - cells.data[cell + 2]) * b
    return along > HUE.share * length
  }
}

// A gap between arm and body is narrower at its ends than the mask can show: the wall continues there, in the colour of the gap.
function wallBeside(
  skin: Mask,
  { person: { mask }, body, parts: { lab }, regions: { uncovered } }: FittingRegions,
): Mask {
  const open = below(mask, GAP.open)
  const gap = without(open, connectedToBorder(open))
  const around = (part: Mask, factor: number) => {
    const { colours, weight } = reduceMasked(lab, part, factor)
    return { cells: fillSmoothly(colours, weight), factor }
  }
  const wall = around(gap, Math.max(1, Math.round(GAP.detail * body.unit)))
  const own = around(skin, Math.round(GAP.arm * body.unit))
  const alike = subset(uncovered, (i) => {
    const toWall = difference(lab, wall, i)
    return toWall < GAP.difference && toWall < GAP.nearer * difference(lab, own, i)
  })
  return componentsTouching(union(gap, alike), gap)
}

// Contact shadow under hems, cuffs and the collar, and a wider soft shadow around them.
function contactShadow(
  { person, body, parts }: FittingRegions,
  { cover, zones }: { cover: Plane; zones: Uint8Array },
): Plane {
  const cells = reduceByFactor(shiftDown(cover, Math.round(CONTACT.down * body.unit)), 2)
  const near = enlargeByFactor(featherMask(cells, CONTACT.soft * body.unit), 2, cover)
  const wide = enlargeByFactor(featherMask(reduceByFactor(cover, 2), AROUND.soft * body.unit), 2, cover)
  const shadow = createPlane(cover)
  for (let i = 0; i < shadow.data.length; i++) {
    if (wide.data[i] === 0 || zones[i] === BACKGROUND) continue
    const share = cover.data[i]
    const onPerson = clamp(ON_PERSON.shadow[0] * person.mask.data[i] - ON_PERSON.shadow[1])
    const contact = CONTACT.strength * clamp(near.data[i] - share) * onPerson
    const around =
      parts.along.data[i] > AROUND.from
        ? AROUND.strength * Math.min(AROUND.max, clamp(wide.data[i] - AROUND.inside * share)) * onPerson
        : 0
    shadow.data[i] = 1 - (1 - contact) * (1 - around)
  }
  return shadow
}

function handsInFront({ person, body, parts, regions }: FittingRegions, { zones, worn }: UpperRemoval): Plane {
  const { skin } = parts
  const shown = keepComponents(
    without(intersect(regions.hands, skin), withLabel(skin, zones, SKIN)),
    ({ area }) => area > MIN_SHOWN.limb * body.unit ** 2,
  )
  const hands = featherMask(shown, edgeSoftness(body.unit))
  for (let i = 0; i < hands.data.length; i++) if (shown.data[i]) hands.data[i] = 1
  if (isSeated(body)) bringLapToFront(hands, { parts, worn, unit: body.unit, softness: edgeSoftness(body.unit) })
  bringHandsToFront(hands, person)
  return hands
}

function behind(plane: Plane, front: Plane): Plane {
  for (let i = 0; i < plane.data.length; i++) plane.data[i] *= 1 - front.data[i]
  return plane
}

function faceInFront({ person, body, parts, regions }: FittingRegions): Plane {
  const { skin, hair } = parts
  const { face, head } = regions
  const hairShare = withValue(hair, person.mask, { over: SURE_PERSON })
  const faceShare = intersect(head, union(face, withValue(union(skin, hair), person.mask, { over: 0.5 })))
  const hairEdge = featherMask(hairShare, edgeSoftness(body.unit))
  const faceEdge = featherMask(faceShare, 1)
  for (let i = 0; i < hairEdge.data.length; i++) hairEdge.data[i] = Math.max(hairEdge.data[i], faceEdge.data[i])
  return hairEdge
}

function isAnyBehind({ placement, regions }: FittingRegions): boolean {
  return placement.sleeves.some(({ side }) => regions.arms[side].behind)
}

// Below the armpit the torso hides the sleeve of an arm behind the body.
function sleeveBehind({ body, parts, placement, regions }: FittingRegions, side: Side): Plane {
  const behind = createPlane(parts.along)
  if (!regions.arms[side].behind) return behind
  const armpit = dot(subtract(placement.armpits[side], body.shoulders), body.down) / body.trunk
  for (let i = 0; i < behind.data.length; i++) behind.data[i] = clamp((parts.along.data[i] - armpit) / HIDDEN_OVER)
  return behind
}

/**
 * Brings the thighs of a seated person, which are in front of the hem, to the front, in place. `front` is the share of objects in front of
 * the garment, 0 to 1.
 */
function bringLapToFront(
  front: Plane,
  {
    parts: { lower, along, lab },
    worn,
    unit,
    softness,
  }: { parts: Parts; worn: Pick<WornGarment, 'cloth'>; unit: number; softness: number },
): void {
  const { cells } = worn.cloth
  const isTop = (i: number) => {
    const cell = cellAt(worn.cloth, lab, i)
    const colour = [cells.data[cell], cells.data[cell + 1], cells.data[cell + 2]] as const
    return apartInLight(lab, i, { colour, lightness: LAP.lightness }) < LAP.difference
  }
  const lap = keepComponents(
    subset(withValue(lower, along, { over: LAP.from }), (i) => !isTop(i)),
    ({ area }) => area > HANGING_TOP.area * unit ** 2,
  )
  const soft = featherMask(open(lap, LAP.width * unit), softness)
  for (let i = 0; i < front.data.length; i++) front.data[i] = Math.max(front.data[i], soft.data[i])
}
