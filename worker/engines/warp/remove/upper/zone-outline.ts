import { componentsTouching } from '../../../../vision/raster/components.ts'
import { featherMask } from '../../../../vision/raster/feather.ts'
import { dilate } from '../../../../vision/raster/morphology.ts'
import { type Mask, maskWhere, type Plane, subset } from '../../../../vision/raster/plane.ts'
import { cellAt } from '../../../../vision/raster/reduce.ts'
import { norm } from '../../../../vision/raster/vector.ts'
import type { FittingRegions } from '../../fit/upper/fitting.ts'
import { SOLID } from '../../warp/flat-garment.ts'
import { BACKGROUND, KEEP, LOWER, SKIN, type WornGarment } from '../removal.ts'
import { ARM_OUTLINE, BELOW_HEM, CAST_SHADOW } from '../tuning.ts'

/** Removes the shadow and the seam below an old hem, too. */
export function growLowerDownwards(
  zones: Uint8Array,
  { person, body, parts }: FittingRegions,
  { worn, cover, isBelowHem }: { worn: WornGarment; cover: Plane; isBelowHem: (pixel: number) => boolean },
): void {
  const reach = Math.trunc(BELOW_HEM.shadow * body.unit)
  const left = new Int32Array(cover.width)
  const accepts = (i: number) =>
    isBelowHem(i) &&
    !worn.backgroundLike.data[i] &&
    !parts.skin.data[i] &&
    cover.data[i] < SOLID &&
    person.mask.data[i] > 0.4
  for (let i = 0; i < zones.length; i++) {
    const x = i % cover.width
    if (zones[i] === LOWER) left[x] = reach
    else if (left[x]-- > 0 && zones[i] === KEEP && accepts(i)) zones[i] = LOWER
  }
}

/** Background is visible only at the person's edge; an enclosed region is body. */
export function joinEnclosedToSkin(zones: Uint8Array, mask: Plane): void {
  const outside = maskWhere(mask, (i) => mask.data[i] < 0.3)
  const open = dilate(outside, 2)
  const background = maskWhere(mask, (i) => zones[i] === BACKGROUND)
  const reached = componentsTouching(background, open)
  for (let i = 0; i < zones.length; i++) if (background.data[i] && !reached.data[i]) zones[i] = SKIN
}

/** The outline of an old sleeve is as jagged as its pattern and its folds: an arm's is smooth. */
export function smoothArms(zones: Uint8Array, { person, body: { unit }, regions }: FittingRegions, cover: Plane): void {
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

/** An old sleeve leaves its shadow on the wall, and its own shaded rim is often mistaken for that shadow. */
export function removeCastShadow(
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
    const tint = norm(data[k + 1] - background.cells.data[cell + 1], data[k + 2] - background.cells.data[cell + 2])
    if (darker > CAST_SHADOW.darker[0] && darker < CAST_SHADOW.darker[1] && tint < CAST_SHADOW.tint)
      zones[i] = BACKGROUND
  }
}
