import { dilate } from '../../../../vision/raster/morphology.ts'
import type { FittingRegions } from '../../fit/upper/fitting.ts'
import { SOLID } from '../../warp/flat-garment.ts'
import type { FlatGarment } from '../../warp/layers.ts'
import type { WornGarment } from '../removal.ts'
import { BELOW_HEM, MIDRIFF, NECK, TORSO } from '../tuning.ts'
import { findCuffShadows } from './cuff-shadow.ts'
import { extendGarmentToWornEdge } from './worn-edge.ts'
import { besideLowerTest, keptUnder, neckTest, undressedArms } from './zone-evidence.ts'
import { growLowerDownwards, joinEnclosedToSkin, removeCastShadow, smoothArms } from './zone-outline.ts'
import { type ZoneEvidence, zoneOf } from './zone-rules.ts'

/** Selects the replacement of each pixel of the worn garment: KEEP, BACKGROUND, LOWER, SKIN or GARMENT. */
export function assignZones(fitting: FittingRegions, worn: WornGarment, garment: FlatGarment): Uint8Array {
  const { cover } = garment
  const under = keptUnder(fitting)
  const undressed = undressedArms(fitting, { worn, cover, under })
  const cuffs = findCuffShadows(fitting, worn.cloth)
  const place = placeTests(fitting)
  const evidence: ZoneEvidence = {
    ...place,
    isUnderJacket: (i) => under.data[i] === 1,
    isCuffShadow: (i) => cuffs.data[i] === 1,
    isRemovable: (i) => worn.removable.data[i] === 1,
    isUndressedArm: (i) => undressed.data[i] === 1,
    isCovered: (i) => cover.data[i] >= SOLID,
    isBackgroundLike: (i) =>
      worn.backgroundLike.data[i] === 1 && !(fitting.person.mask.data[i] >= 0.6 && place.isBody(i)),
    isBelowHem: (i) => place.isBelowHem(i) && !place.isMidriff(i),
  }
  const zones = new Uint8Array(cover.data.length)
  for (let i = 0; i < zones.length; i++) zones[i] = zoneOf(evidence, i)
  growLowerDownwards(zones, fitting, { worn, cover, isBelowHem: place.isBelowHem })
  joinEnclosedToSkin(zones, fitting.person.mask)
  smoothArms(zones, fitting, cover)
  removeCastShadow(zones, fitting, worn)
  extendGarmentToWornEdge(zones, fitting, { garment, undressed })
  return zones
}

// Tests of a pixel's place on the body.
function placeTests(fitting: FittingRegions) {
  const { person, body, parts, placement, regions } = fitting
  const { along } = parts
  const { sideways, limbs } = regions
  const shoulders = dilate(regions.shoulders, 0.02 * body.unit)
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
      if (limbs.data[i] || shoulders.data[i]) return true
      const f = along.data[i]
      if (f < NECK.until) return f > NECK.top && isNeck(i)
      return f < TORSO.until && sideways.data[i] < (f < TORSO.chest ? 1 : TORSO.belowChest)
    },
  }
}
