import { type BodyFrame, unusable } from '../../../../vision/body/body-frame.ts'
import type { BodyModel } from '../../../../vision/body/body-model.ts'
import { forearmMask } from '../../../../vision/body/forearms.ts'
import { axisAt, bothSides } from '../../../../vision/body/keypoints.ts'
import { measureLegFields } from '../../../../vision/body/leg-field.ts'
import { type LegProfile, measureLeg } from '../../../../vision/body/leg-profile.ts'
import type { Parts } from '../../../../vision/body/parts.ts'
import { notStanding } from '../../../../vision/body/seated.ts'
import type { LowerGarment } from '../../../../vision/garment/garment.ts'
import type { Person } from '../../../../vision/person/person.ts'
import { between } from '../../../../vision/raster/vector.ts'
import { MIN_SEEN, MIN_SYMMETRY, TURNED, UPRIGHT } from '../tuning.ts'
import type { LowerFitting, LowerInput, LowerPlacement } from './fitting.ts'
import { placeSkirt } from './skirt.ts'
import { placeTrousers } from './trousers.ts'
import { findWornWaist } from './waist.ts'
import { findWornLower } from './worn-mask.ts'
import { measureReach } from './worn-reach.ts'

/** Places trousers or a skirt and measures the worn clothes on hips and legs. Throws as `placeLower` does. */
export function fitLower({ view, person, body, parts }: BodyModel, garment: LowerGarment): LowerFitting {
  const placement = placeLower({ person, body, parts, garment })
  const { legs, covered, landmarks, warnings } = placement
  const placed = { person, body, parts, legs, covered, fields: measureLegFields(parts.lower, legs, body) }
  return { ...placed, kind: 'lower', view, garment, placement, worn: findWornLower(placed), landmarks, warnings }
}

/**
 * Places trousers or a skirt by hips, knees and ankles.
 *
 * Throws `DrapeError` RESULT_REJECTED if the photo ends above the thighs or the person is not upright.
 */
function placeLower({
  person,
  body,
  parts,
  garment,
}: {
  person: Person
  body: BodyFrame
  parts: Parts
  garment: LowerGarment
}): LowerPlacement {
  if (axisAt(body, MIN_SEEN).y > person.mask.height)
    throw unusable('The photo ends above the legs; hips and thighs are needed for this garment')
  const loose = hasBareKnees(body, parts)
  const legs = bothSides((side) => measureLeg(person, body, { side, loose }))
  for (const leg of legs) requireUpright(leg, body)
  const fields = measureLegFields(parts.lower, legs, body)
  // Trousers as wide as a skirt's hem would bulge above the knee: the wider parts of the skirt become background instead.
  const reach = loose ? NO_REACH : measureReach(parts.lower, { legs, fields, arms: forearmMask(parts.lower, body) })
  const input: LowerInput = { body, legs, reach, worn: findWornWaist(parts) }
  const placed = garment.kind === 'skirt' ? placeSkirt(garment, input) : placeTrousers(garment, input)
  const lowest = Math.max(...placed.pieces.flatMap(({ target }) => target.flat().map(({ y }) => y)))
  const found: [string, boolean][] = [
    ['PERSON_TURNED', body.shoulderWidth < TURNED * body.trunk],
    ['GARMENT_ASYMMETRIC', garment.symmetry < MIN_SYMMETRY],
    ['HEM_OUTSIDE_PICTURE', lowest > person.mask.height],
  ]
  const warnings = found.filter(([, holds]) => holds).map(([code]) => code)
  return { ...placed, legs, worn: input.worn, warnings }
}

const NO_REACH: LowerInput['reach'] = [() => 0, () => 0]

// Below a skirt or shorts the shins are bare.
function hasBareKnees({ joints }: BodyFrame, { skin }: Parts): boolean {
  const shins = bothSides((side) => between(joints.knee[side], joints.ankle[side], 0.35))
  return shins.some(({ x, y }) => {
    const [column, row] = [Math.round(x), Math.round(y)]
    return (
      column >= 0 && row >= 0 && column < skin.width && row < skin.height && skin.data[row * skin.width + column] === 1
    )
  })
}

// The thighs of a seated person point at the camera and look far shorter than the trunk.
function requireUpright({ thigh, points, along }: LegProfile, { trunk, down }: BodyFrame): void {
  const knee = points[along.findLastIndex((way) => way <= thigh)]
  const drop = (knee.x - points[0].x) * down.x + (knee.y - points[0].y) * down.y
  if (thigh > UPRIGHT.thigh * trunk && drop > UPRIGHT.drop * thigh) return
  throw notStanding()
}
