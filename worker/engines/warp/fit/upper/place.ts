import { DrapeError } from '../../../../../api/shared/contract/errors.ts'
import { measureArm } from '../../../../vision/body/arm-profile.ts'
import { type BodyFrame, unusable } from '../../../../vision/body/body-frame.ts'
import { axisAt, bothSides } from '../../../../vision/body/keypoints.ts'
import type { Parts } from '../../../../vision/body/parts.ts'
import { isSeated, notStanding } from '../../../../vision/body/seated.ts'
import type { UpperGarment } from '../../../../vision/garment/garment.ts'
import type { Person } from '../../../../vision/person/person.ts'
import { fitThinPlate } from '../../../../vision/raster/thin-plate.ts'
import { ASPECT, DRESS_HEM, MIN_BELOW_ARMPITS, MIN_SYMMETRY, PLAIN_ASPECT, TURNED } from '../tuning.ts'
import type { Placement } from './fitting.ts'
import { chooseSize, type Fit } from './size.ts'
import { placeSleeve } from './sleeve.ts'
import { placeTorso, type TorsoPlacement } from './torso.ts'
import { findWornHem } from './worn-hem.ts'

/**
 * Places a garment as `placeGarment` does. Places it as a top if only its outline makes it a dress and it would hardly cover the
 * thighs: a dress removes the clothes worn on the legs.
 */
export function placeUpper(
  look: { readonly person: Person; readonly body: BodyFrame; readonly parts: Parts },
  garment: UpperGarment,
): { placement: Placement; garment: UpperGarment } {
  const seated = isSeated(look.body)
  if (seated && garment.kind === 'dress' && garment.kindFrom !== 'outline' && !garment.openFront) throw notStanding()
  const placement = placeGarment({ ...look, garment })
  if (seated && placement.hem >= DRESS_HEM && garment.kind === 'dress' && !garment.openFront) throw notStanding()
  if (garment.kind !== 'dress' || garment.kindFrom !== 'outline' || placement.hem >= DRESS_HEM)
    return { placement, garment }
  const top = { ...garment, kind: 'top', kindFrom: 'doubt' } as const
  return { placement: placeGarment({ ...look, garment: top }), garment: top }
}

/**
 * Places a top or dress on a person: a torso piece with about 60 matching points, and one grid per sleeve.
 *
 * Throws `DrapeError` RESULT_REJECTED if the garment would be distorted beyond recognition, or if the photo ends where bare
 * arms would begin.
 */
export function placeGarment({
  person,
  body,
  parts,
  garment,
}: {
  person: Person
  body: BodyFrame
  parts: Parts
  garment: UpperGarment
}): Placement {
  const oldHem = findWornHem(person.mask, parts)
  const input = { mask: person.mask, body, garment, oldHem }
  const fit = chooseSize(input)
  const aspect = fit.down / (fit.across * body.foreshortening)
  if (!(aspect > ASPECT.min && aspect < ASPECT.max))
    throw unusable(
      'The garment does not fit the proportions of the person in the photo. Use a front view of a standing person.',
    )
  const torso = placeTorso(input, fit)
  const lowest = Math.max(torso.armpits[0].y, torso.armpits[1].y)
  if (!garment.sleeved && person.mask.height - lowest < MIN_BELOW_ARMPITS * body.unit)
    throw new DrapeError(
      'RESULT_REJECTED',
      'The photo ends at the chest; a garment without sleeves needs a photo that shows more of the arms',
    )
  const arms = bothSides((side) => measureArm(person.mask, body, side))
  const armLength = Math.max(arms[0].length, arms[1].length)
  const sleeves = bothSides((side) =>
    placeSleeve({ body, garment, fit, profile: arms[side], armLength, side, armpit: torso.armpits[side] }),
  ).filter((sleeve) => sleeve !== null)
  return {
    ...torso,
    openFront: placeOpenFront(garment, torso),
    tips: fit.tips,
    sleeves: garment.sleeved ? sleeves : [],
    arms,
    hem: fit.hem,
    oldHem,
    aspect,
    warnings: findWarnings({ person, body, garment, fit, aspect }),
  }
}

function placeOpenFront({ openFront }: UpperGarment, { source, target }: TorsoPlacement): Placement['openFront'] {
  if (!openFront) return null
  const toPerson = fitThinPlate(source, target)
  return [openFront[0].map(toPerson), openFront[1].map(toPerson)]
}

function findWarnings({
  person,
  body,
  garment,
  fit,
  aspect,
}: {
  person: Person
  body: BodyFrame
  garment: UpperGarment
  fit: Fit
  aspect: number
}): string[] {
  const bottom = axisAt(body, fit.hem).y
  const found: [string, boolean][] = [
    ['PERSON_TURNED', body.shoulderWidth < TURNED * body.trunk],
    ['SLEEVE_FOLDED', garment.foldedSleeve],
    ['GARMENT_STRETCHED', aspect < PLAIN_ASPECT.min || aspect > PLAIN_ASPECT.max],
    ['GARMENT_ASYMMETRIC', garment.symmetry < MIN_SYMMETRY],
    ['CATEGORY_ASSUMED', garment.kindFrom === 'doubt'],
    ['HEM_OUTSIDE_PICTURE', garment.kind === 'dress' && bottom > person.mask.height],
  ]
  return found.filter(([, holds]) => holds).map(([code]) => code)
}
