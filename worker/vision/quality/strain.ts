import { bothSides } from '../body/keypoints.ts'
import { deltaE } from '../raster/colour.ts'
import { countSet, subset, without } from '../raster/mask.ts'
import type { Point } from '../raster/plane.ts'
import { fillCapsules } from '../raster/polygon.ts'
import { type Evidence, isLike } from './evidence.ts'

/** What an engine without a generative model shows badly, in squared body units; 0 means none. */
export interface Strain {
  /** Area of clothes, bags and hair that stand off the limbs and the trunk. */
  readonly bulk: number
  /** Area of skin that the photo does not show. */
  readonly skin: number
}

export function findStrain(evidence: Evidence): Strain {
  const area = evidence.scene.keypoints.unit ** 2
  return { bulk: countSet(bulkOf(evidence)) / area, skin: countSet(newSkin(evidence)) / area }
}

// Half widths of bare limbs and of a trunk in close-fitting clothes, in body units.
const LEG = [0.3, 0.25, 0.2]
const TRUNK = [0.55, 0.5]

function bulkOf({ scene: { keypoints }, body, arms, head }: Evidence) {
  const { joints, shoulders, hips, unit } = keypoints
  const thick = (chain: readonly Point[], radii: readonly number[]) =>
    fillCapsules(
      body,
      chain,
      radii.map((radius) => radius * unit),
    )
  const legs = bothSides((side) => thick([joints.hip[side], joints.knee[side], joints.ankle[side]], LEG))
  return without(body, ...arms, ...legs, thick([shoulders, hips], TRUNK), head)
}

// Painted skin is smoother and less exact in colour than that of the photo.
const PAINTED = { tint: 14, lightness: 40 } as const
const SEEN = { tint: 12, lightness: 32 } as const

function newSkin({ scene: { before, after }, changed, garment, skinColour, toProduct }: Evidence) {
  return subset(
    without(changed, garment),
    (i) =>
      skinColour !== null &&
      isLike(after, i, skinColour, PAINTED) &&
      !isLike(before, i, skinColour, SEEN) &&
      deltaE(after, i, before) > 10 &&
      toProduct(i) > 8,
  )
}
