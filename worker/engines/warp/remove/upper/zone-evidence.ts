import { bothSides } from '../../../../vision/body/keypoints.ts'
import { componentsTouching } from '../../../../vision/raster/components.ts'
import { featherMask } from '../../../../vision/raster/feather.ts'
import {
  below,
  intersect,
  invert,
  subset,
  threshold,
  union,
  withLabel,
  without,
  withValue,
} from '../../../../vision/raster/mask.ts'
import { dilate } from '../../../../vision/raster/morphology.ts'
import { createMask, type Mask, type Plane } from '../../../../vision/raster/plane.ts'
import { fillPolygon } from '../../../../vision/raster/polygon.ts'
import { interpolate } from '../../../../vision/raster/polyline.ts'
import { percentile } from '../../../../vision/raster/statistics.ts'
import { between, distance, dot, move, subtract } from '../../../../vision/raster/vector.ts'
import type { FittingRegions } from '../../fit/upper/fitting.ts'
import { SOLID } from '../../warp/flat-garment.ts'
import { BACKGROUND, KEEP, SKIN, type WornGarment } from '../removal.ts'
import { ARM_OUTLINE, BELOW_HEM, LOWER_WIDTH, NECK, UNDRESSED } from '../tuning.ts'

/** Tests whether a pixel is neck: from the mouth to the middle between the shoulders. A high collar is wider than the neck. */
export function neckTest({ person, body, parts }: FittingRegions): (i: number) => boolean {
  const { leftEar, rightEar, mouthLeft, mouthRight } = person.landmarks
  const mouth = subtract(between(mouthLeft, mouthRight, 0.5), body.shoulders)
  const slope = dot(mouth, body.right) / body.unit / Math.min(-0.1, dot(mouth, body.down) / body.trunk)
  const half = Math.min(Math.max((NECK.perEar * distance(leftEar, rightEar)) / body.unit, NECK.min), NECK.max)
  const levels = [NECK.from, NECK.until]
  const widths = [half, NECK.root]
  return (i) => {
    const f = parts.along.data[i]
    return Math.abs(parts.across.data[i] - slope * f) < interpolate(levels, widths, f)
  }
}

/**
 * Tests whether a pixel is beside the lower garment. A wide jacket hides the sides of the trousers: above its hem they are as wide
 * as directly below it.
 */
export function besideLowerTest({ person, parts, placement, regions }: FittingRegions): (i: number) => boolean {
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

/**
 * Arms that the old sleeves cover and the new sleeves do not: drawn as skin even in front of the new garment. An arm that was
 * already bare keeps its own pixels; the cloth beside it is not its sleeve.
 */
export function undressedArms(
  { body, parts, placement, regions }: FittingRegions,
  { worn, cover, under }: { worn: WornGarment; cover: Plane; under: Mask },
): Mask {
  const { arms, uncovered, limbs } = regions
  const starts = bothSides((side) => placement.sleeves.find((sleeve) => sleeve.side === side)?.length ?? 0)
  return subset(without(intersect(uncovered, worn.mask, limbs), parts.skin, under), (i) => {
    return arms.some((arm, side) => {
      const way = arm.along.data[i]
      if (way >= arm.sleeveEnd) return false
      // In front of the torso an arm's edge resembles the cloth behind it: only its middle is certain.
      const before = UNDRESSED.before * Math.min(1, Math.max(0, (way - starts[side]) / (UNDRESSED.over * body.unit)))
      return arm.distance.data[i] < (cover.data[i] >= SOLID ? before : UNDRESSED.beside) * arm.bareRadius
    })
  })
}

/**
 * An open jacket is worn over other clothes: regions between its fronts, below its hem and beyond its cuffs stay, and so do all
 * regions that a waistcoat does not cover.
 */
export function keptUnder({ body, parts, placement, regions }: FittingRegions): Mask {
  const { openFront, neckCorners, sleeves, hem } = placement
  if (!openFront) return createMask(parts.along)
  if (sleeves.length === 0) return invert(createMask(parts.along))
  const [left, right] = openFront
  const above = neckCorners.map((corner) => move(corner, body.down, -0.5 * body.unit))
  const front = fillPolygon(parts.along, [above[0], ...left, ...right.toReversed(), above[1]])
  return union(front, regions.beyondCuffs, threshold(parts.along, hem - BELOW_HEM.above))
}

/** Background is visible only at the person's edge; an enclosed region is body. */
export function joinEnclosedToSkin(zones: Uint8Array, mask: Plane): void {
  const open = dilate(below(mask, 0.3), 2)
  const background = withLabel(mask, zones, BACKGROUND)
  const enclosed = without(background, componentsTouching(background, open))
  for (let i = 0; i < zones.length; i++) if (enclosed.data[i]) zones[i] = SKIN
}

/** Limbs and shoulders: the parts whose outline a garment that leaves them bare reveals. */
export function armsAndShoulders({ limbs, shoulders }: FittingRegions['regions']): Mask {
  return union(limbs, shoulders)
}

/** The outline of an old sleeve or strap is as jagged as its pattern and its folds: that of an arm and a shoulder is smooth. */
export function smoothArms(zones: Uint8Array, { person, body: { unit }, regions }: FittingRegions, cover: Plane): void {
  const sigma = ARM_OUTLINE * unit
  const parts = armsAndShoulders(regions)
  const arms = withValue(intersect(parts, withLabel(cover, zones, SKIN)), cover, { under: SOLID })
  const near = dilate(arms, 2 * sigma)
  const inside = armsAndCover(zones, person.mask, cover)
  const share = featherMask(inside, sigma)
  for (let i = 0; i < zones.length; i++) {
    if (!near.data[i] || cover.data[i] >= SOLID) continue
    if (zones[i] === SKIN ? !parts.data[i] : inside.data[i]) continue
    if (share.data[i] > 0.5) zones[i] = SKIN
    else if (zones[i] === SKIN) zones[i] = BACKGROUND
  }
}

/** The person without what background replaces, and the new garment. */
export function armsAndCover(zones: Uint8Array, mask: Plane, cover: Plane): Mask {
  return union(bodyWithin(zones, mask), without(withLabel(cover, zones, KEEP), below(cover, SOLID)))
}

/** The person without the parts of the worn garment that background replaces. */
export function bodyWithin(zones: Uint8Array, mask: Plane): Mask {
  const replaced = invert(withLabel(mask, zones, KEEP))
  return without(union(threshold(mask, 0.5), replaced), withLabel(mask, zones, BACKGROUND))
}
