import { BACKGROUND, KEEP, LOWER, SKIN } from '../removal.ts'

/** What the rules ask about a pixel. */
export interface ZoneEvidence {
  /** Clothes under an open jacket. */
  readonly isUnderJacket: (pixel: number) => boolean
  /** The shadow of an old cuff, or cloth at it that is labelled as skin. */
  readonly isCuffShadow: (pixel: number) => boolean
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
  {
    name: 'old cuffs become skin beside worn cloth and in front of the new garment',
    zone: SKIN,
    applies: (e, i) => e.isCuffShadow(i) && (!e.isRemovable(i) || e.isCovered(i)),
  },
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
  { name: 'the rest of old cuffs becomes skin', zone: SKIN, applies: (e, i) => e.isCuffShadow(i) },
]

/** The zone of one pixel: KEEP, BACKGROUND, LOWER or SKIN. */
export function zoneOf(evidence: ZoneEvidence, pixel: number): number {
  for (const { zone, applies } of ZONE_RULES) if (applies(evidence, pixel)) return zone
  return KEEP
}
