import { expect, it } from 'vitest'
import { BACKGROUND, KEEP, LOWER, SKIN } from '../../../../../../worker/engines/warp/remove/removal.ts'
import { ZONE_RULES, type ZoneEvidence, zoneOf } from '../../../../../../worker/engines/warp/remove/upper/zones.ts'

const never = () => false
const always = () => true

/** A pixel of worn cloth in front of the background, away from the body. */
const CLOTH: ZoneEvidence = {
  isUnderJacket: never,
  isRemovable: always,
  isUndressedArm: never,
  isCovered: never,
  isBackgroundLike: never,
  isBelowHem: never,
  isBesideLower: never,
  isBody: never,
  isBesideTorso: never,
}

/** Each rule with what decides it, and a later rule that it overrules. */
it.each<[string, Partial<ZoneEvidence>, Partial<ZoneEvidence>, number]>([
  ['clothes under a jacket stay', { isUnderJacket: always }, { isBody: always }, KEEP],
  ['all but the worn garment stays', { isRemovable: never }, { isUndressedArm: always, isBody: always }, KEEP],
  ['an undressed arm is in front of the new garment', { isUndressedArm: always }, { isCovered: always }, SKIN],
  ['nothing is replaced behind the new garment', { isCovered: always }, { isBackgroundLike: always }, KEEP],
  ['cloth like the background becomes background', { isBackgroundLike: always }, { isBody: always }, BACKGROUND],
  [
    'a wide hem beside the lower garment becomes background',
    { isBelowHem: always, isBesideLower: always },
    { isBody: always },
    BACKGROUND,
  ],
  ['the lower garment continues up to the new hem', { isBelowHem: always }, { isBody: always }, LOWER],
  ['the body is bared', { isBody: always }, { isBesideTorso: always, isBesideLower: always }, SKIN],
  ['cloth beside the torso becomes background', { isBesideTorso: always }, { isBesideLower: always }, BACKGROUND],
])('%s', (name, decides, overruled, zone) => {
  expect(ZONE_RULES.map((rule) => rule.name)).toContain(name)
  expect(zoneOf({ ...CLOTH, ...decides }, 0)).toBe(zone)
  expect(zoneOf({ ...CLOTH, ...overruled, ...decides }, 0)).toBe(zone)
})

it('leaves other pixels unchanged', () => {
  expect(zoneOf(CLOTH, 0)).toBe(KEEP)
})
