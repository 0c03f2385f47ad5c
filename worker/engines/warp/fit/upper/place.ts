import { DrapeError } from '../../../../../api/shared/errors.ts'
import { type ArmProfile, measureArm } from '../../../../body/arm-profile.ts'
import type { BodyFrame, Sides } from '../../../../body/body-frame.ts'
import { axisAt, bothSides } from '../../../../body/keypoints.ts'
import type { Parts } from '../../../../body/parts.ts'
import type { UpperGarment } from '../../../../garment/garment.ts'
import type { Person } from '../../../../person/person.ts'
import type { Point } from '../../../../raster/plane.ts'
import { fitThinPlate } from '../../../../raster/thin-plate.ts'
import { type Fit, fitGarment } from './size.ts'
import { placeSleeve, type SleevePlacement } from './sleeve.ts'
import { placeTorso, type TorsoPlacement } from './torso.ts'
import { measureWorn } from './worn-extent.ts'

export type { PointGrid, SleevePlacement } from './sleeve.ts'

/** Where every piece of a garment goes on a person; person positions in px of the analysed picture. */
export interface Placement {
  /** Matching points of the torso piece: garment px, and person px. */
  readonly source: readonly Point[]
  readonly target: readonly Point[]
  /** Outline of the torso piece in garment px. */
  readonly torso: readonly Point[]
  /** On the person: where the shoulder seams end, the armpits, and the corners of collar and shoulder line. */
  readonly tips: Sides<Point>
  readonly armpits: Sides<Point>
  readonly neckCorners: Sides<Point>
  /** The front neckline on the person, from the left to the right corner. */
  readonly neckline: readonly Point[]
  readonly hemCorners: Sides<Point>
  /** The edges of an open front from the neck corners down past the hem; null for a closed garment. */
  readonly openFront: Sides<readonly Point[]> | null
  /** Empty for sleeveless garments. */
  readonly sleeves: readonly SleevePlacement[]
  readonly arms: Sides<ArmProfile>
  /** Body coordinate F of the new hem and of the worn garment's hem (0 when none was seen). */
  readonly hem: number
  readonly oldHem: number
  /** Vertical scale of the torso over its horizontal scale: 1 when the garment keeps its proportions. */
  readonly aspect: number
  readonly warnings: readonly string[]
}

// Body coordinate F (1 at the hips, about 1.85 at the knees) down to which the hem of something nobody calls a dress must reach to be one.
const DRESS_HEM = 1.5

/**
 * Places a garment as `placeGarment` does. What only its outline makes a dress, and what would hardly cover the thighs, is placed as a
 * top: a dress takes away what is worn on the legs.
 */
export function placeUpper(
  look: { readonly person: Person; readonly body: BodyFrame; readonly parts: Parts },
  garment: UpperGarment,
): { placement: Placement; garment: UpperGarment } {
  const placement = placeGarment({ ...look, garment })
  if (garment.kind !== 'dress' || garment.kindFrom !== 'outline' || placement.hem >= DRESS_HEM)
    return { placement, garment }
  const top = { ...garment, kind: 'top', kindFrom: 'doubt' } as const
  return { placement: placeGarment({ ...look, garment: top }), garment: top }
}

// As a share of the body's unit, between armpits and the photo's lower edge: bare arms are drawn whole or not at all.
const MIN_BELOW_ARMPITS = 0.5

/**
 * Places a top or dress on a person: a torso piece held by about 60 matching points, and one grid a sleeve.
 *
 * Throws `DrapeError` RESULT_REJECTED when the garment would have to be squeezed beyond recognition, and when the photo ends
 * where bare arms would begin.
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
  const worn = measureWorn({ person, body, parts })
  const input = { mask: person.mask, body, garment, worn }
  const fit = fitGarment(input)
  const aspect = fit.down / (fit.across * body.foreshortening)
  if (!(aspect > 0.7 && aspect < 1.4))
    throw new DrapeError('RESULT_REJECTED', 'The garment does not fit the proportions of the person in the photo')
  const torso = placeTorso(input, fit)
  const lowest = Math.max(torso.armpits[0].y, torso.armpits[1].y)
  if (!garment.sleeved && person.mask.height - lowest < MIN_BELOW_ARMPITS * body.unit)
    throw new DrapeError(
      'RESULT_REJECTED',
      'The photo ends at the chest; a garment without sleeves needs one that shows more of the arms',
    )
  const arms = bothSides((side) => measureArm(person.mask, body, side))
  const sleeves = bothSides((side) =>
    placeSleeve({ body, garment, fit, profile: arms[side], side, armpit: torso.armpits[side] }),
  ).filter((sleeve) => sleeve !== null)
  return {
    ...torso,
    openFront: placeOpenFront(garment, torso),
    tips: fit.tips,
    sleeves: garment.sleeved ? sleeves : [],
    arms,
    hem: fit.hem,
    oldHem: worn.hem,
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
    ['PERSON_TURNED', body.shoulderWidth < 0.5 * body.trunk],
    ['SLEEVE_FOLDED', garment.foldedSleeve],
    ['GARMENT_STRETCHED', aspect < 0.85 || aspect > 1.18],
    ['GARMENT_ASYMMETRIC', garment.symmetry < 0.88],
    ['CATEGORY_ASSUMED', garment.kindFrom === 'doubt'],
    ['HEM_OUTSIDE_PICTURE', garment.kind === 'dress' && bottom > person.mask.height],
  ]
  return found.filter(([, holds]) => holds).map(([code]) => code)
}
