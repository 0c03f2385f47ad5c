import type { BodyFrame } from '../../../../vision/body/body-frame.ts'
import { bothSides } from '../../../../vision/body/keypoints.ts'
import { componentsTouching, connectedComponents } from '../../../../vision/raster/components.ts'
import { distanceTo } from '../../../../vision/raster/distance.ts'
import { featherMask } from '../../../../vision/raster/feather.ts'
import { dilate, open } from '../../../../vision/raster/morphology.ts'
import { createMask, type Mask, maskWhere, type Plane, subset } from '../../../../vision/raster/plane.ts'
import { fillPolygon } from '../../../../vision/raster/polygon.ts'
import { interpolate } from '../../../../vision/raster/polyline.ts'
import { cellAt } from '../../../../vision/raster/reduce.ts'
import { percentile } from '../../../../vision/raster/statistics.ts'
import { between, distance, dot, move, subtract } from '../../../../vision/raster/vector.ts'
import type { FittingRegions } from '../../fit/upper/fitting.ts'
import { SOLID } from '../../warp/flat-garment.ts'
import type { FlatGarment } from '../../warp/layers.ts'
import { BACKGROUND, GARMENT, KEEP, LOWER, SKIN, type WornGarment } from '../removal.ts'
import {
  ARM_OUTLINE,
  BELOW_HEM,
  CAST_SHADOW,
  EDGE_EXTENSION,
  LOWER_WIDTH,
  LUMP_SIZE,
  MIDRIFF,
  NECK,
  TORSO,
  UNDRESSED,
} from '../tuning.ts'
import { findCuffShadows } from './cuff-shadow.ts'

/** Selects the replacement of each pixel of the worn garment: KEEP, BACKGROUND, LOWER, SKIN or GARMENT. */
export function assignZones(fitting: FittingRegions, worn: WornGarment, garment: FlatGarment): Uint8Array {
  const { person, body, parts, placement, regions } = fitting
  const { along, skin } = parts
  const { sideways, limbs } = regions
  const { cover } = garment
  const shoulders = dilate(regions.shoulders, 0.02 * body.unit)
  const under = keptUnder(fitting)
  const undressed = undressedArms(fitting, { worn, cover, under })
  const cuffs = findCuffShadows(fitting, worn.cloth)
  const isNeck = neckTest(fitting)
  const isBesideLower = besideLowerTest(fitting)
  const zones = new Uint8Array(cover.data.length)
  for (let i = 0; i < zones.length; i++) {
    if (cuffs.data[i] && !under.data[i]) zones[i] = SKIN
    if (!worn.removable.data[i] || under.data[i]) continue
    if (undressed.data[i]) zones[i] = SKIN
    else if (cover.data[i] >= SOLID) continue
    // Light cloth in front of a light wall: background over background is harmless, any other replacement would create patches.
    else if (worn.backgroundLike.data[i] && !(person.mask.data[i] >= 0.6 && isBody(i))) zones[i] = BACKGROUND
    else if (isBelowHem(i) && !isMidriff(i)) zones[i] = isBesideLower(i) ? BACKGROUND : LOWER
    else if (isBody(i)) zones[i] = SKIN
    else if (along.data[i] < TORSO.background) zones[i] = BACKGROUND
  }
  growDownwards(zones, BELOW_HEM.shadow * body.unit, { width: cover.width, accepts: acceptsLower })
  joinEnclosedToSkin(zones, person.mask)
  smoothArms(zones, fitting, cover)
  removeCastShadow(zones, fitting, worn)
  extendGarmentToWornEdge(zones, fitting, { garment, undressed })
  return zones

  function isBelowHem(i: number): boolean {
    const f = along.data[i]
    return f > placement.hem - BELOW_HEM.above && f < BELOW_HEM.until && sideways.data[i] < BELOW_HEM.width
  }

  // The region between a crop top and the waistband is the belly. Under a coat or a dress the waistband is unknown.
  function isMidriff(i: number): boolean {
    return placement.hem < MIDRIFF.hem && placement.oldHem < MIDRIFF.coat && along.data[i] < MIDRIFF.waistband
  }

  function isBody(i: number): boolean {
    if (person.mask.data[i] <= 0.3) return false
    if (limbs.data[i] || shoulders.data[i]) return true
    const f = along.data[i]
    if (f < NECK.until) return f > NECK.top && isNeck(i)
    return f < TORSO.until && sideways.data[i] < (f < TORSO.chest ? 1 : TORSO.belowChest)
  }

  // Remove the shadow and the seam below an old hem, too.
  function acceptsLower(i: number): boolean {
    if (!isBelowHem(i) || worn.backgroundLike.data[i] || skin.data[i]) return false
    return cover.data[i] < SOLID && person.mask.data[i] > 0.4
  }
}

// From the mouth to the middle between the shoulders. A high collar is wider than the neck.
function neckTest({ person, body, parts }: FittingRegions): (i: number) => boolean {
  const { leftEar, rightEar, mouthLeft, mouthRight } = person.landmarks
  const mouth = subtract(between(mouthLeft, mouthRight, 0.5), body.shoulders)
  const slope = dot(mouth, body.right) / body.unit / Math.min(-0.1, dot(mouth, body.down) / body.trunk)
  const half = Math.min(Math.max((NECK.perEar * distance(leftEar, rightEar)) / body.unit, NECK.min), NECK.max)
  return (i) => {
    const f = parts.along.data[i]
    const width = interpolate([NECK.from, NECK.until], [half, NECK.root], f)
    return Math.abs(parts.across.data[i] - slope * f) < width
  }
}

// A wide jacket hides the sides of the trousers: above its hem they are as wide as directly below it.
function besideLowerTest({ person, parts, placement, regions }: FittingRegions): (i: number) => boolean {
  const { from, to, margin, outer } = LOWER_WIDTH
  const { along, across, lower } = parts
  const rows = new Map<number, { left: number; right: number }>()
  // An arm or a hand beside the trousers may hide their edge.
  const isHidden = { left: false, right: false }
  for (let i = 0; i < along.data.length; i++) {
    const below = along.data[i] - placement.oldHem
    if (below < from || below > to || person.mask.data[i] < 0.5) continue
    if (regions.limbs.data[i]) isHidden[across.data[i] < 0 ? 'left' : 'right'] = true
    if (!lower.data[i] || regions.sideways.data[i] >= BELOW_HEM.width) continue
    const y = Math.floor(i / along.width)
    const { left, right } = rows.get(y) ?? { left: Number.POSITIVE_INFINITY, right: Number.NEGATIVE_INFINITY }
    rows.set(y, { left: Math.min(left, across.data[i]), right: Math.max(right, across.data[i]) })
  }
  if (rows.size === 0) return () => false
  // An uneven hem hides one side in some of the rows.
  const edge = (side: 'left' | 'right', share: number) =>
    percentile(
      [...rows.values()].map((row) => row[side]),
      share,
    )
  const left = isHidden.left ? Number.NEGATIVE_INFINITY : edge('left', 1 - outer) - margin
  const right = isHidden.right ? Number.POSITIVE_INFINITY : edge('right', outer) + margin
  return (i) => across.data[i] < left || across.data[i] > right
}

// Arms that the old sleeves cover and the new sleeves do not: drawn as skin even in front of the new garment. An arm that was
// already bare keeps its own pixels; the cloth beside it is not its sleeve.
function undressedArms(
  { body, parts, placement, regions }: FittingRegions,
  { worn, cover, under }: { worn: WornGarment; cover: Plane; under: Mask },
): Mask {
  const { arms, uncovered, limbs } = regions
  const starts = bothSides((side) => placement.sleeves.find((sleeve) => sleeve.side === side)?.length ?? 0)
  return subset(uncovered, (i) => {
    if (!worn.mask.data[i] || !limbs.data[i] || parts.skin.data[i] || under.data[i]) return false
    return arms.some((arm, side) => {
      const way = arm.along.data[i]
      if (way >= arm.sleeveEnd) return false
      // In front of the torso an arm's edge resembles the cloth behind it: only its middle is certain.
      const before = UNDRESSED.before * Math.min(1, Math.max(0, (way - starts[side]) / (UNDRESSED.over * body.unit)))
      return arm.distance.data[i] < (cover.data[i] >= SOLID ? before : UNDRESSED.beside) * arm.bareRadius
    })
  })
}

// An open jacket is worn over other clothes: regions between its fronts, below its hem and beyond its cuffs stay, and so do all regions
// that a waistcoat does not cover.
function keptUnder({ body, parts, placement, regions }: FittingRegions): Mask {
  const { openFront, neckCorners, sleeves, hem } = placement
  if (!openFront) return createMask(parts.along)
  if (sleeves.length === 0) return maskWhere(parts.along, () => true)
  const [left, right] = openFront
  const above = neckCorners.map((corner) => move(corner, body.down, -0.5 * body.unit))
  const front = fillPolygon(parts.along, [above[0], ...left, ...right.toReversed(), above[1]])
  return maskWhere(
    front,
    (i) => front.data[i] === 1 || regions.beyondCuffs.data[i] === 1 || parts.along.data[i] > hem - BELOW_HEM.above,
  )
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

// Background is visible only at the person's edge; an enclosed region is body.
function joinEnclosedToSkin(zones: Uint8Array, mask: Plane): void {
  const outside = maskWhere(mask, (i) => mask.data[i] < 0.3)
  const open = dilate(outside, 2)
  const background = maskWhere(mask, (i) => zones[i] === BACKGROUND)
  const reached = componentsTouching(background, open)
  for (let i = 0; i < zones.length; i++) if (background.data[i] && !reached.data[i]) zones[i] = SKIN
}

// The outline of an old sleeve is as jagged as its pattern and its folds: an arm's is smooth.
function smoothArms(zones: Uint8Array, { person, body: { unit }, regions }: FittingRegions, cover: Plane): void {
  const sigma = ARM_OUTLINE * unit
  const arms = subset(regions.limbs, (i) => zones[i] === SKIN && cover.data[i] < SOLID)
  const near = dilate(arms, 2 * sigma)
  const body = bodyWithin(zones, person.mask)
  const inside = maskWhere(cover, (i) => body.data[i] === 1 || (zones[i] === KEEP && cover.data[i] >= SOLID))
  const share = featherMask(inside, sigma)
  for (let i = 0; i < zones.length; i++) {
    if (!near.data[i] || cover.data[i] >= SOLID) continue
    if (zones[i] === SKIN ? !regions.limbs.data[i] : inside.data[i]) continue
    if (share.data[i] > 0.5) zones[i] = SKIN
    else if (zones[i] === SKIN) zones[i] = BACKGROUND
  }
}

/** The person without the parts of the worn garment that background replaces. */
export function bodyWithin(zones: Uint8Array, mask: Plane): Mask {
  return maskWhere(mask, (i) => (zones[i] === KEEP ? mask.data[i] > 0.5 : zones[i] !== BACKGROUND))
}

// An old sleeve leaves its shadow on the wall, and its own shaded rim is often mistaken for that shadow.
function removeCastShadow(
  zones: Uint8Array,
  { person, body, parts }: FittingRegions,
  { removable, background }: WornGarment,
): void {
  const removed = subset(removable, (i) => zones[i] === BACKGROUND || zones[i] === SKIN)
  const near = dilate(removed, CAST_SHADOW.near * body.unit)
  const { data } = parts.lab
  for (let i = 0; i < zones.length; i++) {
    if (zones[i] !== KEEP || !near.data[i] || person.mask.data[i] >= 0.5) continue
    const k = i * 3
    const cell = cellAt(background, removable, i)
    const darker = background.cells.data[cell] - data[k]
    const tint = Math.hypot(
      data[k + 1] - background.cells.data[cell + 1],
      data[k + 2] - background.cells.data[cell + 2],
    )
    if (darker > CAST_SHADOW.darker[0] && darker < CAST_SHADOW.darker[1] && tint < CAST_SHADOW.tint)
      zones[i] = BACKGROUND
  }
}

// A thin strip becomes garment if the new garment could as well extend that far: a drawn edge in the old garment's place
// looks like a worn edge, unlike invented skin or background. Hem, cuffs and neckline stay where the product has them.
function extendGarmentToWornEdge(
  zones: Uint8Array,
  { body, parts, placement, regions }: FittingRegions,
  { garment, undressed }: { garment: FlatGarment; undressed: Mask },
): void {
  const { torso, sleeves, cover } = garment
  const isOpen = (i: number) => (zones[i] === BACKGROUND || zones[i] === SKIN) && cover.data[i] < SOLID
  const solid = (plane: Plane) => distanceTo(maskWhere(plane, (i) => plane.data[i] >= SOLID))
  const [toTorso, toSleeve] = [solid(torso), solid(sleeves)]
  const toEdge = distanceTo(maskWhere(cover, (i) => !isOpen(i) && cover.data[i] < SOLID))
  // Where the old garment diverges from the new one, the strip ends in a slope instead of a step.
  const isNear = (far: Plane, i: number, reach: number) => {
    const max = reach * body.unit
    return far.data[i] <= Math.min(max, 2 * max - far.data[i] - toEdge.data[i])
  }
  const neck = [...placement.neckline.map((point) => move(point, body.down, -0.01 * body.unit))]
  const up = -0.4 * body.unit
  const opening = fillPolygon(torso, [
    ...neck,
    move(placement.neckCorners[1], body.down, up),
    move(placement.neckCorners[0], body.down, up),
  ])
  // On an arm a garment ends at the end of its sleeve.
  const ends = bothSides((side) => placement.sleeves.find((sleeve) => sleeve.side === side)?.length ?? 0)
  const isUnderSleeve = (i: number) =>
    regions.arms.some((arm, side) => arm.along.data[i] < ends[side] - 0.1 * body.unit)
  const hug = createMask(cover)
  for (let i = 0; i < zones.length; i++) {
    if (!isOpen(i) || undressed.data[i]) continue
    if (parts.along.data[i] > placement.hem - 0.02) continue
    if (regions.limbs.data[i] && !isUnderSleeve(i)) continue
    const atTorso = isNear(toTorso, i, opening.data[i] ? EDGE_EXTENSION.neck : EDGE_EXTENSION.torso)
    if (atTorso || (isNear(toSleeve, i, EDGE_EXTENSION.sleeve) && !regions.beyondCuffs.data[i])) hug.data[i] = 1
  }
  // A tongue beside the garment, such as the remainder of the fork under an old sleeve, is not part of its edge.
  const broad = open(
    maskWhere(cover, (i) => hug.data[i] === 1 || cover.data[i] >= SOLID),
    EDGE_EXTENSION.tongue * body.unit,
  )
  for (let i = 0; i < zones.length; i++) if (!broad.data[i]) hug.data[i] = 0
  // Regions that an arm separates from the garment do not belong to it.
  const seen = dilate(
    maskWhere(cover, (i) => cover.data[i] >= SOLID && !(regions.uncovered.data[i] && parts.skin.data[i])),
    2,
  )
  const joined = withoutLumps(componentsTouching(hug, seen), (i) => Math.min(toTorso.data[i], toSleeve.data[i]), body)
  for (let i = 0; i < zones.length; i++) if (joined.data[i]) zones[i] = GARMENT
}

// A seam that is slightly further out stays so for some length; a short and thick strip is the root of an old sleeve.
function withoutLumps(hug: Mask, farOf: (i: number) => number, { unit }: BodyFrame): Mask {
  const { labels, components } = connectedComponents(hug)
  const thickness = new Float32Array(components.length + 1)
  for (let i = 0; i < labels.length; i++)
    if (hug.data[i]) thickness[labels[i]] = Math.max(thickness[labels[i]], farOf(i))
  const isLump = components.map(({ label, area }) => {
    const thick = thickness[label]
    return thick > LUMP_SIZE.thick * unit && area < LUMP_SIZE.length * thick ** 2
  })
  return subset(hug, (i) => !isLump[labels[i] - 1])
}
