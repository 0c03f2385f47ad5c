import { subset } from '../../../../vision/raster/mask.ts'
import { dilate } from '../../../../vision/raster/morphology.ts'
import type { Mask } from '../../../../vision/raster/plane.ts'
import type { FittingRegions } from '../../fit/upper/fitting.ts'
import { SOLID } from '../../warp/flat-garment.ts'
import type { FlatGarment } from '../../warp/layers.ts'
import { BACKGROUND, GARMENT, KEEP, LOWER, SKIN, type WornGarment } from '../removal.ts'
import { ARM_EXTENSION, BELOW_HEM, MIDRIFF, NECK, SLEEVE, TORSO } from '../tuning.ts'
import { besideLowerTest, joinEnclosedToSkin, keptUnder, neckTest, smoothArms, undressedArms } from './zone-evidence.ts'

/** Selects the replacement of each pixel of the worn garment: KEEP, BACKGROUND, LOWER, SKIN or GARMENT. */
export function assignZones(fitting: FittingRegions, worn: WornGarment, garment: FlatGarment): Uint8Array {
  const { cover } = garment
  const under = keptUnder(fitting)
  const undressed = undressedArms(fitting, { worn, cover, under })
  const place = placeTests(fitting)
  const evidence: ZoneEvidence = {
    ...place,
    isUnderJacket: (i) => under.data[i] === 1,
    isRemovable: (i) => worn.removable.data[i] === 1,
    isUndressedArm: (i) => undressed.data[i] === 1,
    isCovered: (i) => cover.data[i] >= SOLID,
    isBackgroundLike: (i) =>
      worn.backgroundLike.data[i] === 1 && !(fitting.person.mask.data[i] >= 0.6 && place.isBody(i)),
    isBelowHem: (i) => place.isBelowHem(i) && !place.isMidriff(i),
  }
  const zones = new Uint8Array(cover.data.length)
  for (let i = 0; i < zones.length; i++) if (worn.removable.data[i]) zones[i] = zoneOf(evidence, i)
  joinEnclosedToSkin(zones, fitting.person.mask)
  smoothArms(zones, fitting, cover)
  extendSleevesToArms(zones, fitting, garment)
  return zones
}

// Tests of a pixel's place on the body.
function placeTests(fitting: FittingRegions) {
  const { person, body, parts, placement, regions } = fitting
  const { along } = parts
  const { sideways } = regions
  const shoulders = dilate(regions.shoulders, 0.02 * body.unit)
  const sleeved = sleevedLimbs(fitting)
  const isNeck = neckTest(fitting)
  return {
    isBesideLower: besideLowerTest(fitting),
    isBesideTorso: (i: number) => along.data[i] < TORSO.background,
    isBelowHem: (i: number) => {
      const f = along.data[i]
      return f > placement.hem - BELOW_HEM.above && f < BELOW_HEM.until && sideways.data[i] < BELOW_HEM.width
    },
    // The region between a crop top and the waistband is the belly. Under a coat or a dress the waistband is unknown.
    isMidriff: (i: number) =>
      placement.hem < MIDRIFF.hem && placement.oldHem < MIDRIFF.coat && along.data[i] < MIDRIFF.waistband,
    isBody: (i: number) => {
      if (person.mask.data[i] <= 0.3) return false
      if (sleeved.data[i] || shoulders.data[i]) return true
      const f = along.data[i]
      if (f < NECK.until) return f > NECK.top && isNeck(i)
      return f < TORSO.until && sideways.data[i] < (f < TORSO.chest ? 1 : TORSO.belowChest)
    },
  }
}

// Of an arm that was already bare all pixels are visible: the cloth beside it is not its sleeve.
function sleevedLimbs({ body, regions: { arms, limbs } }: FittingRegions): Mask {
  return subset(limbs, (i) =>
    arms.some(({ along, sleeveEnd }) => along.data[i] < sleeveEnd + SLEEVE.beyond * body.unit),
  )
}

/** What the rules ask about a pixel. */
export interface ZoneEvidence {
  /** Clothes under an open jacket. */
  readonly isUnderJacket: (pixel: number) => boolean
  /** The worn garment, with a rim. */
  readonly isRemovable: (pixel: number) => boolean
  /** An arm that the old sleeve covers and the new one does not. */
  readonly isUndressedArm: (pixel: number) => boolean
  /** Hidden by the new garment. */
  readonly isCovered: (pixel: number) => boolean
  /** In the colour of the background, and not surely body. */
  readonly isBackgroundLike: (pixel: number) => boolean
  /** Below the new hem, where the lower garment is. */
  readonly isBelowHem: (pixel: number) => boolean
  /** Further out than the lower garment is wide. */
  readonly isBesideLower: (pixel: number) => boolean
  /** Limbs, shoulders, neck or torso. */
  readonly isBody: (pixel: number) => boolean
  /** As high as the torso. */
  readonly isBesideTorso: (pixel: number) => boolean
}

interface ZoneRule {
  readonly name: string
  readonly zone: number
  readonly applies: (evidence: ZoneEvidence, pixel: number) => boolean
}

/** In order: the first rule that applies to a pixel decides its zone. */
export const ZONE_RULES: readonly ZoneRule[] = [
  { name: 'clothes under a jacket stay', zone: KEEP, applies: (e, i) => e.isUnderJacket(i) },
  { name: 'all but the worn garment stays', zone: KEEP, applies: (e, i) => !e.isRemovable(i) },
  { name: 'an undressed arm is in front of the new garment', zone: SKIN, applies: (e, i) => e.isUndressedArm(i) },
  { name: 'nothing is replaced behind the new garment', zone: KEEP, applies: (e, i) => e.isCovered(i) },
  // Light cloth in front of a light wall: background over background is harmless, any other replacement would create patches.
  { name: 'cloth like the background becomes background', zone: BACKGROUND, applies: (e, i) => e.isBackgroundLike(i) },
  {
    name: 'a wide hem beside the lower garment becomes background',
    zone: BACKGROUND,
    applies: (e, i) => e.isBelowHem(i) && e.isBesideLower(i),
  },
  { name: 'the lower garment continues up to the new hem', zone: LOWER, applies: (e, i) => e.isBelowHem(i) },
  { name: 'the body is bared', zone: SKIN, applies: (e, i) => e.isBody(i) },
  { name: 'cloth beside the torso becomes background', zone: BACKGROUND, applies: (e, i) => e.isBesideTorso(i) },
]

/** The zone of one pixel: KEEP, BACKGROUND, LOWER or SKIN. */
export function zoneOf(evidence: ZoneEvidence, pixel: number): number {
  for (const { zone, applies } of ZONE_RULES) if (applies(evidence, pixel)) return zone
  return KEEP
}

/**
 * A slice of bare arm or shoulder outside of a sleeve becomes garment, because a sleeve goes around the arm. In each row, the slice is
 * between the sleeve and the background.
 */
function extendSleevesToArms(
  zones: Uint8Array,
  { person, body, parts, placement, regions }: FittingRegions,
  { sleeves, cover }: FlatGarment,
): void {
  const { width, height } = cover
  const reach = Math.round(ARM_EXTENSION * body.unit)
  for (const { side, length } of placement.sleeves) {
    const { along } = regions.arms[side]
    const outwards = side === 0 ? -1 : 1
    for (let y = 0; y < height; y++) {
      let edge = side === 0 ? 0 : width - 1
      while (edge >= 0 && edge < width && sleeves.data[y * width + edge] < SOLID) edge -= outwards
      if (edge < 0 || edge >= width) continue
      const isArm = (x: number) => {
        const i = y * width + x
        const isBody = x >= 0 && x < width && person.mask.data[i] > 0.1
        return isBody && zones[i] === KEEP && along.data[i] < length
      }
      // Skin, and then the outline, where the mask is soft.
      let end = edge + outwards
      while (isArm(end) && parts.skin.data[y * width + end] && Math.abs(end - edge) <= reach) end += outwards
      const bare = Math.abs(end - edge) - 1
      while (isArm(end) && person.mask.data[y * width + end] < 0.95 && Math.abs(end - edge) <= 2 * bare) end += outwards
      if (isArm(end)) continue
      for (let x = edge + outwards; x !== end; x += outwards) zones[y * width + x] = GARMENT
    }
  }
}
