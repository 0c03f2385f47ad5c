import type { Person } from '../../person/person.ts'
import { connectedComponents, fillHoles } from '../../raster/components.ts'
import { fillSmoothly } from '../../raster/fill.ts'
import { close, dilate, erode } from '../../raster/morphology.ts'
import { type Colours, type Mask, maskWhere, type Plane } from '../../raster/plane.ts'
import { reduceMasked } from '../../raster/reduce.ts'
import type { Parts } from './parts.ts'
import { type ArmField, armMask, type FittingRegions } from './regions.ts'

/** What takes the place of a pixel of the worn garment that the new one leaves open, from back to front. */
export const KEEP = 0
export const GROUND = 1
export const LOWER = 2
export const SKIN = 3
/** A sliver along the new garment, which is drawn a little larger there. */
export const GARMENT = 4

/** A smooth picture in cells of `factor` × `factor` px. */
export interface Reduced {
  readonly cells: Colours
  readonly factor: number
}

export interface OldGarment {
  /** Everything that the worn upper garment covers, its prints included. */
  readonly mask: Mask
  /** KEEP, GROUND, LOWER, SKIN or GARMENT for every pixel. */
  readonly zones: Uint8Array
}

/**
 * Finds the worn garment and decides, where the new one (`cover`, 0 to 1) does not hide it, what is to be seen instead.
 * `ground` is the
 * picture without the person in CIE Lab, reduced by `factor`.
 */
export function findOldGarment(
  fitting: FittingRegions,
  { cover, ground }: { cover: Plane; ground: Reduced },
): OldGarment {
  const { body, regions } = fitting
  const old = outline(fitting)
  const shoulders = dilate(regions.shoulders, 0.05 * body.unit)
  const removable = growOverEdge(old, fitting, { shoulders, ground })
  const undressed = undressedArms(fitting, old.mask)
  const zones = assignZones(removable, fitting, { shoulders, cover, undressed })
  hugGarment(zones, fitting, cover)
  return { mask: old.mask, zones }
}

interface Outline {
  readonly mask: Mask
  /** Prints and other islands of another colour inside. */
  readonly prints: Mask
}

function outline({ person, body, parts, regions }: FittingRegions): Outline {
  const { skin, top, lower, hair, along } = parts
  const { head, uncovered } = regions
  const seen = maskWhere(top, (i) => top.data[i] === 1 && !head.data[i] && along.data[i] < 1.6)
  const closed = close(seen, 0.03 * body.unit)
  const joined = maskWhere(
    top,
    (i) =>
      seen.data[i] === 1 ||
      (closed.data[i] === 1 &&
        !skin.data[i] &&
        !hair.data[i] &&
        !head.data[i] &&
        person.mask.data[i] > 0.5 &&
        !(lower.data[i] && along.data[i] > 0.9)),
  )
  const filled = fillHoles(joined)
  const prints = maskWhere(
    top,
    (i) => filled.data[i] === 1 && !joined.data[i] && !uncovered.data[i] && !head.data[i] && !hair.data[i],
  )
  const sleeves = regions.arms.map((arm, side) =>
    wornSleeve(
      armMask(arm, (way) => (way > arm.wrist ? 0 : body.armRadius[side as 0 | 1] * (way < arm.elbow ? 1.15 : 1))),
      { person, parts, head },
    ),
  )
  const mask = maskWhere(
    top,
    (i) => joined.data[i] + prints.data[i] > 0 || sleeves.some((sleeve) => sleeve.data[i] === 1),
  )
  return { mask, prints }
}

// On an arm that is mostly cloth everything that is neither skin nor hair belongs to the sleeve, whatever its pattern.
function wornSleeve(arm: Mask, { person, parts, head }: { person: Person; parts: Parts; head: Mask }): Mask {
  const { skin, top, hair } = parts
  let cloth = 0
  let all = 0
  for (let i = 0; i < arm.data.length; i++) {
    if (!arm.data[i] || person.mask.data[i] <= 0.5 || hair.data[i] || head.data[i]) continue
    cloth += top.data[i]
    all++
  }
  if (cloth <= 0.3 * all) return maskWhere(arm, () => false)
  return maskWhere(
    arm,
    (i) => arm.data[i] === 1 && person.mask.data[i] > 0.5 && !hair.data[i] && !head.data[i] && !skin.data[i],
  )
}

interface Removable {
  readonly mask: Mask
  /** Along the person's edge: pixels that look like the ground already. */
  readonly groundLike: Mask
}

// The mask and the parts end a little before the garment does.
function growOverEdge(
  old: Outline,
  { person, body, parts, regions }: FittingRegions,
  { shoulders, ground }: { shoulders: Mask; ground: Reduced },
): Removable {
  const { skin, lower, hair, along, lab } = parts
  const grown = growByColour(old.mask, { lab, ground, unit: body.unit })
  const touching = dilate(old.mask, 1)
  const deep = erode(
    maskWhere(old.mask, (i) => person.mask.data[i] >= 0.5),
    0.06 * body.unit,
  )
  const mask = maskWhere(old.mask, (i) => {
    if (!grown.data[i] || hair.data[i] || regions.head.data[i] || lower.data[i]) return false
    if (skin.data[i] && !old.prints.data[i] && !touching.data[i]) return false
    return along.data[i] > -0.14 || shoulders.data[i] === 1
  })
  const groundLike = maskWhere(mask, (i) => {
    if (!mask.data[i]) return false
    const inside = deep.data[i] === 1 || (shoulders.data[i] === 1 && along.data[i] > -0.14)
    return !(inside && person.mask.data[i] >= 0.9) && difference(lab, ground, i) < 8
  })
  return { mask, groundLike }
}

// A mask's soft edge leaves a rim of the garment outside: there a pixel belongs to what its colour is nearer to.
function growByColour(old: Mask, { lab, ground, unit }: { lab: Colours; ground: Reduced; unit: number }): Mask {
  const sure = reduceMasked(lab, old, ground.factor)
  const cloth = { cells: fillSmoothly(sure.colours, sure.weight), factor: ground.factor }
  const near = dilate(old, 0.018 * unit)
  const far = dilate(old, 0.06 * unit)
  const alike = maskWhere(
    old,
    (i) => old.data[i] === 1 || (far.data[i] === 1 && difference(lab, cloth, i) < difference(lab, ground, i)),
  )
  const rim = dilate(alike, 1)
  return maskWhere(old, (i) => near.data[i] + rim.data[i] > 0)
}

function difference({ width, data }: Colours, { cells, factor }: Reduced, i: number): number {
  const row = Math.floor(Math.floor(i / width) / factor)
  const at = (row * cells.width + Math.floor((i % width) / factor)) * 3
  const k = i * 3
  return Math.hypot(data[k] - cells.data[at], data[k + 1] - cells.data[at + 1], data[k + 2] - cells.data[at + 2])
}

// Arms that the old sleeves cover and the new ones do not: they are drawn as skin even in front of the new garment. An arm that
// was bare already keeps its own pixels; the cloth beside it is not its sleeve.
function undressedArms({ body, parts, regions }: FittingRegions, old: Mask): Mask {
  const { uncovered, limbs } = regions
  const ends = regions.arms.map((arm) => sleeveEnd(arm, parts, 0.05 * body.unit))
  return maskWhere(
    old,
    (i) =>
      old.data[i] === 1 &&
      uncovered.data[i] === 1 &&
      limbs.data[i] === 1 &&
      !parts.skin.data[i] &&
      regions.arms.some(
        (arm, side) => arm.along.data[i] < ends[side] && arm.distance.data[i] < FULL_REACH * arm.bareRadius,
      ),
  )
}

const FULL_REACH = 1.3

// How far down the arm, in px from the shoulder, there is more cloth than skin along the bone.
function sleeveEnd(arm: ArmField, { skin, top }: Parts, step: number): number {
  const cloth = new Float64Array(Math.ceil(arm.wrist / step) + 1)
  for (let i = 0; i < skin.data.length; i++) {
    if (arm.distance.data[i] > 0.5 * arm.bareRadius || arm.along.data[i] > arm.wrist) continue
    cloth[Math.floor(arm.along.data[i] / step)] += top.data[i] - skin.data[i]
  }
  return step * (cloth.findLastIndex((surplus) => surplus > 0) + 1)
}

function assignZones(
  removable: Removable,
  { person, body, parts, placement, regions }: FittingRegions,
  { shoulders, cover, undressed }: { shoulders: Mask; cover: Plane; undressed: Mask },
): Uint8Array {
  const { along, skin } = parts
  const { sideways, limbs, uncovered } = regions
  const zones = new Uint8Array(cover.data.length)
  for (let i = 0; i < zones.length; i++) {
    if (!removable.mask.data[i]) continue
    const f = along.data[i]
    if (undressed.data[i]) zones[i] = SKIN
    else if (cover.data[i] >= 0.95) continue
    // Light cloth before a light wall: ground over ground does no harm, anything else would grow patches.
    else if (removable.groundLike.data[i] && !(limbs.data[i] && person.mask.data[i] >= 0.9)) zones[i] = GROUND
    else if (isBelowHem(i)) zones[i] = LOWER
    else if (isBody(i, f)) zones[i] = SKIN
    else if (f < 1.25) zones[i] = GROUND
  }
  growDownwards(zones, 0.07 * body.unit, { width: cover.width, accepts: acceptsLower })
  joinEnclosedToSkin(zones, person.mask)
  return zones

  function isBelowHem(i: number): boolean {
    const f = along.data[i]
    return f > placement.hem - 0.03 && f < 1.7 && sideways.data[i] < 1.12 && !uncovered.data[i]
  }

  function isBody(i: number, f: number): boolean {
    if (person.mask.data[i] <= 0.3) return false
    if (limbs.data[i] || shoulders.data[i]) return true
    return f > -0.02 && f < 1.2 && sideways.data[i] < (f < 0.35 ? 1 : 0.88)
  }

  // Below an old hem lies its shadow and its last seam: they go too.
  function acceptsLower(i: number): boolean {
    return (
      isBelowHem(i) &&
      !removable.groundLike.data[i] &&
      cover.data[i] < 0.95 &&
      !skin.data[i] &&
      person.mask.data[i] > 0.4
    )
  }
}

function growDownwards(
  zones: Uint8Array,
  length: number,
  { width, accepts }: { width: number; accepts: (index: number) => boolean },
): void {
  const reach = Math.trunc(length)
  const left = new Int32Array(width)
  for (let i = 0; i < zones.length; i++) {
    const x = i % width
    if (zones[i] === LOWER) left[x] = reach
    else if (left[x]-- > 0 && zones[i] === KEEP && accepts(i)) zones[i] = LOWER
  }
}

// Ground can only be seen at the person's edge; what is enclosed by the body is body.
function joinEnclosedToSkin(zones: Uint8Array, mask: Plane): void {
  const open = dilate(
    maskWhere(mask, (i) => mask.data[i] < 0.3),
    2,
  )
  const { labels, components } = connectedComponents(maskWhere(mask, (i) => zones[i] === GROUND))
  const touches = new Uint8Array(components.length + 1)
  for (let i = 0; i < zones.length; i++) if (open.data[i]) touches[labels[i]] = 1
  for (let i = 0; i < zones.length; i++) if (zones[i] === GROUND && !touches[labels[i]]) zones[i] = SKIN
}

// A strip so thin that the new garment could as well lie a finger further becomes garment: a drawn edge in the old one's
// place cannot be told from a worn one, invented skin or ground can.
function hugGarment(zones: Uint8Array, { body, parts }: FittingRegions, cover: Plane): void {
  const reach = dilate(
    maskWhere(cover, (i) => cover.data[i] >= 0.95),
    0.045 * body.unit,
  )
  const loose = maskWhere(cover, (i) => zones[i] !== KEEP && zones[i] !== LOWER && cover.data[i] < 0.95)
  const { labels, components } = connectedComponents(loose)
  const far = new Uint8Array(components.length + 1)
  for (let i = 0; i < zones.length; i++) if (!reach.data[i]) far[labels[i]] = 1
  for (let i = 0; i < zones.length; i++)
    if (loose.data[i] && !far[labels[i]] && parts.along.data[i] > -0.2) zones[i] = GARMENT
}
